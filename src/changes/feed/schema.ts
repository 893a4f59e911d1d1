import { type Static, type TObject, Type } from '@sinclair/typebox'
import { Pagination, pageQuery } from '../../http/input/pagination.ts'
import { output, requestObject, responseObject, text, withTitle } from '../../http/input/schema/fields.ts'
import { BookingDetail, bookingFields } from '../../stays/bookings/schema.ts'
import { MessageItem } from '../../stays/messages/schema.ts'
import { bookingFeed, bookingParameters, type FeedName, messageFeed, messageParameters } from '../feeds.ts'
import { writeCursor } from './cursor.ts'
import { defaultPerPage, positionProblems } from './position.ts'

/** Query parameters for the position in a feed. */
const positionIn = (feed: FeedName) => ({
  updated_after: Type.Optional(
    text(255, {
      format: 'feed-time',
      whenBlank: 'invalid',
      description:
        'Last `version` you have handled, as `YYYY-MM-DD HH:MM:SS`; only later changes are returned. A date alone means the first second of that day',
      example: '2026-01-31 12:00:05',
    }),
  ),
  consumer: Type.Optional(
    text(64, {
      whenBlank: 'invalid',
      description:
        'Name of a consumer; only changes after its acknowledged version are returned. Cannot be combined with `updated_after`',
      example: 'booking-sync',
    }),
  ),
  cursor: Type.Optional(
    text(512, {
      description:
        '`next_cursor` of the previous page; a cursor costs the same at any depth. It keeps `per_page`, `updated_after` and the filters, which may be omitted but must not differ from those of the cursor. Cannot be combined with `page`',
      example: writeCursor(feed, { version: new Date(0), page: 1 }, { per_page: 50 }),
    }),
  ),
})

/** Query parameter for holding the request until the page has an item (decisions §16). */
const waiting = {
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 30,
      description:
        'Maximum number of seconds to wait for the first item if the page would be empty (default 0); has no effect with `page` above 1',
      example: 30,
    }),
  ),
}

const paging = pageQuery(defaultPerPage, 100)

/** Query of the booking feed (contract, Booking feed). */
export const BookingFeedQuery = requestObject(
  {
    ...paging,
    ...positionIn('bookings'),
    ...waiting,
    ...bookingParameters,
    include: Type.Optional(
      Type.Literal('detail', {
        description: '`detail` adds the whole booking to each item, as the detail route returns it',
        example: 'detail',
      }),
    ),
  },
  positionProblems(bookingFeed),
)

/** Query of the message feed (decisions §17). */
export const MessageFeedQuery = requestObject(
  { ...paging, ...positionIn('messages'), ...waiting, ...messageParameters },
  positionProblems(messageFeed),
)

const { booking_id, listing_id, room_type_id, checkin_at, checkout_at, status_word, version } = bookingFields

/** One item of the booking feed. */
export const FeedItem = withTitle(
  'BookingChange',
  responseObject({
    booking_id,
    listing_id,
    room_type_id,
    status: status_word,
    checkin_at,
    checkout_at,
    version,
    Booking: Type.Optional(BookingDetail),
  }),
)
export type FeedItem = Static<typeof FeedItem>

/** `data` of a booking feed response; the contract specifies the capitalized key `Bookings`. */
export const FeedPage = responseObject(
  {
    Bookings: output.list('New and changed bookings, sorted by version', FeedItem),
  },
  'Changes on this page',
)

/** `data` of a message feed response. */
export const MessageFeedPage = responseObject(
  { messages: output.list('New messages from all conversations, sorted by version', MessageItem) },
  'Messages on this page',
)

/** Pagination of a feed, with the next page's cursor. */
export const FeedPagination = withTitle(
  'FeedPagination',
  responseObject({
    ...Pagination.properties,
    next_cursor: output.textOrNull('Cursor of the next page; null on the last page'),
  }),
)

/** The `meta` fields of a feed's page. */
export const feedMeta = {
  pagination: FeedPagination,
  ahead: Type.Optional(
    Type.Literal(true, {
      description:
        'True if the position sent is more than five minutes ahead of both the feed and the clock, so that the page cannot show anything: it comes from another service, or from before a restore. Otherwise absent',
    }),
  ),
  newest_version: Type.Optional(
    output.textOrNull(
      'Version of the newest row in the feed, null if there is none; present only with `ahead`',
      'version',
    ),
  ),
}
export type FeedMeta = Static<TObject<typeof feedMeta>>
