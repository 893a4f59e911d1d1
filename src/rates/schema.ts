import { type Static, Type } from '@sinclair/typebox'
import { monthlyPrices } from '../listings/fields.ts'
import { bulkOf } from '../schema/bulk.ts'
import { idInBody, money, optional, text } from '../schema/fields.ts'

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
