import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { type Refinement, requestObject } from './fields.ts'

/** The most items of a bulk write. */
export const maxBulkItems = 1000

/** Body of a bulk write: 1 to 1,000 items in `data` (decisions §8). */
export const bulkOf = <T extends TSchema>(item: T, refine?: Refinement<{ data: Static<T>[] }>) =>
  requestObject(
    {
      data: Type.Array(item, {
        minItems: 1,
        maxItems: maxBulkItems,
        description: 'Items, written all or nothing; later ones win',
      }),
    },
    refine,
  )
