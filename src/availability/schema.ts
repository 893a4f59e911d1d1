import { type Static, Type } from '@sinclair/typebox'
import {
  answerObject,
  count,
  date,
  dateInQuery,
  idInBody,
  idInQuery,
  notBlank,
  requestObject,
} from '../http/types.ts'

const longestBulk = 1000

/** The `data` list of a bulk write (decisions §8). */
export const bulkOf = <T extends Parameters<typeof Type.Array>[0]>(item: T) =>
  requestObject({ data: Type.Array(item, { minItems: 1, maxItems: longestBulk }) })

/** Body of `POST …/availability`. */
export const AvailabilityWrite = bulkOf(
  Type.Object({
    listing_id: idInBody(),
    room_type_id: idInBody(),
    available: count(),
    start_date: date({ pattern: notBlank }),
    end_date: date({ pattern: notBlank }),
  }),
)
export type AvailabilityItem = Static<typeof AvailabilityWrite>['data'][number]

/** Query of `GET …/availability`, beside the page. */
export const availabilityFilters = {
  listing_id: idInQuery(),
  room_type_id: idInQuery(),
  start_date: dateInQuery(),
  end_date: dateInQuery(),
}

const Row = answerObject({
  id: Type.Integer(),
  listing_id: Type.Integer(),
  room_type_id: Type.Integer(),
  available: Type.Integer(),
  start_date: Type.String(),
  end_date: Type.String(),
  updated_at: Type.String(),
})
export type AvailabilityRowOnWire = Static<typeof Row>

/** Rows by listing id, then by room type id; the key is fixed by the contract. */
export const Availabilities = answerObject({
  availabilities: Type.Record(Type.String(), Type.Record(Type.String(), Type.Array(Row))),
})

/** The four pagination fields of this endpoint. */
export const AvailabilityPagination = answerObject({
  current_page: Type.Integer(),
  per_page: Type.Integer(),
  total: Type.Integer(),
  last_page: Type.Integer(),
})

/** Answer of a bulk write. */
export const Accepted = answerObject({ message: Type.String() })
