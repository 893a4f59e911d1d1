import { type Static, Type } from '@sinclair/typebox'
import { Confirmation, Envelope, ProblemShown } from '../../../http/answer/envelope.ts'
import {
  bulkOf,
  idInBody,
  money,
  optional,
  output,
  responseObject,
  text,
  withDescription,
  withTitle,
} from '../../../http/input/schema/fields.ts'
import { monthlyPrices } from '../fields.ts'

const RateItem = withTitle(
  'RateItem',
  Type.Object({
    listing_id: idInBody('Id of the listing'),
    room_type_id: idInBody('Id of a room type of that listing'),
    base_price: withDescription(
      'Price for months that have no price of their own, in major units',
      money({ belowMinimum: 'invalid' }),
    ),
    currency: optional(
      text(64, { format: 'currency' }),
      "ISO currency code, which must be the listing's currency, or the service's default if the listing has none; null or absent means that currency",
    ),
    ...monthlyPrices((month) =>
      optional(
        money(),
        `Price for ${month}, in major units; null clears the price, and an absent field keeps it`,
      ),
    ),
  }),
)
export type RateItem = Static<typeof RateItem>

/** Response to a rates write, with the id of the job that applies the rates. */
export const RatesAccepted = Envelope(Confirmation, {
  job_id: output.integer('Id of the job that applies the rates', 'id'),
})

/** A rates-write job (decisions §20). */
export const RateJobView = withTitle(
  'RateJob',
  responseObject({
    id: output.integer('Id of the job, returned as `meta.job_id` by the write', 'id'),
    status: output.literal(
      'Status of the job: the rates are waiting, have been applied and are visible to everyone, or failed as a whole',
      'waiting',
      'applied',
      'failed',
    ),
    errors: output.list('Problems that made the job fail, by item; empty if it has not failed', ProblemShown),
    accepted_at: output.timestamp('Time at which the write was accepted'),
    applied_at: output.timestampOrNull(
      'Time at which the rates were applied; null if they have not been applied',
    ),
    items: output.integer('Number of items in the write', 'count'),
  }),
)
export type RateJobView = Static<typeof RateJobView>

/** Body of `POST …/rates` (contract, Endpoints; decisions §8). */
export const RatesWrite = withTitle('RatesWrite', bulkOf(RateItem))
