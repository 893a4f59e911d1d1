import { type Static, Type } from '@sinclair/typebox'
import { bulkOf } from '../availability/schema.ts'
import { monthlyPrices } from '../listings/shape.ts'
import { idInBody, money, optional, text } from '../schema/types.ts'

/** Body of `POST …/rates` (contract, Endpoints; decisions §8). */
export const RatesWrite = bulkOf(
  Type.Object({
    listing_id: idInBody(),
    room_type_id: idInBody(),
    base_price: money({ belowMinimum: 'invalid' }),
    currency: optional(text(64, { format: 'currency' })),
    ...monthlyPrices(() => optional(money())),
  }),
)
export type RateItem = Static<typeof RatesWrite>['data'][number]
