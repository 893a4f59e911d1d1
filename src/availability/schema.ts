import { type Static, Type } from '@sinclair/typebox'
import type { Problem } from '../errors.ts'
import { bulkOf } from '../schema/bulk.ts'
import { count, dateInQuery, idInBody, idInQuery, requiredDate, responseObject } from '../schema/fields.ts'

const AvailabilityItem = Type.Object({
  listing_id: idInBody(),
  room_type_id: idInBody(),
  available: count(),
  start_date: requiredDate(),
  end_date: requiredDate(),
})
export type AvailabilityItem = Static<typeof AvailabilityItem>

/** Body of `POST …/availability`. */
export const AvailabilityWrite = bulkOf(AvailabilityItem, ({ data }, isValidAt) =>
  isValidAt('data') ? data.flatMap((item, index) => orderProblems(item, `data.${index}`, isValidAt)) : [],
)

function orderProblems(item: AvailabilityItem, at: string, isValidAt: (path: string) => boolean): Problem[] {
  const path = `${at}.end_date`
  if (!isValidAt(path) || !isValidAt(`${at}.start_date`) || item.start_date <= item.end_date) return []
  return [{ path, code: 'invalid', message: `"${path}" must not be before "start_date"` }]
}

/** Query of `GET …/availability`, apart from the page. */
export const availabilityFilters = {
  listing_id: idInQuery(),
  room_type_id: idInQuery(),
  start_date: dateInQuery(),
  end_date: dateInQuery(),
}

const Row = responseObject({
  id: Type.Integer(),
  listing_id: Type.Integer(),
  room_type_id: Type.Integer(),
  available: Type.Integer(),
  start_date: Type.String(),
  end_date: Type.String(),
  updated_at: Type.String(),
})
export type AvailabilityRowResponse = Static<typeof Row>

/** Rows by listing id, then by room type id; the key is fixed by the contract. */
export const Availabilities = responseObject({
  availabilities: Type.Record(Type.String(), Type.Record(Type.String(), Type.Array(Row))),
})

/** The four pagination fields of this endpoint. */
export const AvailabilityPagination = responseObject({
  current_page: Type.Integer(),
  per_page: Type.Integer(),
  total: Type.Integer(),
  last_page: Type.Integer(),
})
