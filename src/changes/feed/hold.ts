import type { Watch, WatchEvent } from '../../host-clock/changes.ts'
import { hasClock } from '../../host-clock/store.ts'
import type { AppContext } from '../../http/context.ts'
import type { Caller, RequestFacts } from '../../http/request.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { Feed, OwnerFilter } from '../feeds.ts'
import type { Page } from './page.ts'
import { followConsumer, type Position } from './position.ts'

/** A request whose page is empty, and which may be held. */
interface HeldRead<Row, Filter extends OwnerFilter> {
  request: Request
  facts: RequestFacts
  caller: Caller
  position: Position<Filter>
  /** `performance.now()` until which the request may be held. */
  deadline: number
  read(position: Position<Filter>): Promise<Page<Row>>
}

/**
 * Holds a request until its page has a row or its time is up (decisions §16).
 *
 *     read --rows--------------------------------------> the page
 *      | none
 *      v
 *     wait --the host's clock moved--------------------> read again
 *      |  `--4 s, if there is a consumer---------------> read again if it was moved back, otherwise wait
 *      +--the deadline---------------------------------> read once more: the page, even if it is empty
 *      `--clock gone, released, or request abandoned---> the empty page
 *
 * Nothing is queried while it waits, except for the consumer.
 *
 * @returns null if the request is not held, because there is no slot for it or its sandbox was cleared
 * @throws DomainError `not_found` if the consumer was deleted
 */
export async function hold<Row, Filter extends OwnerFilter>(
  app: AppContext,
  feed: Feed<Row, Filter>,
  held: HeldRead<Row, Filter>,
): Promise<Page<Row> | null> {
  const { request, facts, caller } = held
  const slot = await app.heldRequests.take(facts, caller.keyId)
  if (!slot) return null
  // From here on, a client that disconnects frees its slot immediately, even while a query is running.
  request.signal.addEventListener('abort', slot.free)
  // The watch starts before the page is read again, so every change is either on the page or reported.
  const watch = app.changes.watch(caller.ownerId, feed.counter)
  try {
    if (caller.isSandbox && !(await hasClock(app.db, caller.ownerId))) return null
    return await readUntilRows(app.db, held, watch, [request.signal, app.heldRequests.ending])
  } finally {
    watch.end()
    slot.free()
    request.signal.removeEventListener('abort', slot.free)
  }
}

/**
 * Interval at which a held request looks at its consumer. Moving a consumer back or deleting it does not move the host's
 * clock, so without this look, the reader would wait until its deadline (decisions §16).
 */
const consumerCheckMilliseconds = 4000

/** @param signals end the wait when the client disconnects or this process shuts down */
async function readUntilRows<Row, Filter extends OwnerFilter>(
  db: Db,
  { position: initial, deadline, read }: HeldRead<Row, Filter>,
  watch: Watch,
  signals: AbortSignal[],
): Promise<Page<Row>> {
  let position = await followConsumer(db, initial)
  let page = await read(position)
  while (page.rows.length === 0) {
    const checkAt = performance.now() + consumerCheckMilliseconds
    const wakeAt = position.consumer ? Math.min(deadline, checkAt) : deadline
    const event = await nextEvent(watch, signals, wakeAt)
    if (event !== 'moved' && event !== 'late') return page
    const isTimeUp = event === 'late' && wakeAt === deadline
    const known = position
    position = await followConsumer(db, known)
    if (event === 'moved' || isTimeUp || position !== known) page = await read(position)
    if (isTimeUp) return page
  }
  return page
}

/** What ends a wait: an event of the host's clock, the time, or an abort by the client or this process. */
type HeldEvent = WatchEvent | 'late' | 'abandoned'

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
