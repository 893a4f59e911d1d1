import { type Static, Type } from '@sinclair/typebox'
import { daysBetween } from '../../core/clock.ts'
import type { Problem } from '../../core/errors.ts'
import {
  date,
  idInQuery,
  output,
  requestObject,
  requiredIdInQuery,
  responseObject,
  withTitle,
} from '../../http/input/schema/fields.ts'

/** Query parameters of `GET …/availability/nights` (decisions §20). */
export const NightsQuery = requestObject(
  {
    listing_id: requiredIdInQuery('Id of the listing', '2001'),
    room_type_id: idInQuery('Id of a room type of the listing; all of its room types if absent', '3001'),
    start_date: date({ whenBlank: 'required', description: 'First night', example: '2027-01-01' }),
    end_date: date({
      whenBlank: 'required',
      description: 'Last night, inclusive; at most 366 nights, and at most 20,000 summed over all room types',
      example: '2027-01-31',
    }),
  },
  ({ start_date, end_date }, isValidAt) =>
    isValidAt('start_date') && isValidAt('end_date') ? nightsProblems(start_date, end_date) : [],
)
export type NightsQuery = Static<typeof NightsQuery>

const Night = withTitle(
  'Night',
  responseObject({
    date: output.date('Date on which the night begins'),
    available: output.integerOrNull(
      'Number of units in the range that covers the night; null if no range covers it, in which case the night is open',
      'count',
    ),
    booked: output.integer(
      'Number of active stays made since the range was written, or of all active stays if no range covers the night',
      'count',
    ),
    blocked: output.integer(
      'Number of rooms that their calendars block and that `available` does not take into account',
      'count',
    ),
    left: output.integerOrNull(
      '`available` less `booked` and `blocked`, at least 0; a booking is refused at 0; null if the night is open',
      'count',
    ),
  }),
)

/** Nights keyed by listing id, then by room type id. */
export const NightsByRoomType = responseObject(
  {
    nights: Type.Record(
      Type.String(),
      Type.Record(Type.String(), Type.Array(Night), { description: 'Nights keyed by room type id' }),
      { description: 'Nights in order, keyed by listing id, then by room type id' },
    ),
  },
  'Units left',
)

/** Maximum number of nights in one request's date range (decisions §20). */
const maxNights = 366

/** Checks a query's first and last night. Returns at most one problem, at `end_date`. */
export function nightsProblems(start: string, end: string): Problem[] {
  const path = 'end_date'
  if (end < start) return [{ path, code: 'invalid', message: '"end_date" must not be before "start_date"' }]
  if (daysBetween(start, end) < maxNights) return []
  return [{ path, code: 'max', message: `"end_date" must be at most ${maxNights} nights from "start_date"` }]
}
