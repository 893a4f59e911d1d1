import { type Static, Type } from '@sinclair/typebox'
import { Pagination } from '../http/pagination.ts'
import { dateInQuery, idInQuery, nullable, responseObject, text } from '../schema/fields.ts'

/** Query of the booking feed, beside the page (contract, Booking feed). */
export const feedFilters = {
  checkout_after: dateInQuery(),
  updated_after: Type.Optional(text(255, { format: 'feed-time', whenBlank: 'invalid' })),
  listing_id: idInQuery(),
  cursor: Type.Optional(text(64, { description: 'The `next_cursor` of the page before' })),
}

/** One item of the feed. */
export const FeedItem = responseObject({
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
export const FeedPage = responseObject({ Bookings: Type.Array(FeedItem) })

/** Page metadata of the feed: with the cursor of the next page. */
export const FeedPagination = responseObject({
  ...Pagination.properties,
  next_cursor: nullable(Type.String()),
})
