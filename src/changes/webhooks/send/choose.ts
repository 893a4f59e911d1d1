import type { HostClock } from '../../../host-clock/model.ts'
import type { Db } from '../../../platform/mongo/connection.ts'
import {
  findDue,
  findInFlight,
  giveUpExpired,
  type InFlight,
  newDelivery,
  type WaitingDelivery,
} from '../deliveries-store.ts'
import { type HintReader, type NewHint, positionsAfter, positionsAt } from '../feeds.ts'
import type { Webhook, WebhookDelivery } from '../model.ts'
import type { Positions } from '../store.ts'
import { type OriginContext, type Turn, takeTurns } from './limits.ts'
import {
  hasDueHint,
  isOverfull,
  roomFor,
  stateAfterLook,
  type WebhookFacts,
  type WebhookState,
  withinSecond,
} from './state.ts'

/** A webhook, as a round has read it. */
export interface SeenWebhook {
  webhook: Webhook
  facts: WebhookFacts
  /** The host's clock, read before the feeds. */
  clock: HostClock | undefined
}

/** The attempts that a webhook may begin now. */
export interface ChosenAttempts {
  webhook: Webhook
  /** Stored hints to attempt. */
  stored: WaitingDelivery[]
  /** New hints to store, each marked as begun or, if an attempt for its booking is in progress, as waiting. */
  created: WebhookDelivery[]
  /** A turn for each attempt that begins. Turns that are left over must be given back. */
  turns: Turn[]
  /** The webhook's new positions; null if they do not change. */
  positions: Positions | null
  /** The webhook's state once these attempts have begun. */
  state: WebhookState
}

/**
 * Looks for a webhook's hints and chooses the attempts that may begin: at most ten in progress, one per booking, and
 * twenty per second. Stored hints come first. New hints are created from the feeds only while further attempts may
 * begin, so that a backlog stays in the feeds.
 */
export async function chooseAttempts(
  app: OriginContext & { db: Db },
  seen: SeenWebhook,
  now: Date,
  read: HintReader,
): Promise<ChosenAttempts> {
  const { webhook, facts } = seen
  const { attempts, isBehind } = facts
  const isDue = hasDueHint(facts, now)
  const inFlight = await findAllInFlight(app.db, seen, now)
  const inLastSecond = withinSecond(attempts.startedAt, performance.now()).length
  const room = roomFor({ inFlight: inFlight.size, inLastSecond })

  const search = { inFlight, now, limit: room + 1 }
  const found = isDue && room > 0 ? await findDue(app.db, webhook, search) : []
  // Once a sandbox's clock has passed their expiry, nothing else would end them, and their webhook would stay on.
  if (isDue && room > 0 && found.length === 0 && inFlight.size === 0)
    await giveUpExpired(app.db, webhook, now)
  const ready = firstOfEachBooking(found.slice(0, room))
  const mayRead = isBehind && !isOverfull(facts) && ready.length < room
  const { hints, mayBeMore } = mayRead ? await read(webhook) : { hints: [], mayBeMore: isBehind }

  const candidates = { ready, hints, inFlight }
  const possible = take(candidates, room)
  const turns = await takeTurns(app, webhook.url, possible.begins)
  const taken = turns.length < possible.begins ? take(candidates, turns.length) : possible

  const hasMoreStored = room === 0 ? isDue : found.length > room
  // A due hint that is not ready waits for an attempt for its booking.
  const hasBlockedDueHint = isDue && room > 0 && ready.length < Math.max(1, Math.min(room, found.length))
  return {
    webhook,
    stored: taken.stored,
    created: taken.created.map(({ hint, begins, trace }) =>
      newDelivery({ webhook, payload: hint, now, begins, trace }),
    ),
    turns,
    positions: newPositions(seen, taken.created, mayRead && hints.length === 0),
    state: stateAfterLook({
      inFlight: inFlight.size,
      hasOthers: inFlight.size > attempts.inFlight.size,
      inLastSecond,
      begins: possible.begins,
      lacksTurns: turns.length < possible.begins,
      isOverfull: isOverfull(facts),
      hasMore: hasMoreStored || taken.created.length < hints.length || mayBeMore,
      hasBlockedHint: hasBlockedDueHint || taken.created.some(({ begins }) => !begins),
    }),
  }
}

/**
 * Returns a webhook's deliveries in flight in any process. Other processes' attempts count too, because a process may
 * have lost the lease or died during its attempts.
 */
async function findAllInFlight(
  db: Db,
  { webhook, facts: { attempts, waiting } }: SeenWebhook,
  now: Date,
): Promise<InFlight> {
  if (waiting <= attempts.inFlight.size) return attempts.inFlight
  return new Map([...(await findInFlight(db, webhook, now)), ...attempts.inFlight])
}

/** Returns each booking's first delivery, because a booking may have only one delivery in flight. */
function firstOfEachBooking(deliveries: WaitingDelivery[]): WaitingDelivery[] {
  const firsts = new Map<number | null, WaitingDelivery>()
  for (const delivery of deliveries)
    if (!firsts.has(delivery.booking_id)) firsts.set(delivery.booking_id, delivery)
  return [...firsts.values()]
}

/** The hints among which the attempts are chosen. */
interface Candidates {
  /** Stored hints that are ready, at most one of each booking. */
  ready: WaitingDelivery[]
  /** New hints, in feed order. */
  hints: NewHint[]
  inFlight: InFlight
}

/** Chooses up to `room` attempts, and the new hints to create. */
function take({ ready, hints, inFlight }: Candidates, room: number) {
  const stored = ready.slice(0, room)
  const busy = new Set([...inFlight.values(), ...ready.map(({ booking_id }) => booking_id)])
  const created = takeHints(hints, busy, room - stored.length)
  const begins = stored.length + created.filter((hint) => hint.begins).length
  return { stored, created, begins }
}

/** Returns hints in feed order, up to the first hint that is ready for an attempt but has no room for it. */
function takeHints(
  hints: NewHint[],
  busy: ReadonlySet<number | null>,
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

/** Returns a webhook's new positions, or null. */
function newPositions(
  { webhook, clock }: SeenWebhook,
  created: NewHint[],
  hasReadNothing: boolean,
): Positions | null {
  if (created.length > 0) return positionsAfter(webhook, created)
  // After a restore, clocks are ahead of the feeds. A webhook that stayed behind could never be turned off.
  return hasReadNothing ? positionsAt(webhook, clock) : null
}
