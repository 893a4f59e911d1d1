import { Elysia } from 'elysia'
import type { AppContext } from '../../http/context.ts'
import { Envelope, ok } from '../../http/envelope.ts'
import { guard } from '../../http/guard.ts'
import { pageQuery } from '../../http/pagination.ts'
import { requestObject } from '../../http/schema/fields.ts'
import { prepareDetails } from '../../stays/bookings/serialize.ts'
import { serializeMessageItem } from '../../stays/messages/serialize.ts'
import { bookingFeed, bookingFeedInFull, messageFeed } from '../sources/source.ts'
import { toFeedQuery } from './bookings.ts'
import { toMessageFeedQuery } from './messages.ts'
import { positionProblems, withWalk } from './position.ts'
import { FeedPage, FeedPagination, feedFilters, MessageFeedPage, messageFilters } from './schema.ts'
import { serializeFeedItem } from './serialize.ts'
import { defaultPerPage, readOrAwaitPage } from './wait.ts'

const paging = pageQuery(defaultPerPage, 100)

/** Routes of the booking feed (contract, Endpoints; decisions §9) and the message feed (decisions §17). */
export function feedRoutes(app: AppContext) {
  return new Elysia({ prefix: '/integrations/:provider' })
    .use(guard(app))
    .get(
      '/bookings',
      async (context) => {
        const ask = () => toFeedQuery(app.db, context.caller, withWalk('bookings', context.query))
        if (context.query.include === undefined) {
          const { rows, pagination } = await readOrAwaitPage(app, bookingFeed, context, ask)
          return ok(context, { Bookings: rows.map(serializeFeedItem) }, { pagination })
        }
        const { rows, pagination } = await readOrAwaitPage(app, bookingFeedInFull, context, ask)
        const detailOf = await prepareDetails(app.db, context.caller.ownerId, rows)
        const Bookings = rows.map((booking) => ({
          ...serializeFeedItem(booking),
          Booking: detailOf(booking),
        }))
        return ok(context, { Bookings }, { pagination })
      },
      {
        access: {
          permission: 'bookings.read',
          provider: true,
          conditional: true,
          feed: true,
          errors: ['not_found'],
        },
        query: requestObject({ ...paging, ...feedFilters }, positionProblems('bookings')),
        response: { 200: Envelope(FeedPage, { pagination: FeedPagination }) },
        detail: {
          tags: ['Booking feed'],
          operationId: 'pollBookings',
          summary: 'Poll for new and changed bookings',
        },
      },
    )
    .get(
      '/messages',
      async (context) => {
        const ask = () => toMessageFeedQuery(app.db, context.caller, withWalk('messages', context.query))
        const { rows, pagination } = await readOrAwaitPage(app, messageFeed, context, ask)
        return ok(context, { messages: rows.map(serializeMessageItem) }, { pagination })
      },
      {
        access: {
          permission: 'bookings.read',
          provider: true,
          conditional: true,
          feed: true,
          errors: ['not_found'],
        },
        query: requestObject({ ...paging, ...messageFilters }, positionProblems('messages')),
        response: { 200: Envelope(MessageFeedPage, { pagination: FeedPagination }) },
        detail: { tags: ['Messages'], operationId: 'pollMessages', summary: 'Poll for new messages' },
      },
    )
}
