import { LRUCache } from 'lru-cache'
import { DomainError } from '../core/errors.ts'
import type { Db, Session } from '../platform/mongo/connection.ts'
import { batchedLookUp } from '../platform/mongo/look-up.ts'
import { findClocks } from './change-store.ts'
import { type Counter, type HostClock, hostClockModel } from './model.ts'

/** Where changes that were made together stand in their host's history. */
export interface Tick {
  /**
   * The version of the first change, `max(now, last + 1 s)`. Each of the other changes is one second later; see
   * {@link versionAt}.
   */
  firstVersion: Date
  /** The sequence of the first change. Each of the other changes is one higher. */
  firstSequence: number
  /** The version of the first message that accompanies the changes; meaningless if there is none. */
  firstMessageVersion: Date
  /** False if none of the host's guests was ever erased, so the bookings' guests need not be looked up again. */
  hasErasures: boolean
  /** Time at which a room's calendar was last read for the first time; null if none ever was. */
  calendarsAt: Date | null
}

/** Returns the version of the change at `index` among changes that were made together. */
export function versionAt(first: Date, index: number): Date {
  return new Date(first.getTime() + index * 1000)
}

/** Returns the name of the queue for all writes that advance a host's clock, such as bookings and availability. */
export function hostQueue(ownerId: number): string {
  return `host/${ownerId}`
}

/**
 * Assigns a version to each of several changes, inside their own transaction. If two transactions advance a host's clock
 * concurrently, the second starts over and advances the clock after the first. Versions therefore follow the order in
 * which changes become visible, and a reader that has seen a version has seen everything before it.
 */
export async function advanceHostClock(
  db: Db,
  session: Session,
  ownerId: number,
  { now, changes, messages = 0 }: NextChanges,
): Promise<Tick> {
  const counters = { last: changes, ...(messages > 0 ? { messages_last: messages } : {}) }
  const clock = await advance(db, session, ownerId, { counters, sequence: changes, now })
  return {
    firstVersion: versionOf(clock, 'last', changes - 1),
    firstSequence: clock.sequence - (changes - 1),
    firstMessageVersion: versionOf(clock, 'messages_last', messages - 1),
    hasErasures: clock.erasures !== 0,
    calendarsAt: clock.calendars_at ?? null,
  }
}

/** Changes that take the next versions of their host's clock. */
interface NextChanges {
  now: Date
  /** Number of changes, at least 1. */
  changes: number
  /** Number of messages that accompany them. They get versions of their own; see {@link nextMessageVersions}. */
  messages?: number
}

/**
 * Assigns consecutive versions to `count` messages by the same rule as {@link advanceHostClock}, but from a separate
 * counter, so that messages never push booking versions ahead. Returns the first version; see {@link versionAt}.
 */
export async function nextMessageVersions(
  db: Db,
  session: Session,
  ownerId: number,
  { now, count }: { now: Date; count: number },
): Promise<Date> {
  const clock = await advance(db, session, ownerId, { counters: { messages_last: count }, sequence: 0, now })
  return versionOf(clock, 'messages_last', count - 1)
}

/** Advances the host's sequence of changes for a change without a version, and returns the change's position. */
export async function nextSequence(db: Db, session: Session, ownerId: number): Promise<number> {
  return (await update(db, session, ownerId, { $inc: { sequence: 1 } })).sequence
}

/** Where a change without a version stands in its host's history. */
export interface Position {
  sequence: number
  /** The version of the host's newest booking; null without bookings. */
  newestVersion: Date | null
  /** Later than `newestVersion` if versions were moved ahead since. A partner may know versions up to this one. */
  lastVersion: Date
}

/**
 * Like {@link nextSequence}, but also returns the host's latest versions, which the same document holds, so that they
 * cost no query.
 */
export async function nextPosition(db: Db, session: Session, ownerId: number): Promise<Position> {
  const clock = await update(db, session, ownerId, { $inc: { sequence: 1 } })
  return {
    sequence: clock.sequence,
    newestVersion: newestVersionOf(clock),
    lastVersion: versionOf(clock, 'last'),
  }
}

/** Returns the version of the host's newest booking, which `last` is unless it was skipped to; null without bookings. */
function newestVersionOf({ last, skipped_to = 0, skipped_from = 0 }: HostClock): Date | null {
  const newest = last === skipped_to ? skipped_from : last
  return newest > 0 ? new Date(newest * 1000) : null
}

/** A moment in a host's history without a version of its own. */
export interface Moment {
  /** Position among the host's changes. */
  sequence: number
  /** Later than every booking version that the host has at this position, and not before the current time. */
  at: Date
}

/**
 * Advances the host's sequence for a reading of a calendar that changes nights. Whoever counts units after a later
 * advance sees its blocks, and it sees every earlier booking.
 *
 * @param isFirst true if the room's calendar was never read before, so that bookings under way may not know of it
 */
export async function nextMoment(
  db: Db,
  session: Session,
  ownerId: number,
  { now, isFirst }: { now: Date; isFirst: boolean },
): Promise<Moment> {
  const noted = isFirst ? { $max: { calendars_at: now } } : {}
  const { sequence, last } = await update(db, session, ownerId, { $inc: { sequence: 1 }, ...noted })
  return { sequence, at: new Date(Math.max(now.getTime(), last * 1000 + 1)) }
}

/** Counts a guest's erasure in the host's clock when the erasure starts. */
export async function countErasure(db: Db, session: Session, ownerId: number): Promise<void> {
  await update(db, session, ownerId, { $inc: { sequence: 1, erasures: 1 } })
}

/** Returns the host's latest visible booking or message version; 1970 if there is none. */
export async function readHostClock(db: Db, ownerId: number, counter: Counter = 'last'): Promise<Date> {
  const clock = await findClock(db, ownerId)
  return versionOf(clock ?? {}, counter)
}

/** Returns true if the host has a clock. A cleared sandbox has none. */
export async function hasClock(db: Db, ownerId: number): Promise<boolean> {
  return (await findClock(db, ownerId)) !== null
}

/** Returns the latest booking version across all hosts. */
export async function readLatestVersion(db: Db): Promise<Date> {
  const latest = await hostClockModel(db).findOne({}, { last: 1 }).sort({ last: -1 }).lean()
  return versionOf(latest ?? {}, 'last')
}

/** Starting values of a new clock, in seconds since 1970. Every version that the clock assigns is later. */
export type ClockStart = Pick<HostClock, Counter>

/** Creates the clock of a new host. */
export async function startHostClock(
  db: Db,
  ownerId: number,
  start: ClockStart = { last: 0, messages_last: 0 },
): Promise<void> {
  const skipped = { skipped_to: start.last, skipped_from: 0 }
  await hostClockModel(db).create({ _id: ownerId, ...start, ...skipped, sequence: 0, erasures: 0 })
}

/**
 * Moves all hosts' clocks ahead, past the versions that were lost in a restore.
 *
 * @param from time to which any clock behind it is raised before all clocks are moved ahead
 * @returns the number of clocks, and the lowest booking version that any clock has afterwards
 */
export async function moveClocksAhead(
  db: Db,
  from: Date,
  seconds: number,
): Promise<{ clocks: number; last: Date }> {
  const { collection } = hostClockModel(db)
  const present = Math.floor(from.getTime() / 1000)
  let clocks = 0
  let lowest = Number.POSITIVE_INFINITY
  for await (const clock of collection.find<HostClock>({}, { batchSize: clocksPerBatch })) {
    const last = Math.max(clock.last, present) + seconds
    const messages_last = Math.max(clock.messages_last ?? 0, present) + seconds
    const skipped_from = (newestVersionOf(clock)?.getTime() ?? 0) / 1000
    const moved = { last, messages_last, skipped_to: last, skipped_from }
    await collection.updateOne({ _id: clock._id }, { $set: moved })
    clocks += 1
    lowest = Math.min(lowest, last)
  }
  return { clocks, last: new Date((clocks === 0 ? present + seconds : lowest) * 1000) }
}

/** Number of clocks that are read in one round trip. */
const clocksPerBatch = 1000

interface Advance {
  /** Number of versions that each counter assigns, at least 1. */
  counters: Partial<Record<Counter, number>>
  /** Amount by which the sequence is raised. */
  sequence: number
  now: Date
}

/**
 * Raises each counter to the last of the versions that it assigns. The first version is the current second or, if the
 * counter has already reached the current second, one second after the counter's value.
 *
 * One statement is enough if it is known beforehand which counters lie behind the current second, as those of a quiet
 * host do: its filter says what is supposed of each counter, so that it changes nothing if that is wrong. A wrong
 * supposition costs a statement that takes no lock; the next one then takes it, and fails if another transaction has
 * advanced the clock since this one began. Raising every clock to the current second first would be as simple, but on a
 * busy host the transaction of a booking would take 1.1 times as long.
 */
async function advance(
  db: Db,
  session: Session,
  ownerId: number,
  { counters, sequence, now }: Advance,
): Promise<HostClock> {
  const present = Math.floor(now.getTime() / 1000)
  const supposed = supposeBehind(seenClocksOf(db).get(ownerId), { counters, sequence }, present)
  if (supposed) {
    const filter = { _id: ownerId, ...supposed.filter }
    const clock = await updateIf(db, session, filter, supposed.change)
    if (clock) return clock
  }
  return advanceUnknown(db, session, ownerId, { counters, sequence, now })
}

/** A change to a clock and the filter under which it is right. */
interface Supposition {
  filter: object
  change: object
}

/**
 * Returns the change that is right if the counters stand where this process last saw them, or null if none of them lay
 * behind the present second. Every counter of a clock that was never seen is supposed to be behind.
 */
function supposeBehind(
  seen: SeenClock | undefined,
  { counters, sequence }: Pick<Advance, 'counters' | 'sequence'>,
  present: number,
): Supposition | null {
  const filter: Record<string, object> = {}
  const raised: Partial<Record<Counter, number>> = {}
  const increased: Partial<Record<Counter, number>> = {}
  for (const [counter, amount] of Object.entries(counters) as [Counter, number][]) {
    const isBehind = (seen?.[counter] ?? 0) < present
    filter[counter] = isBehind ? { $lt: present } : { $gte: present }
    if (isBehind) raised[counter] = present + amount - 1
    else increased[counter] = amount
  }
  if (Object.keys(raised).length === 0) return null
  return { filter, change: { $set: raised, $inc: { ...increased, sequence } } }
}

/** Like {@link advance}, but supposes nothing. One statement is enough if no counter lies behind the current second. */
async function advanceUnknown(
  db: Db,
  session: Session,
  ownerId: number,
  { counters, sequence, now }: Advance,
): Promise<HostClock> {
  const clock = await update(db, session, ownerId, {
    $inc: {
      // If this breaks: two changes of a host get the same version
      ...counters,
      sequence,
    },
  })
  const behind = countersBehind(clock, counters, Math.floor(now.getTime() / 1000))
  if (Object.keys(behind).length === 0) return clock
  return update(db, session, ownerId, { $set: behind })
}

/** Returns the counters whose first new version is before the current second, each with the value that corrects it. */
function countersBehind(
  clock: HostClock,
  counters: Advance['counters'],
  seconds: number,
): Partial<Record<Counter, number>> {
  const behind: Partial<Record<Counter, number>> = {}
  for (const [counter, amount] of Object.entries(counters) as [Counter, number][]) {
    const least = seconds + amount - 1
    if (clock[counter] < least) behind[counter] = least
  }
  return behind
}

/** Returns a counter's latest version or, if `before` is given, the version that many versions earlier. */
function versionOf(clock: Partial<HostClock>, counter: Counter, before = 0): Date {
  return new Date(((clock[counter] ?? 0) - before) * 1000)
}

/**
 * Updates a host's clock and returns it.
 *
 * @throws DomainError `conflict` with a retry time if the host has no clock, which can only be a sandbox that was cleared
 * during the request
 */
async function update(db: Db, session: Session, ownerId: number, change: object): Promise<HostClock> {
  const clock = await updateIf(db, session, { _id: ownerId }, change)
  if (!clock) throw new DomainError('conflict', 'The sandbox was cleared in the meantime; try again', [], 1)
  return clock
}

/** Updates the clock that the filter matches and returns it; returns null, and changes nothing, if it matches none. */
async function updateIf(
  db: Db,
  session: Session,
  filter: Pick<HostClock, '_id'>,
  change: object,
): Promise<HostClock | null> {
  const options = { session, returnDocument: 'after' } as const
  const { collection } = hostClockModel(db)
  const clock = (await collection.findOneAndUpdate(filter, change, options)) as HostClock | null
  if (clock) seenClocksOf(db).set(clock._id, { last: clock.last, messages_last: clock.messages_last })
  return clock
}

/** A clock as this process last saw it, perhaps in a transaction that was never committed. */
type SeenClock = Pick<HostClock, Counter>

/**
 * The clocks of each database that this process saw last: a reason to suppose where they stand, and never more, because
 * other processes advance them too.
 */
const seenClocks = new WeakMap<Db, LRUCache<number, SeenClock>>()
const maxSeenClocks = 10_000

function seenClocksOf(db: Db): LRUCache<number, SeenClock> {
  const ofDb = seenClocks.get(db) ?? new LRUCache<number, SeenClock>({ max: maxSeenClocks })
  seenClocks.set(db, ofDb)
  return ofDb
}

const lookUpClock = batchedLookUp<Pick<HostClock, '_id'>, HostClock>(
  (db, keys) =>
    findClocks(
      db,
      keys.map(({ _id }) => _id),
    ),
  ({ _id }) => _id,
)

function findClock(db: Db, ownerId: number): Promise<HostClock | null> {
  return lookUpClock(db, { _id: ownerId })
}
