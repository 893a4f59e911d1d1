import type { HostClock } from '../../../host-clock/model.ts'
import type { Db } from '../../../platform/mongo/connection.ts'
import {
  findDue,
  findInFlight,
  type InFlight,
  newDelivery,
  type WaitingDelivery,
} from '../deliveries-store.ts'
import { type HintReader, type NewHint, positionsAfter, positionsAt } from '../feeds.ts'
import type { Webhook, WebhookDelivery } from '../model.ts'
import type { Positions } from '../store.ts'
import { maxPerSecondOfWebhook, type OriginContext, type Turn, takeTurns } from './limits.ts'

/** Maximum number of concurrent attempts to one webhook (decisions §21). */
const maxInFlight = 10
/** Maximum number of waiting hints per webhook; further changes wait in the feeds. */
const maxWaiting = 10_000
/** Pause while the rate limit is exhausted, long enough for several attempts to begin together afterwards. */
const ratePauseMilliseconds = 250
/** Pause while another process's attempts are in progress, or while too many hints are waiting. */
const longPauseMilliseconds = 2000

/** This process's attempts to deliver hints to one webhook. */
export interface WebhookAttempts {
  inFlight: InFlight
  /** Start times of the attempts within the last second, oldest first. */
  startedAt: number[]
  /** True if the most recently ended attempt failed. */
  hasFailed: boolean
  /** True if hints may be waiting for an attempt to end. */
  mayHoldBack: boolean
  /** True if a hint is waiting because an attempt for its booking is in progress. */
  hasBlockedHint: boolean
}

/** Returns the state of a webhook that this process has not attempted yet. */
export function newWebhookAttempts(): WebhookAttempts {
  return {
    inFlight: new Map(),
    startedAt: [],
    hasFailed: false,
    mayHoldBack: false,
    hasBlockedHint: false,
  }
}

/** A webhook that may have hints to send or may have to be turned off. */
export interface WebhookWork {
  webhook: Webhook
  own: WebhookAttempts
  /** Number of stored hints with status `waiting`, including hints that are being attempted. */
  waiting: number
  /** True if a stored hint is due. */
  isDue: boolean
  /** True if a feed may contain rows without hints. */
  isBehind: boolean
  /** The host's clock, read before the feeds. */
  clock: HostClock | undefined
  /** Reason to turn the webhook off; null to leave it on. */
  turnOffReason: 'key_ended' | 'failing' | null
}

/** The attempts that a webhook may begin now. */
export interface ChosenAttempts extends WebhookWork {
  /** Stored hints to attempt. */
  stored: WaitingDelivery[]
  /** New hints to store, each marked as begun or, if an attempt for its booking is in progress, as waiting. */
  created: WebhookDelivery[]
  /** A turn for each attempt that begins. Turns that are left over must be given back. */
  turns: Turn[]
  /** The webhook's new positions; null if they do not change. */
  positions: Positions | null
  /** Time until the host's next check; infinite if the end of an attempt or the next change triggers that check. */
  pauseMilliseconds: number
}

/**
 * Chooses the attempts that a webhook may begin: at most ten in progress, one per booking, and twenty per second.
 * Stored hints come first. New hints are created from the feeds only while further attempts may begin, so that a
 * backlog stays in the feeds.
 */
export async function chooseAttempts(
  app: OriginContext & { db: Db },
  work: WebhookWork,
  now: Date,
  read: HintReader,
): Promise<ChosenAttempts> {
  const { webhook, own, waiting, isDue, isBehind } = work
  // Any attempt that ends from now on triggers another check of the host.
  own.mayHoldBack = true
  // Other processes' attempts count too, because a process may have lost the lease or died during its attempts.
  const others = waiting > own.inFlight.size ? await findInFlight(app.db, webhook, now) : []
  const inFlight = new Map([...others, ...own.inFlight])
  own.startedAt = withinSecond(own.startedAt)
  const slots = Math.max(
    0,
    Math.min(maxInFlight - inFlight.size, maxPerSecondOfWebhook - own.startedAt.length),
  )
  const found = isDue && slots > 0 ? await findDue(app.db, webhook, { inFlight, now, limit: slots + 1 }) : []
  const due = firstOfEachBooking(found.slice(0, slots))
  const isFull = isBehind && waiting >= maxWaiting
  const canRead = isBehind && !isFull && due.length < slots
  const { hints, mayBeMore } = canRead ? await read(webhook) : { hints: [], mayBeMore: isBehind }
  const busy = new Set([...inFlight.values(), ...due.map(({ booking_id }) => booking_id)])
  const choose = (count: number) => {
    const stored = due.slice(0, count)
    const taken = takeHints(hints, busy, count - stored.length)
    return { stored, taken, count: stored.length + taken.filter(({ begins }) => begins).length }
  }
  const possible = choose(slots).count
  const turns = await takeTurns(app, webhook.url, possible)
  const { stored, taken } = choose(turns.length)
  const hasMore = (slots === 0 ? isDue : found.length > slots) || taken.length < hints.length || mayBeMore
  const hasBlockedDueHint = isDue && slots > 0 && due.length < Math.max(1, Math.min(slots, found.length))
  own.hasBlockedHint = hasBlockedDueHint || taken.some(({ begins }) => !begins)
  own.mayHoldBack = inFlight.size > 0 || hasMore || own.hasBlockedHint
  const newPositions = () => {
    if (taken.length > 0) return positionsAfter(webhook, taken)
    // After a restore, clocks are ahead of the feeds. A webhook that stayed behind could never be turned off.
    return canRead && hints.length === 0 ? positionsAt(webhook, work.clock) : null
  }
  const pause = () => {
    if (turns.length < possible) return ratePauseMilliseconds
    if (isFull || inFlight.size > own.inFlight.size) return longPauseMilliseconds
    if (hasMore && own.startedAt.length + possible >= maxPerSecondOfWebhook) return ratePauseMilliseconds
    return hasMore && inFlight.size + possible < maxInFlight ? 0 : Number.POSITIVE_INFINITY
  }
  return {
    ...work,
    stored,
    turns,
    positions: newPositions(),
    pauseMilliseconds: pause(),
    created: taken.map(({ hint, begins, trace }) =>
      newDelivery({ webhook, payload: hint, now, begins, trace }),
    ),
  }
}

/** Returns hints in feed order, up to the first hint that is ready for an attempt but has no room for it. */
function takeHints(
  hints: NewHint[],
  busy: Set<number | null>,
  room: number,
): (NewHint & { begins: boolean })[] {
  const bookings = new Set(busy)
  const end = bookings.size + room
  const taken: (NewHint & { begins: boolean })[] = []
  for (const one of hints) {
    const begins = !bookings.has(one.hint.data.booking_id)
    if (begins && bookings.size === end) break
    bookings.add(one.hint.data.booking_id)
    taken.push({ ...one, begins })
  }
  return taken
}

/** Returns each booking's first delivery, because a booking may have only one delivery in flight. */
function firstOfEachBooking(deliveries: WaitingDelivery[]): WaitingDelivery[] {
  const firsts = new Map<number | null, WaitingDelivery>()
  for (const delivery of deliveries)
    if (!firsts.has(delivery.booking_id)) firsts.set(delivery.booking_id, delivery)
  return [...firsts.values()]
}

/** Returns the `performance.now()` times that lie within the last second. */
export function withinSecond(times: number[]): number[] {
  const secondAgo = performance.now() - 1000
  return times.filter((at) => at > secondAgo)
}
