import { Elysia } from 'elysia'
import type { AppContext } from '../context.ts'
import { ok, PageEnvelope } from '../http/envelope.ts'
import { guard } from '../http/guard.ts'
import { pageQuery, toPageRequest } from '../http/pagination.ts'
import { requestObject } from '../schema/fields.ts'
import { readFeedPage } from './page.ts'
import { FeedPage, FeedPagination, feedFilters } from './schema.ts'
import { serializeFeedItem } from './serialize.ts'

const defaultPerPage = 50

/** The booking feed (contract, Endpoints; decisions §9). */
export function feedRoutes(app: AppContext) {
  return new Elysia({ prefix: '/integrations/:provider/bookings', tags: ['Booking feed'] })
    .use(guard(app))
    .get(
      '',
      async (context) => {
        const page = toPageRequest(context.query, defaultPerPage)
        const { bookings, pagination } = await readFeedPage(app, context.caller, context.query, page)
        return ok(context, { Bookings: bookings.map(serializeFeedItem) }, { pagination })
      },
      {
        access: { permission: 'bookings.read', provider: true, errors: ['not_found'] },
        query: requestObject({ ...pageQuery(defaultPerPage, 100), ...feedFilters }),
        response: { 200: PageEnvelope(FeedPage, FeedPagination) },
        detail: { operationId: 'pollBookings', summary: 'Poll new and changed bookings' },
      },
    )
}
