import { type Static, Type } from '@sinclair/typebox'
import type { Problem } from '../../core/errors.ts'
import { Pagination, pageQuery } from '../../http/input/pagination.ts'
import {
  bulkOf,
  count,
  dateInQuery,
  idInBody,
  idInQuery,
  optional,
  output,
  requestObject,
  requiredDate,
  responseObject,
  text,
  withDescription,
  withTitle,
} from '../../http/input/schema/fields.ts'

const AvailabilityItem = withTitle(
  'AvailabilityItem',
  Type.Object({
    listing_id: idInBody('Id of the listing'),
    room_type_id: idInBody('Id of a room type of that listing'),
    available: withDescription('Number of units left on each day of the range; 0 closes the range', count()),
    start_date: requiredDate('First day of the range'),
    end_date: requiredDate('Last day of the range, inclusive'),
    as_of: optional(
      text(255, { format: 'version', whenBlank: 'invalid', example: '2026-11-20 12:00:05' }),
      '`version` of the booking feed up to which the count is informed: where the feed ended when it was read to its end. Bookings made later count against the range, however late this request arrives. If absent or null, those made after this write count',
    ),
  }),
)
export type AvailabilityItem = Static<typeof AvailabilityItem>

/** Body of `POST …/availability`. */
export const AvailabilityWrite = withTitle(
  'AvailabilityWrite',
  bulkOf(AvailabilityItem, ({ data }, isValidAt) =>
    isValidAt('data') ? data.flatMap((item, index) => orderProblems(item, `data.${index}`, isValidAt)) : [],
  ),
)

/** The `meta` fields of a write's response. */
export const availabilityMeta = {
  newest_version: output.textOrNull(
    "Version of the host's newest booking when the write was applied; null without bookings. If it is later than the feed that the counts were computed from, a booking has come in between",
    'version',
  ),
}

function orderProblems(item: AvailabilityItem, at: string, isValidAt: (path: string) => boolean): Problem[] {
  const path = `${at}.end_date`
  if (!isValidAt(path) || !isValidAt(`${at}.start_date`) || item.start_date <= item.end_date) return []
  return [{ path, code: 'invalid', message: `"${path}" must not be before "start_date"` }]
}

export const defaultPerPage = 100

/** Query parameters of `GET …/availability`. */
export const AvailabilityQuery = requestObject(
  {
    ...pageQuery(defaultPerPage, 500),
    listing_id: idInQuery('Only this listing', '2001'),
    room_type_id: idInQuery('Only this room type', '3001'),
    start_date: dateInQuery(
      'First day of the window; only ranges that end on or after it are returned',
      '2027-01-01',
    ),
    end_date: dateInQuery(
      'Last day of the window; only ranges that start on or before it are returned',
      '2027-12-31',
    ),
  },
  ({ start_date, end_date }, isValidAt) =>
    start_date && end_date && start_date > end_date && isValidAt('start_date') && isValidAt('end_date')
      ? [{ path: 'end_date', code: 'invalid', message: '"end_date" must not be before "start_date"' }]
      : [],
)

export const AvailabilityRow = withTitle(
  'AvailabilityRow',
  responseObject({
    id: output.integer('Id of the range', 'id'),
    listing_id: output.integer('Id of the listing', 'id'),
    room_type_id: output.integer('Id of the room type', 'id'),
    available: output.integer(
      'Number of units left on each day of the range at the time it was written, or at `as_of`',
      'count',
    ),
    start_date: output.date('First day of the range'),
    end_date: output.date('Last day of the range, inclusive'),
    as_of: output.textOrNull(
      '`version` of the booking feed up to which `available` is informed, as it was written; null if none was sent',
      'version',
    ),
    updated_at: output.timestamp('Time at which the range was written'),
  }),
)
export type AvailabilityRowResponse = Static<typeof AvailabilityRow>

/** Rows keyed by listing id, then by room type id. The contract prescribes the key `availabilities`. */
export const Availabilities = responseObject(
  {
    availabilities: Type.Record(
      Type.String(),
      Type.Record(Type.String(), Type.Array(AvailabilityRow), {
        description: 'Ranges keyed by room type id',
      }),
      { description: 'Ranges ordered by first day, keyed by listing id, then by room type id' },
    ),
  },
  'Availability',
)

/** This endpoint's pagination has only these four fields. */
const { current_page, per_page, total, last_page } = Pagination.properties
export const AvailabilityPagination = withTitle(
  'AvailabilityPagination',
  responseObject({ current_page, per_page, total, last_page }),
)
