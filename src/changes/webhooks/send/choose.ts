import type { HostClock } from '../../../host-clock/model.ts'
import type { Db } from '../../../platform/mongo/connection.ts'
import type { Turn } from '../../../platform/outgoing/turns.ts'
import {
  findDue,
  findInFlight,
  giveUpExpired,
  type HintToStore,
  type InFlight,
  type WaitingDelivery,
} from '../attempts-store.ts'
import type { Webhook } from '../model.ts'
import type { Positions } from '../store.ts'
import { type WebhookAttempts, withinSecond } from './in-flight.ts'
import { type HintReader, type NewHint, positionsAfter, positionsAt } from './new-hints.ts'
import { type Blocked, type Due, type Full, hasDueHint, type Idle, type WebhookFacts } from './state.ts'
import { maxPerSecondOfWebhook, type OriginContext, takeTurns } from './turns.ts'

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
  /** Stored deliveries to attempt: hints, alarms, and tests that are resent. */
  stored: WaitingDelivery[]
  /** New hints to store. */
  created: HintToStore[]
  /** A turn for each attempt that begins. Turns that are left over must be given back. */
  turns: Turn[]
  /** The webhook's new positions; null if they do not change. */
  positions: Positions | null
  /** The webhook's state once these attempts have begun. */
  state: StateAfterLook
}

/** Maximum number of concurrent attempts to one webhook (decisions §21). */
const maxInFlight = 10
/** Maximum number of waiting hints per webhook; further changes wait in the feeds. */
const maxWaiting = 10_000

/**
 * Looks for a webhook's hints and chooses the attempts that may begin: at most ten in progress, one per booking, and
 * twenty per second. Stored hints come first. New hints are created from the feeds only while further attempts may
 * begin, so that a backlog stays in the feeds.
 */
export async function chooseAttempts(
  app: OriginContext & { db: Db },
  { webhook, facts, clock, attempts }: SeenWebhook & { attempts: WebhookAttempts },
  now: Date,
  readNew: HintReader,
): Promise<ChosenAttempts> {
  // The room: attempts that may begin, as far as the webhook is concerned.
  const inFlight = await findAllInFlight(app.db, { webhook, waiting: facts.waiting, attempts }, now)
  const inLastSecond = withinSecond(attempts.startedAt, performance.now()).length
  const room = roomFor({ inFlight: inFlight.size, inLastSecond })

  const { startable, hasMoreStored, isStoredBlocked } = await findStored(
    app.db,
    { webhook, facts, inFlight, room },
    now,
  )

  // The new hints, if there is room for them. One whose booking is being attempted must wait.
  const mustRead = facts.isBehind && !isOverfull(facts) && startable.length < room
  const { hints, mayBeMore } = mustRead ? await readNew(webhook) : { hints: [], mayBeMore: facts.isBehind }
  const bookings = [...inFlight.values(), ...startable.map(({ booking_id }) => booking_id)]
  const fresh = markBegins(hints, bookings)

  // A turn for each attempt. Without enough turns, the stored hints come first.
  const begins = Math.min(room, startable.length + fresh.filter((hint) => hint.begins).length)
  const turns = await takeTurns(app, webhook.url, begins)
  const stored = startable.slice(0, turns.length)
  const created = upToRoom(fresh, turns.length - stored.length)

  return {
    webhook,
    stored,
    created: created.map(({ hint, trace, begins }) => ({ webhook, hint, trace, begins })),
    turns,
    positions: newPositions({ webhook, clock }, created, mustRead && hints.length === 0),
    state: stateAfterLook({
      inFlight: inFlight.size,
      hasOthers: inFlight.size > attempts.inFlight.size,
      inLastSecond,
      begins,
      lacksTurns: turns.length < begins,
      isOverfull: isOverfull(facts),
      hasMore: hasMoreStored || created.length < hints.length || mayBeMore,
      hasBlockedHint: isStoredBlocked || created.some((hint) => !hint.begins),
    }),
  }
}

/**
 * Returns a webhook's deliveries in flight in any process. Other processes' attempts count too, because a process may
 * have lost the lease or died during its attempts.
 */
async function findAllInFlight(
  db: Db,
  { webhook, waiting, attempts }: { webhook: Webhook; waiting: number; attempts: WebhookAttempts },
  now: Date,
): Promise<InFlight> {
  if (waiting <= attempts.inFlight.size) return attempts.inFlight
  return new Map([...(await findInFlight(db, webhook, now)), ...attempts.inFlight])
}

/** Returns the number of attempts that may begin, given the number in progress and that of the last second. */
export function roomFor({ inFlight, inLastSecond }: Pick<Look, 'inFlight' | 'inLastSecond'>): number {
  return Math.max(0, Math.min(maxInFlight - inFlight, maxPerSecondOfWebhook - inLastSecond))
}

/** The stored hints that are due. */
interface StoredHints {
  /** The first hint of each booking, which may be attempted. */
  startable: WaitingDelivery[]
  /** True if others are due for which there is no room. */
  hasMoreStored: boolean
  /** True if others wait for an attempt for their booking to end. */
  isStoredBlocked: boolean
}

async function findStored(
  db: Db,
  {
    webhook,
    facts,
    inFlight,
    room,
  }: Pick<SeenWebhook, 'webhook' | 'facts'> & { inFlight: InFlight; room: number },
  now: Date,
): Promise<StoredHints> {
  if (!hasDueHint(facts, now)) return { startable: [], hasMoreStored: false, isStoredBlocked: false }
  if (room === 0) return { startable: [], hasMoreStored: true, isStoredBlocked: false }
  const due = await findDue(db, webhook, { inFlight, now, limit: room + 1 })
  if (due.length === 0) {
    // Once a sandbox's clock has passed their expiry, nothing else would end them, and their webhook would stay on.
    if (inFlight.size === 0) await giveUpExpired(db, webhook, now)
    return { startable: [], hasMoreStored: false, isStoredBlocked: true }
  }
  const startable = firstOfEachBooking(due.slice(0, room))
  return {
    startable,
    hasMoreStored: due.length > room,
    isStoredBlocked: startable.length < Math.min(room, due.length),
  }
}

/**
 * Returns each booking's first delivery, because a booking may have only one delivery in flight. Alarms and tests
 * concern no booking; each look begins one of them.
 */
function firstOfEachBooking(deliveries: WaitingDelivery[]): WaitingDelivery[] {
  const firsts = new Map<number | null, WaitingDelivery>()
  for (const delivery of deliveries)
    if (!firsts.has(delivery.booking_id)) firsts.set(delivery.booking_id, delivery)
  return [...firsts.values()]
}

/** Returns true if no more hints may be created, because too many are waiting. */
export function isOverfull({ isBehind, waiting }: Pick<WebhookFacts, 'isBehind' | 'waiting'>): boolean {
  return isBehind && waiting >= maxWaiting
}

/** A new hint that begins, or that waits because an attempt for its booking is in progress or begins before. */
type MarkedHint = NewHint & { begins: boolean }

/** @param busy bookings that have an attempt already */
function markBegins(hints: NewHint[], busy: (number | null)[]): MarkedHint[] {
  const bookings = new Set(busy)
  return hints.map((one) => {
    const begins = !bookings.has(one.hint.data.booking_id)
    bookings.add(one.hint.data.booking_id)
    return { ...one, begins }
  })
}

/** Returns the hints, in feed order, before the first that could begin but has no room. */
function upToRoom(hints: MarkedHint[], room: number): MarkedHint[] {
  const beginning = hints.filter(({ begins }) => begins)
  const first = beginning[room]
  return first === undefined ? hints : hints.slice(0, hints.indexOf(first))
}

/** Returns a webhook's new positions, or null. */
function newPositions(
  { webhook, clock }: Pick<SeenWebhook, 'webhook' | 'clock'>,
  created: NewHint[],
  hasReadNothing: boolean,
): Positions | null {
  if (created.length > 0) return positionsAfter(webhook, created)
  // After a restore, clocks are ahead of the feeds. A webhook that stayed behind could never be turned off.
  return hasReadNothing ? positionsAt(webhook, clock) : null
}

/** What a look for a webhook's hints has found. */
export interface Look {
  /** Number of attempts that were in progress in any process. */
  inFlight: number
  /** True if some of them are another process's. */
  hasOthers: boolean
  /** Number of attempts that have begun within the last second. */
  inLastSecond: number
  /** Number of attempts that may begin now, as far as the webhook is concerned. */
  begins: number
  /** True if the origin had too few turns for these attempts. */
  lacksTurns: boolean
  /** True if changes must wait in the feeds, because too many hints are waiting. */
  isOverfull: boolean
  /** True if further hints may be attempted or created. */
  hasMore: boolean
  /** True if a hint waits for an attempt for its booking to end. */
  hasBlockedHint: boolean
}

/** The states in which a look can leave a webhook. */
export type StateAfterLook = Idle | Due | Full | Blocked

/** Returns the state of a webhook once the attempts that a look has found have begun. */
export function stateAfterLook(look: Look): StateAfterLook {
  const rest = restAfterLook(look)
  return look.hasBlockedHint ? { is: 'blocked', rest } : rest
}

function restAfterLook(look: Look): Idle | Due | Full {
  const { inFlight, inLastSecond, begins } = look
  if (look.lacksTurns) return { is: 'full', of: 'turns' }
  if (look.isOverfull) return { is: 'full', of: 'hints' }
  if (look.hasOthers) return { is: 'full', of: 'others' }
  if (!look.hasMore) return { is: 'idle', isAttempting: inFlight > 0 }
  if (inLastSecond + begins >= maxPerSecondOfWebhook) return { is: 'full', of: 'rate' }
  if (inFlight + begins >= maxInFlight) return { is: 'full', of: 'attempts' }
  return { is: 'due' }
}
