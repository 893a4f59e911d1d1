import { type Static, Type } from '@sinclair/typebox'
import { monthlyPrices } from '../listings/fields.ts'
import { bulkOf } from '../schema/bulk.ts'
import { described, idInBody, money, named, optional, text } from '../schema/fields.ts'

const RateItem = named(
  'RateItem',
  Type.Object({
    listing_id: idInBody('Id of the listing'),
    room_type_id: idInBody('Id of a room type of that listing'),
    base_price: described(
      'Price of a month without a price of its own, in major units',
      money({ belowMinimum: 'invalid' }),
    ),
    currency: optional(
      text(64, { format: 'currency' }),
      "ISO currency code, which must equal the listing's currency; null or absent means the listing's currency",
    ),
    ...monthlyPrices((month) =>
      optional(money(), `Price of ${month} in major units; null clears it, absent keeps it`),
    ),
  }),
)
export type RateItem = Static<typeof RateItem>

/** Body of `POST …/rates` (contract, Endpoints; decisions §8). */
export const RatesWrite = named('RatesWrite', bulkOf(RateItem))
