import { type Static, Type } from '@sinclair/typebox'
import { daysBetween } from '../../core/clock.ts'
import type { Problem } from '../../core/errors.ts'
import {
  date,
  idInQuery,
  named,
  requestObject,
  requiredIdInQuery,
  responseObject,
  shown,
} from '../../http/schema/fields.ts'

/** Query of `GET …/availability/nights` (decisions §20). */
export const NightsQuery = requestObject(
  {
    listing_id: requiredIdInQuery('The listing', '2001'),
    room_type_id: idInQuery('Only this room type of the listing', '3001'),
    start_date: date({ whenBlank: 'required', description: 'First night', example: '2027-01-01' }),
    end_date: date({
      whenBlank: 'required',
      description: 'Last night, included; at most 366 nights, and 20,000 over all room types',
      example: '2027-01-31',
    }),
  },
  ({ start_date, end_date }, isValidAt) =>
    isValidAt('start_date') && isValidAt('end_date') ? nightsProblems(start_date, end_date) : [],
)
export type NightsQuery = Static<typeof NightsQuery>

const Night = named(
  'Night',
  responseObject({
    date: shown.date('The night, by its first day'),
    available: shown.integerOrNull(
      'Units of the range that covers the night; null where no range does, which leaves it open',
      'count',
    ),
    booked: shown.integer(
      'Active stays that are subtracted: those made since the range was written, or all without one',
      'count',
    ),
    left: shown.integerOrNull(
      'What is left: a booking is refused at 0; null where no range covers the night',
    ),
  }),
)

/** Nights by listing id, then by room type id. */
export const NightsByRoomType = responseObject(
  {
    nights: Type.Record(
      Type.String(),
      Type.Record(Type.String(), Type.Array(Night), { description: 'Nights by room type id' }),
      { description: 'By listing id, then by room type id: the nights, in order' },
    ),
  },
  'Units left',
)

/** Maximum number of nights in one request's date range (decisions §20). */
const maxNights = 366

/** Returns the problems with a query's first and last night: at most one, at `end_date`. */
export function nightsProblems(start: string, end: string): Problem[] {
  const path = 'end_date'
  if (end < start) return [{ path, code: 'invalid', message: '"end_date" must not be before "start_date"' }]
  if (daysBetween(start, end) < maxNights) return []
  return [{ path, code: 'max', message: `"end_date" must be at most ${maxNights} nights from "start_date"` }]
}
