import type { Access } from '../../http/access.ts'
import { confirmKey } from '../../http/authorization.ts'
import type { AppContext } from '../../http/context.ts'
import { Envelope, ok } from '../../http/envelope.ts'
import { prefersPeek } from '../../http/prefer.ts'
import type { Caller, RequestFacts } from '../../http/request.ts'
import { routes } from '../../http/route.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { StoredBooking } from '../../stays/bookings/model.ts'
import type { BookingChange, ChangeFilter } from '../../stays/bookings/store.ts'
import { serializeMessageItem } from '../../stays/messages/serialize.ts'
import { bookingFeed, bookingFeedInFull, type Feed, messageFeed, type OwnerFilter } from '../feeds.ts'
import { readVersion } from '../reads/read-version.ts'
import { readOrHold } from './hold.ts'
import { NumberedPages } from './numbered-pages.ts'
import { type Page, readPage } from './page.ts'
import { isFiltered, type Position, type PositionQuery, positionOf } from './position.ts'
import {
  BookingFeedQuery,
  type FeedItem,
  FeedPage,
  FeedPagination,
  MessageFeedPage,
  MessageFeedQuery,
} from './schema.ts'
import { serializeFeedItem, serializeInFull } from './serialize.ts'

/**
 * The booking feed (contract, Endpoints; decisions §9) and the message feed (decisions §17). A request takes five
 * steps:
 *
 * 1. Its query is checked (`schema.ts`) and parsed into a position (`position.ts`, `cursor.ts`).
 * 2. The page at the position is read (`page.ts`). `page=2` and later pages are found by `numbered-pages.ts`, which
 *    also keeps the end of a first page.
 * 3. If the request may wait, step 2 is part of holding it until the page has a row (`hold.ts`).
 * 4. What the page tells about its reader is noted.
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
        response: { 200: Envelope(FeedPage, { pagination: FeedPagination }) },
        detail: {
          tags: ['Booking feed'],
          operationId: 'pollBookings',
          summary: 'Poll for new and changed bookings',
        },
      },
      async (context) => {
        const view = context.query.include === 'detail' ? inFull : inBrief
        const { rows, pagination } = await serve(app, view.feed, context)
        const Bookings = await view.serialize(app.db, context.caller.ownerId, rows)
        return ok(context, { Bookings }, { pagination })
      },
    )
    .get(
      '/messages',
      {
        access,
        query: MessageFeedQuery,
        response: { 200: Envelope(MessageFeedPage, { pagination: FeedPagination }) },
        detail: { tags: ['Messages'], operationId: 'pollMessages', summary: 'Poll for new messages' },
      },
      async (context) => {
        const { rows, pagination } = await serve(app, messageFeed, context)
        return ok(context, { messages: rows.map(serializeMessageItem) }, { pagination })
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
  { request, facts, query, caller, set }: FeedRequest,
): Promise<Page<Row>> {
  const seconds = Math.min(query.wait ?? 0, caller.maxHoldSeconds ?? Number.POSITIVE_INFINITY)
  const deadline = performance.now() + seconds * 1000
  const position = await positionOf(app.db, feed, caller, query)
  const read = async (at: Position<Filter>): Promise<Page<Row>> => {
    const wanted = at.page
    if (wanted.kind === 'cursor') return readPage(app.db, feed, at, wanted)
    if (wanted.kind === 'numbered') return new NumberedPages(app, feed, caller, at).read(wanted.number)
    const first = await readPage(app.db, feed, at, { number: 1, after: at.start })
    if (first.end) await new NumberedPages(app, feed, caller, at).keepEnd(1, first.end)
    return first
  }
  const mayWait = seconds > 0 && position.page.kind !== 'numbered'
  const { page, isHeld } = mayWait
    ? await readOrHold(app, feed, { request, facts, caller, position, deadline, read })
    : { page: await read(position), isHeld: false }
  if (isHeld) {
    noteDelivery(app, feed, caller, page.rows[0])
    if (app.heldRequests.ending.aborted) set.headers.connection = 'close'
    const sender = { headers: request.headers, address: caller.address }
    Object.assign(set.headers, await confirmKey(app, sender, access.permission))
  }
  if (!prefersPeek(request.headers)) noteRead(app, feed, caller, { position, last: page.rows.at(-1) })
  return page
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

/** Notes how far the key has read the feed. A page with a filter does not count, because it hides changes. */
function noteRead<Row>(
  { reads, clock }: AppContext,
  feed: Feed<Row>,
  caller: Caller,
  { position, last }: { position: Position; last: Row | undefined },
): void {
  if (isFiltered(position)) return
  const at = clock(caller.ownerId)
  const { start } = position
  const lastVersion = last === undefined ? null : feed.versionOf(last)
  reads.note(caller, feed.name, { version: readVersion({ start, last: lastVersion, now: at }), at })
}
