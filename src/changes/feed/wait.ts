import type { Watch, WatchEvent } from '../../host-clock/changes.ts'
import { parseFeedTime } from '../../host-clock/format.ts'
import { hasClock } from '../../host-clock/store.ts'
import { confirmKey } from '../../http/authorization.ts'
import type { AppContext } from '../../http/context.ts'
import { toPageRequest } from '../../http/pagination.ts'
import { prefersPeek } from '../../http/prefer.ts'
import type { Caller, RequestFacts } from '../../http/request.ts'
import type { FeedQuery, FeedSource } from '../sources/source.ts'
import { type FeedPage, readFeedPage } from './page.ts'
import { withWalk } from './position.ts'

/** The parts of a request that are needed to hold it. */
export interface HoldableRequest {
  request: Request
  facts: RequestFacts
  query: { page?: number; per_page?: number; wait?: number; consumer?: string; cursor?: string }
  caller: Caller
  set: { headers: Record<string, string | number | undefined> }
}

export const defaultPerPage = 50

/**
 * Interval at which a held request checks its consumer. Moving a consumer back or deleting it does not move the host's
 * clock, so without this check, the reader would wait until its deadline (decisions §16).
 */
const consumerCheckMilliseconds = 4000

/** Maximum age, in seconds, of a change that can have ended a wait. */
const longestDelivery = 60

/**
 * Returns a page of a feed. If the page would be empty, the request is held until a row appears or the wait times out
 * (decisions §16). While it waits, a held request queries the feed only when the host's clock or its consumer moves, and
 * once more at the deadline.
 *
 * @param buildQuery builds the {@link FeedQuery}. For a consumer's query, it is called again before each reread of the
 * feed, because the consumer may have been moved back or deleted in the meantime
 * @throws DomainError `auth` if the key is no longer usable; `forbidden` if it is no longer accepted from the caller's
 * address
 */
export async function readOrAwaitPage<Row, Filter extends { owner_id: number }>(
  app: AppContext,
  source: FeedSource<Row, Filter>,
  context: HoldableRequest,
  buildQuery: () => Promise<FeedQuery<Filter>>,
): Promise<FeedPage<Row>> {
  const page = toPageRequest(withWalk(source.name, context.query), defaultPerPage)
  const { wait = 0 } = context.query
  const seconds = Math.min(wait, context.caller.maxHoldSeconds ?? wait)
  const deadline = performance.now() + seconds * 1000
  const isPeek = prefersPeek(context.request.headers)
  const initial = await buildQuery()
  const readPage = async (query: FeedQuery<Filter>) => {
    const found = await readFeedPage(app, source, query, { keyId: context.caller.keyId, page })
    if (!isPeek) recordRead(app, source, query, { caller: context.caller, last: found.rows.at(-1) })
    return found
  }
  const hasConsumer = context.query.consumer !== undefined
  let query = initial
  const read = async () => {
    if (hasConsumer) query = await buildQuery()
    return readPage(query)
  }
  const first = await readPage(initial)
  if (seconds === 0 || page.page > 1 || first.rows.length > 0) return first
  const slot = await app.heldRequests.take(context.facts, context.caller.keyId)
  if (!slot) return first
  const { request, set } = context
  // From here on, a client that disconnects frees its slot immediately, even while a query is running.
  request.signal.addEventListener('abort', slot.free)
  const watch = app.changes.watch(initial.filter.owner_id, source.counter)
  try {
    if (context.caller.isSandbox && !(await hasClock(app.db, initial.filter.owner_id))) return first
    const signals = [request.signal, app.heldRequests.ending]
    const nextOfConsumer = async (): Promise<HeldEvent> => {
      for (;;) {
        const checkAt = Math.min(deadline, performance.now() + consumerCheckMilliseconds)
        const event = await nextEvent(watch, signals, checkAt)
        if (event !== 'late' || checkAt === deadline) return event
        const { updated_after } = await buildQuery()
        if (updated_after !== query.updated_after) return 'moved'
      }
    }
    let found = await read()
    let event: HeldEvent = 'moved'
    while (found.rows.length === 0 && event === 'moved') {
      event = hasConsumer ? await nextOfConsumer() : await nextEvent(watch, signals, deadline)
      // After any other event, the sandbox was cleared, its held requests were released, the client disconnected, or
      // this process is shutting down.
      if (event === 'moved' || event === 'late') found = await read()
    }
    noteDelivery(app, source, context.caller, found.rows[0])
    if (app.heldRequests.ending.aborted) set.headers.connection = 'close'
    Object.assign(set.headers, await confirmKey(app, request.headers, context.caller.address))
    return found
  } finally {
    watch.end()
    slot.free()
    request.signal.removeEventListener('abort', slot.free)
  }
}

/**
 * Records how far a key has read the live booking feed. Once a page has been read, no change can appear before its last
 * row, and an empty page shows that nothing has changed since `updated_after`. A filtered page, or an empty page
 * without `updated_after`, proves neither.
 */
function recordRead<Row, Filter extends { owner_id: number }>(
  { usage, clock }: AppContext,
  source: FeedSource<Row, Filter>,
  { filter, updated_after }: FeedQuery<Filter>,
  { caller, last }: { caller: Caller; last: Row | undefined },
): void {
  const { keyId, isSandbox } = caller
  const isFiltered = Object.entries(filter).some(
    ([name, value]) => name !== 'owner_id' && value !== undefined,
  )
  if (isSandbox || source.name !== 'bookings' || isFiltered) return
  const now = clock()
  // A future `updated_after` must not mark later changes as read. The next change may have the current second as its
  // version.
  const quietUntil = updated_after
    ? new Date(Math.min(parseFeedTime(updated_after).getTime(), now.getTime() - 1000))
    : undefined
  const seen = last ? source.versionOf(last) : quietUntil
  if (seen) usage.noteRead(keyId, seen, now)
}

/** Records the time between the first change on the page and the response that it triggered. */
function noteDelivery<Row, Filter extends { owner_id: number }>(
  { metrics, clock }: AppContext,
  source: FeedSource<Row, Filter>,
  { isSandbox }: Caller,
  first: Row | undefined,
): void {
  if (isSandbox || !first) return
  const seconds = (clock().getTime() - source.versionOf(first).getTime()) / 1000
  // An older change did not end the wait. The row was returned because the reader's consumer was moved back.
  if (seconds <= longestDelivery) metrics.observeDelivery(seconds)
}

/**
 * Event that wakes a held request: an event of the host's clock, the deadline, or an abort by the client or this
 * process.
 */
type HeldEvent = WatchEvent | 'late' | 'abandoned'

async function nextEvent(watch: Watch, signals: AbortSignal[], deadline: number): Promise<HeldEvent> {
  const { promise, resolve } = Promise.withResolvers<HeldEvent>()
  const abandon = () => resolve('abandoned')
  const timer = setTimeout(() => resolve('late'), Math.max(0, deadline - performance.now()))
  for (const signal of signals) signal.addEventListener('abort', abandon)
  if (signals.some(({ aborted }) => aborted)) abandon()
  try {
    return await Promise.race([watch.next(), promise])
  } finally {
    clearTimeout(timer)
    for (const signal of signals) signal.removeEventListener('abort', abandon)
  }
}
