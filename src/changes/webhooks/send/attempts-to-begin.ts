/**
 * A look for the hints of a host's webhooks: which attempts may begin. It reads the stored hints, then the feeds,
 * and then takes turns at the origin; what follows from each is decided without I/O (`storedCandidates`,
 * `allCandidates`, `chosenOf`).
 *
 * Stored hints come first. New hints are created from the feeds only while further attempts may begin, so that a
 * backlog stays in the feeds.
 */

import type { Db } from '../../../platform/mongo/connection.ts'
import type { Turn } from '../../../platform/outgoing/turns.ts'
import {
  type FoundHints,
  findHints,
  giveUpExpired,
  type HintToStore,
  type WaitingDelivery,
} from '../attempts-store.ts'
import type { Webhook } from '../model.ts'
import type { Positions } from '../store.ts'
import { type FeedPages, type NewHint, type NewHints, readNewHints } from './new-hints.ts'
import { type CountedAttempts, type DueWebhook, type Look, maxInFlight, type StoredFacts } from './state.ts'
import { maxPerSecondOfWebhook, type OriginContext, takeTurns } from './turns.ts'

/** Maximum number of waiting hints per webhook; further changes wait in the feeds. */
const maxWaiting = 10_000

/** A webhook whose hints are looked for, with this process's attempts to it. */
export type DueNow = DueWebhook & { attempts: CountedAttempts }

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
  /** What was found. */
  look: Look
}

/**
 * Chooses the attempts to begin for a host's webhooks. If the choice fails for one webhook, the others' turns must still
 * be given back, so the error is returned.
 */
export async function chooseAttempts(
  app: OriginContext & { db: Db },
  due: readonly DueNow[],
  now: Date,
): Promise<{ chosen: ChosenAttempts[]; error: unknown }> {
  const pages: FeedPages = new Map()
  const settled = await Promise.allSettled(due.map((seen) => chooseForWebhook(app, seen, now, pages)))
  const chosen = settled.filter((choice) => choice.status === 'fulfilled').map(({ value }) => value)
  const error = settled.find((choice) => choice.status === 'rejected')?.reason
  return { chosen, error }
}

async function chooseForWebhook(
  app: OriginContext & { db: Db },
  seen: DueNow,
  now: Date,
  pages: FeedPages,
): Promise<ChosenAttempts> {
  const { webhook, facts, clock, attempts } = seen
  const reads = {
    waiting: facts.waiting,
    ownInFlight: attempts.inFlight,
    hasDue: seen.hasDueHint,
    limit: maxInFlight + 1,
  }
  const found = await findHints(app.db, webhook, reads, now)
  // Once a sandbox's clock has passed their expiry, nothing else would end them, and their webhook would stay on.
  if (seen.hasDueHint && found.due.length === 0 && found.inFlight.size === 0)
    await giveUpExpired(app.db, webhook, now)
  const stored = storedCandidates(seen, found)
  const read = stored.mustReadFeeds
    ? await readNewHints(app.db, { webhook, clock }, pages)
    : nothingNew(facts)
  const candidates = allCandidates(stored, read)
  const turns = await takeTurns(app, webhook.url, candidates.begins)
  return chosenOf(candidates, turns)
}

/** The stored hints that may begin, as far as the webhook is concerned. */
export interface StoredCandidates {
  seen: DueNow
  found: FoundHints
  /** Number of attempts that may begin. */
  room: number
  /** The first hint of each booking. */
  startable: WaitingDelivery[]
  /** True if others are due for which there is no room. */
  hasMore: boolean
  /** True if others wait for an attempt for their booking to end. */
  isBlocked: boolean
  /** True if the feeds may have hints for which there is room. */
  mustReadFeeds: boolean
}

export function storedCandidates(seen: DueNow, found: FoundHints): StoredCandidates {
  const { facts, attempts, hasDueHint } = seen
  const { inFlight, due } = found
  const room = roomFor({ inFlight: inFlight.size, inLastSecond: attempts.inLastSecond })
  const startable = firstOfEachBooking(due.slice(0, room))
  const isBlocked = startable.length < Math.min(room, due.length) || (hasDueHint && due.length === 0)
  return {
    seen,
    found,
    room,
    startable,
    hasMore: due.length > room,
    isBlocked,
    mustReadFeeds: facts.isBehind && !isOverfull(facts) && startable.length < room,
  }
}

/** Returns the number of attempts that may begin, given the number in progress and that of the last second. */
export function roomFor({ inFlight, inLastSecond }: Pick<Look, 'inFlight' | 'inLastSecond'>): number {
  return Math.max(0, Math.min(maxInFlight - inFlight, maxPerSecondOfWebhook - inLastSecond))
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
export function isOverfull({ isBehind, waiting }: Pick<StoredFacts, 'isBehind' | 'waiting'>): boolean {
  return isBehind && waiting >= maxWaiting
}

/** What is known of the new hints while the feeds are not read. */
function nothingNew({ isBehind }: StoredFacts): NewHints {
  return { hints: [], mayBeMore: isBehind, emptyUntil: null }
}

/** The stored and the new hints that may begin, as far as the webhook is concerned. */
export interface Candidates {
  stored: StoredCandidates
  fresh: MarkedHint[]
  mayBeMore: boolean
  emptyUntil: Positions | null
  /** Number of attempts that may begin. */
  begins: number
}

/** A new hint that begins, or that waits because an attempt for its booking is in progress or begins before. */
type MarkedHint = NewHint & { begins: boolean }

/** Adds the new hints. One whose booking is being attempted must wait. */
export function allCandidates(
  stored: StoredCandidates,
  { hints, mayBeMore, emptyUntil }: NewHints,
): Candidates {
  const { found, startable, room } = stored
  const busy = [...found.inFlight.values(), ...startable.map(({ booking_id }) => booking_id)]
  const fresh = markBegins(hints, busy)
  const begins = Math.min(room, startable.length + fresh.filter((hint) => hint.begins).length)
  return { stored, fresh, mayBeMore, emptyUntil, begins }
}

/** @param busy bookings that have an attempt already */
function markBegins(hints: NewHint[], busy: (number | null)[]): MarkedHint[] {
  const bookings = new Set(busy)
  return hints.map((one) => {
    const begins = !bookings.has(one.hint.data.booking_id)
    bookings.add(one.hint.data.booking_id)
    return { ...one, begins }
  })
}

/** Chooses as many of the candidates as there are turns. Without enough turns, the stored hints come first. */
export function chosenOf(candidates: Candidates, turns: Turn[]): ChosenAttempts {
  const { fresh, mayBeMore, emptyUntil, begins } = candidates
  const { seen, found, startable, hasMore, isBlocked } = candidates.stored
  const { webhook, facts, attempts } = seen
  const stored = startable.slice(0, turns.length)
  const created = upToRoom(fresh, turns.length - stored.length)
  return {
    webhook,
    stored,
    created: created.map(({ hint, trace, begins }) => ({ webhook, hint, trace, begins })),
    turns,
    positions: created.at(-1)?.seen ?? emptyUntil,
    look: {
      inFlight: found.inFlight.size,
      hasOthers: found.inFlight.size > attempts.inFlight.size,
      inLastSecond: attempts.inLastSecond,
      begins,
      lacksTurns: turns.length < begins,
      isOverfull: isOverfull(facts),
      hasMore: hasMore || created.length < fresh.length || mayBeMore,
      hasBlockedHint: isBlocked || created.some((hint) => !hint.begins),
    },
  }
}

/** Returns the hints, in feed order, before the first that could begin but has no room. */
function upToRoom(hints: MarkedHint[], room: number): MarkedHint[] {
  const beginning = hints.filter(({ begins }) => begins)
  const first = beginning[room]
  return first === undefined ? hints : hints.slice(0, hints.indexOf(first))
}
