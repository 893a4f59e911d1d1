import type { Watch, WatchEvent } from '../../host-clock/changes.ts'
import { hasClock } from '../../host-clock/store.ts'
import type { AppContext } from '../../http/context.ts'
import type { Admitted, Caller, RequestFacts } from '../../http/request.ts'
import type { Slot } from '../../platform/slots.ts'
import type { Feed, OwnerFilter } from '../feeds.ts'
import type { Page } from './feed-page.ts'
import { followConsumer, type Position } from './position.ts'
import { readWantedPage } from './wanted-page.ts'

/** A read that may be held while its page is empty. */
interface WaitingRead<Row, Filter extends OwnerFilter> {
  feed: Feed<Row, Filter>
  request: Request
  facts: RequestFacts
  caller: Caller
  admitted: Admitted
  position: Position<Filter>
  /** `performance.now()` until which the request may be held. */
  deadline: number
}

/**
 * Reads a page, and holds the request until the page has a row or its time is up (decisions §16).
 *
 *     watch the host's clock and read --rows-----------> the page
 *      | none
 *      v
 *     take a slot --none is left-----------------------> the empty page
 *      |
 *      v
 *     wait --the host's clock moved--------------------> read again
 *      |  `--4 s, if there is a consumer---------------> read again if it was moved back, otherwise wait
 *      +--the deadline---------------------------------> read once more: the page, even if it is empty
 *      `--clock gone, released, or request abandoned---> the empty page
 *
 * The watch starts before the first read, so every change is either on the page or reported: one read is enough.
 * Nothing is queried while the request waits, except for the consumer. A request of a sandbox that was cleared is not
 * held.
 *
 * @returns the page, and whether the request was held for it
 * @throws DomainError `not_found` if the consumer was deleted
 */
export async function readOrHold<Row, Filter extends OwnerFilter>(
  app: AppContext,
  waiting: WaitingRead<Row, Filter>,
): Promise<{ page: Page<Row>; isHeld: boolean }> {
  const { feed, request, facts, caller, admitted, position } = waiting
  const reader = { ownerId: caller.ownerId, keyId: caller.keyId, admitted }
  const watch = app.changes.watch(caller.ownerId, feed.counter)
  let slot: Slot | null = null
  const free = () => slot?.free()
  try {
    const page = await readWantedPage(app, feed, reader, position)
    if (page.rows.length > 0) return { page, isHeld: false }
    await admitted()
    slot = await app.heldRequests.take(facts, caller.keyId)
    if (!slot) return { page, isHeld: false }
    // From here on, a client that disconnects frees its slot immediately, even while a query is running.
    request.signal.addEventListener('abort', free)
    if (caller.isSandbox && !(await hasClock(app.db, caller.ownerId))) return { page, isHeld: false }
    const signals = [request.signal, app.heldRequests.ending]
    const next = (wakeAt: number) => nextEvent(watch, signals, wakeAt)
    return { page: await readUntilRows(app, waiting, page, next), isHeld: true }
  } finally {
    free()
    request.signal.removeEventListener('abort', free)
    watch.end()
  }
}

/**
 * Interval at which a held request looks at its consumer. Moving a consumer back or deleting it does not move the host's
 * clock, so without this look, the reader would wait until its deadline (decisions §16).
 */
const consumerCheckMilliseconds = 4000

/** @param next returns what ends the wait, at the latest at `wakeAt` */
async function readUntilRows<Row, Filter extends OwnerFilter>(
  app: AppContext,
  { feed, caller, position: initial, deadline }: WaitingRead<Row, Filter>,
  empty: Page<Row>,
  next: (wakeAt: number) => Promise<HeldEvent>,
): Promise<Page<Row>> {
  let position = initial
  let page = empty
  while (page.rows.length === 0) {
    const checkAt = performance.now() + consumerCheckMilliseconds
    const wakeAt = position.consumer ? Math.min(deadline, checkAt) : deadline
    const event = await next(wakeAt)
    if (event !== 'moved' && event !== 'late') return page
    const isTimeUp = event === 'late' && wakeAt === deadline
    const known = position
    position = await followConsumer(app.db, known)
    if (event === 'moved' || isTimeUp || position !== known)
      page = await readWantedPage(app, feed, caller, position)
    if (isTimeUp) return page
  }
  return page
}

/** What ends a wait: an event of the host's clock, the time, or an abort by the client or this process. */
type HeldEvent = WatchEvent | 'late' | 'abandoned'

/** @param signals end the wait when the client disconnects or this process shuts down */
async function nextEvent(watch: Watch, signals: AbortSignal[], wakeAt: number): Promise<HeldEvent> {
  const { promise, resolve } = Promise.withResolvers<HeldEvent>()
  const abandon = () => resolve('abandoned')
  const timer = setTimeout(() => resolve('late'), Math.max(0, wakeAt - performance.now()))
  for (const signal of signals) signal.addEventListener('abort', abandon)
  if (signals.some(({ aborted }) => aborted)) abandon()
  try {
    return await Promise.race([watch.next(), promise])
  } finally {
    clearTimeout(timer)
    for (const signal of signals) signal.removeEventListener('abort', abandon)
  }
}
