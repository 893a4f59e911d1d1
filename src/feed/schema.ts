import { type Static, Type } from '@sinclair/typebox'
import { Pagination } from '../http/pagination.ts'
import { answerObject, dateInQuery, idInQuery, nullable, text } from '../schema/types.ts'

/** Query of the booking feed, beside the page (contract, Booking feed). */
export const feedFilters = {
  checkout_after: dateInQuery(),
  updated_after: Type.Optional(text(255, { format: 'feed-time', whenBlank: 'invalid' })),
  listing_id: idInQuery(),
  cursor: Type.Optional(text(64, { description: 'The `next_cursor` of the page before' })),
}

/** One item of the feed. */
export const FeedItem = answerObject({
  booking_id: Type.Integer(),
  listing_id: Type.Integer(),
  room_type_id: Type.Integer(),
  status: Type.String(),
  checkin_at: Type.String(),
  checkout_at: Type.String(),
  version: Type.String(),
})
export type FeedItem = Static<typeof FeedItem>

/** `data` of the booking feed; the key is fixed by the contract. */
export const FeedPage = answerObject({ Bookings: Type.Array(FeedItem) })

/** Page metadata of the feed: with the cursor of the next page. */
export const FeedPagination = answerObject({
  ...Pagination.properties,
  next_cursor: nullable(Type.String()),
})

const stringOrNull = nullable(Type.String())

/** A booking in full (contract, Booking detail). */
export const BookingDetail = answerObject({
  booking_id: Type.Integer(),
  booking_reference: Type.String(),
  listing_id: Type.Integer(),
  room_type_id: Type.Integer(),
  room_type_name: stringOrNull,
  room_id: nullable(Type.Integer()),
  status: Type.String(),
  checkin_at: Type.String(),
  checkout_at: Type.String(),
  nights: Type.Integer(),
  guests: answerObject({ total: Type.Integer(), rooms: Type.Integer() }),
  guest: answerObject({
    name: stringOrNull,
    email: stringOrNull,
    phone: stringOrNull,
    country: stringOrNull,
  }),
  pricing: answerObject({
    currency: Type.String(),
    total: Type.Number(),
    total_local: nullable(Type.Number()),
    security_deposit: Type.Number(),
  }),
  notes: stringOrNull,
  meta: answerObject({ version: Type.String(), created_at: Type.String(), updated_at: Type.String() }),
})
export type BookingDetail = Static<typeof BookingDetail>
