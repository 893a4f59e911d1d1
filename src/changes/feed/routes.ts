import { readVersion } from '../../activity/read-version.ts'
import { toVersion } from '../../host-clock/format.ts'
import type { Access } from '../../http/access.ts'
import { Envelope, ok } from '../../http/answer/envelope.ts'
import { unstored } from '../../http/answer/send.ts'
import { confirmKey } from '../../http/authorization.ts'
import type { AppContext } from '../../http/context.ts'
import { prefersPeek } from '../../http/input/prefer.ts'
import type { Admitted, Caller, RequestFacts } from '../../http/request.ts'
import { routes } from '../../http/route.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { StoredBooking } from '../../stays/bookings/model.ts'
import type { BookingChange, ChangeFilter } from '../../stays/bookings/store.ts'
import { serializeMessageItem } from '../../stays/messages/serialize.ts'
import { bookingFeed, bookingFeedInFull, type Feed, messageFeed, type OwnerFilter } from '../feeds.ts'
import { type Ahead, aheadOf } from './ahead.ts'
import type { Page } from './feed-page.ts'
import { readOrHold } from './hold.ts'
import { isFiltered, type PositionQuery, positionOf } from './position.ts'
import {
  BookingFeedQuery,
  type FeedItem,
  type FeedMeta,
  FeedPage,
  feedMeta,
  MessageFeedPage,
  MessageFeedQuery,
} from './schema.ts'
import { serializeFeedItem, serializeInFull } from './serialize.ts'
import { readWantedPage } from './wanted-page.ts'

/**
 * The booking feed (contract, Endpoints; decisions §9) and the message feed (decisions §17). A request takes five
 * steps:
 *
 * 1. Its query is checked (`schema.ts`) and parsed into a position (`position.ts`, `cursor.ts`).
 * 2. The page that is asked for is found (`wanted-page.ts`) and read (`feed-page.ts`).
 * 3. If the request may wait, step 2 is part of holding it until the page has a row (`hold.ts`).
 * 4. A reader that is ahead of the feed is recognized (`ahead.ts`), and what the page tells about its reader is noted.
 * 5. The rows are serialized.
 *
 * `serve` takes steps 1 to 4 for either feed. What a feed is, is said in `../feeds.ts`.
 */
export function feedRoutes(app: AppContext) {
  return routes(app, { prefix: '/integrations/:provider' })
    .get(
      '/bookings',
      {
        access,
        query: BookingFeedQuery,
        response: { 200: Envelope(FeedPage, feedMeta) },
        detail: {
          tags: ['Booking feed'],
          operationId: 'pollBookings',
          summary: 'Poll for new and changed bookings',
        },
      },
      async (context) => {
        const view = context.query.include === 'detail' ? inFull : inBrief
        const { rows, meta } = await serve(app, view.feed, context)
        const Bookings = await view.serialize(app.db, context.caller.ownerId, rows)
        return ok(context, { Bookings }, meta)
      },
    )
    .get(
      '/messages',
      {
        access,
        query: MessageFeedQuery,
        response: { 200: Envelope(MessageFeedPage, feedMeta) },
        detail: { tags: ['Messages'], operationId: 'pollMessages', summary: 'Poll for new messages' },
      },
      async (context) => {
        const { rows, meta } = await serve(app, messageFeed, context)
        return ok(context, { messages: rows.map(serializeMessageItem) }, meta)
      },
    )
}

const access: Access = {
  permission: 'bookings.read',
  provider: true,
  conditional: true,
  feed: true,
  errors: ['not_found'],
}

/** How the booking feed's rows are read and shown. */
interface BookingView<Row extends BookingChange> {
  feed: Feed<Row, ChangeFilter>
  serialize(db: Db, ownerId: number, rows: Row[]): FeedItem[] | Promise<FeedItem[]>
}

const inBrief: BookingView<BookingChange> = {
  feed: bookingFeed,
  serialize: (_db, _ownerId, rows) => rows.map(serializeFeedItem),
}

const inFull: BookingView<StoredBooking> = {
  feed: bookingFeedInFull,
  serialize: serializeInFull,
}

/** The parts of a request that its page depends on. */
interface FeedRequest {
  request: Request
  facts: RequestFacts
  query: PositionQuery & { wait?: number }
  caller: Caller
  admitted: Admitted
  set: { headers: Record<string, string | number | undefined> }
}

/**
 * Reads the page that a request asks for, and holds a request that may wait while the page is empty.
 *
 * @throws DomainError `not_found` as {@link positionOf}; after a wait, `auth` if the key is no longer usable, and
 * `forbidden` if it is no longer accepted from the caller's address or may no longer read bookings
 */
async function serve<Row, Filter extends OwnerFilter>(
  app: AppContext,
  feed: Feed<Row, Filter>,
  { request, facts, query, caller, admitted, set }: FeedRequest,
): Promise<{ rows: Row[]; meta: FeedMeta }> {
  const seconds = Math.min(query.wait ?? 0, caller.maxHoldSeconds ?? Number.POSITIVE_INFINITY)
  const deadline = performance.now() + seconds * 1000
  const position = await positionOf(app.db, feed, caller, query)
  const mayWait = seconds > 0 && position.page.kind !== 'numbered'
  const { page, isHeld } = mayWait
    ? await readOrHold(app, { feed, request, facts, caller, admitted, position, deadline })
    : {
        page: await readWantedPage(
          app,
          feed,
          { ownerId: caller.ownerId, keyId: caller.keyId, admitted },
          position,
        ),
        isHeld: false,
      }
  if (isHeld) {
    noteDelivery(app, feed, caller, page.rows[0])
    if (app.heldRequests.ending.aborted) set.headers.connection = 'close'
    const sender = { headers: request.headers, address: caller.address }
    Object.assign(set.headers, await confirmKey(app, sender, access.permission))
  }
  const ahead = await aheadOf(app, feed, caller.ownerId, page)
  // If this breaks: a refused poll counts as having read the feed
  await admitted()
  // The client would take a 304 for the page that it knows, and never learn that nothing can follow.
  if (ahead) set.headers['cache-control'] = unstored
  if (!prefersPeek(request.headers) && !isFiltered(position)) noteRead(app, feed, caller, { page, ahead })
  return { rows: page.rows, meta: metaOf(page, ahead) }
}

function metaOf({ pagination }: Page<unknown>, ahead: Ahead | null): FeedMeta {
  if (!ahead) return { pagination }
  return { pagination, ahead: true, newest_version: ahead.newest && toVersion(ahead.newest) }
}

/** Maximum age, in seconds, of a change that can have ended a wait. */
const longestDelivery = 60

/** Records the time between the first change on a page and the end of the wait for it. */
function noteDelivery<Row>(
  { metrics, clock }: AppContext,
  feed: Feed<Row>,
  { isSandbox }: Caller,
  first: Row | undefined,
): void {
  if (isSandbox || first === undefined) return
  const seconds = (clock().getTime() - feed.versionOf(first).getTime()) / 1000
  // An older change did not end the wait. The row was returned because the reader's consumer was moved back.
  if (seconds <= longestDelivery) metrics.observeDelivery(seconds)
}

/** Notes how far the key has read the feed with a page that has no filter, which would hide changes. */
function noteRead<Row>(
  { activity, clock }: AppContext,
  feed: Feed<Row>,
  caller: Caller,
  { page, ahead }: { page: Page<Row>; ahead: Ahead | null },
): void {
  const at = clock(caller.ownerId)
  const last = page.rows.at(-1)
  const lastVersion = last === undefined ? null : feed.versionOf(last)
  const version = ahead ? null : readVersion({ start: page.start, last: lastVersion, now: at })
  activity.noteRead(caller, feed.name, { version, at, isAhead: ahead !== null })
}
