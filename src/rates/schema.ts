import { type Static, Type } from '@sinclair/typebox'
import { bulkOf } from '../availability/schema.ts'
import { idInBody, money, optional, text } from '../http/types.ts'
import { monthlyPrices } from '../listings/shape.ts'

/** Body of `POST …/rates` (contract, Endpoints; decisions §8). */
export const RatesWrite = bulkOf(
  Type.Object({
    listing_id: idInBody(),
    room_type_id: idInBody(),
    base_price: money({ errorCode: 'invalid' }),
    currency: optional(text(64, { format: 'currency' })),
    ...monthlyPrices(() => optional(money())),
  }),
)
export type RateItem = Static<typeof RatesWrite>['data'][number]
