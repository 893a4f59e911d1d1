import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { door } from '../http/door.ts'
import { Envelope, ok, PageEnvelope } from '../http/envelope.ts'
import { pageQuery, toPageRequest } from '../http/pagination.ts'
import { answerObject, parsePathId, requestObject } from '../schema/types.ts'
import { BookingDetail, FeedPage, FeedPagination, feedFilters } from './schema.ts'
import { readBookingDetail, toFeedItem } from './store.ts'
import { readFeedPage } from './walk.ts'

const defaultPerPage = 50

/** The booking feed and the booking detail (contract, Endpoints; decisions §9). */
export function feedRoutes(deps: Deps) {
  return new Elysia({ prefix: '/integrations/:provider/bookings', tags: ['Booking feed'] })
    .use(door(deps))
    .get(
      '',
      async (context) => {
        const page = toPageRequest(context.query, defaultPerPage)
        const { bookings, pagination } = await readFeedPage(deps, context.caller, context.query, page)
        return ok(context, { Bookings: bookings.map(toFeedItem) }, { pagination })
      },
      {
        access: { permission: 'bookings.read', provider: true },
        query: requestObject({ ...pageQuery(defaultPerPage, 100), ...feedFilters }),
        response: { 200: PageEnvelope(FeedPage, FeedPagination) },
        detail: { summary: 'Poll new and changed bookings' },
      },
    )
    .get(
      '/:id',
      async (context) => {
        const id = parsePathId(context.params.id)
        return ok(context, { Booking: await readBookingDetail(deps, context.caller.hostId, id) })
      },
      {
        access: { permission: 'bookings.read', provider: true },
        response: { 200: Envelope(answerObject({ Booking: BookingDetail })) },
        detail: { summary: 'Read one booking in full' },
      },
    )
}
