import { type Static, Type } from '@sinclair/typebox'
import { Confirmation, Envelope, ProblemShown } from '../../../http/envelope.ts'
import {
  bulkOf,
  described,
  idInBody,
  money,
  named,
  optional,
  responseObject,
  shown,
  text,
} from '../../../http/schema/fields.ts'
import { monthlyPrices } from '../fields.ts'

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

/** Response to a rates write, with the id of the job that applies the rates. */
export const RatesAccepted = Envelope(Confirmation, {
  job_id: shown.integer('Id of the job that applies the rates', 'id'),
})

/** The job of a rates write (decisions §20). */
export const RateJobView = named(
  'RateJob',
  responseObject({
    id: shown.integer('Id of the job: the `meta.job_id` of the write', 'id'),
    status: shown.word(
      'Whether the rates are still waiting, are applied and visible to everybody, or have failed as a whole',
      'waiting',
      'applied',
      'failed',
    ),
    errors: shown.list('Why it failed, by item; empty otherwise', ProblemShown),
    accepted_at: shown.timestamp('When the write was accepted'),
    applied_at: shown.timestampOrNull('When it was applied; null if it is not'),
    items: shown.integer('How many items the write had', 'count'),
  }),
)
export type RateJobView = Static<typeof RateJobView>

/** Body of `POST …/rates` (contract, Endpoints; decisions §8). */
export const RatesWrite = named('RatesWrite', bulkOf(RateItem))
