import { type Static, Type } from '@sinclair/typebox'
import type { Problem } from '../../core/errors.ts'
import {
  dateInQuery,
  idInQuery,
  output,
  requestObject,
  responseObject,
  text,
  withTitle,
} from '../../http/input/schema/fields.ts'
import { bookingFields } from '../../stays/bookings/schema.ts'

/** Query parameters that select a digest's bookings and the granularity of its parts (decisions §23). */
export const DigestQuery = requestObject(
  {
    listing_id: idInQuery('Only bookings of this listing', '2001'),
    month: Type.Optional(
      text(255, {
        format: 'month',
        whenBlank: 'invalid',
        description: 'Only stays that begin in this month; `parts` then has one entry per day',
        example: '2026-12',
      }),
    ),
    day: dateInQuery('Only stays that begin on this day; `bookings` then lists each of them', '2026-12-24'),
    after: idInQuery(
      'Only bookings with a greater id: the `next_after` of the previous page; for use with `day`',
      '5002',
    ),
  },
  ({ month, day, after }, isValidAt): Problem[] => [
    ...(month !== undefined && day !== undefined && isValidAt('day')
      ? [{ path: 'day', code: 'invalid', message: '"day" and "month" cannot be used together' } as const]
      : []),
    ...(after !== undefined && day === undefined && isValidAt('after')
      ? [{ path: 'after', code: 'invalid', message: '"after" must be sent together with "day"' } as const]
      : []),
  ],
)
export type DigestQuery = Static<typeof DigestQuery>

const { booking_id, version, status_word, checkin_at, checkout_at } = bookingFields
const summary = {
  count: output.integer('Number of bookings', 'count'),
  sha256: output.text(
    'SHA-256, in lower-case hex, of one line per booking in ascending order of id: `booking_id status checkin_at checkout_at` and a line feed',
  ),
}

/** The digest, which a partner compares with a digest of its own bookings. */
export const DigestView = withTitle(
  'BookingDigest',
  responseObject({
    version: output.textOrNull(
      'Newest version among all bookings of the host, regardless of the query; null if there are none',
      'version',
    ),
    ...summary,
    parts: Type.Optional(
      output.list(
        'Summary of each month with bookings or, with `month`, of each day with bookings; absent with `day`',
        withTitle(
          'BookingDigestPart',
          responseObject({ key: output.text('Month or day of `checkin_at`'), ...summary }),
        ),
      ),
    ),
    bookings: Type.Optional(
      output.list(
        'Bookings of the `day`, sorted by id, at most 10,000; present only with `day`',
        withTitle(
          'DigestedBooking',
          responseObject({ booking_id, version, status: status_word, checkin_at, checkout_at }),
        ),
      ),
    ),
    next_after: Type.Optional(
      output.integerOrNull(
        'Value of `after` for the next page, null on the last page; present only with `day`',
        'id',
      ),
    ),
  }),
)
export type DigestView = Static<typeof DigestView>
