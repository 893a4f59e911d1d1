import { DomainError } from '../core/errors.ts'
import type { Db, Session } from '../platform/mongo/connection.ts'
import { type Counter, type HostClock, hostClockModel } from './model.ts'

/** The position of a change among all changes of its host. */
export interface Tick {
  /** The booking version, `max(now, last + 1 s)`, unique among the host's changes. */
  version: Date
  sequence: number
  /** Version of the message that accompanies the change; null unless requested. */
  messageVersion: Date | null
}

/** Returns the name of the queue for all writers that advance a host's clock: bookings, availability and messages. */
export function hostQueue(hostId: number): string {
  return `host/${hostId}`
}

/**
 * Assigns a change its version, inside the change's own transaction. Two transactions of one host cannot both advance
 * the clock from the same state, because the second starts over and advances it after the first. Versions therefore
 * have the order in which changes become visible, and a reader that has seen a version has seen everything before it.
 *
 * @param withMessage true if the change also writes a message, which then gets its own version, see
 * {@link nextMessageVersion}
 */
export async function advanceHostClock(
  db: Db,
  session: Session,
  hostId: number,
  now: Date,
  withMessage = false,
): Promise<Tick> {
  const counters: Counter[] = withMessage ? ['last', 'messages_last'] : ['last']
  const clock = await advance(db, session, hostId, { counters, sequence: 1, now })
  const messageVersion = withMessage ? versionOf(clock, 'messages_last') : null
  return { version: versionOf(clock, 'last'), sequence: clock.sequence, messageVersion }
}

/**
 * Assigns a message its version by the same rule, but from a separate counter, so that messages never push booking
 * versions ahead.
 */
export async function nextMessageVersion(db: Db, session: Session, hostId: number, now: Date): Promise<Date> {
  const clock = await advance(db, session, hostId, { counters: ['messages_last'], sequence: 0, now })
  return versionOf(clock, 'messages_last')
}

/** Assigns `count` messages consecutive versions, one second apart, and returns the first version. */
export async function nextMessageVersions(
  db: Db,
  session: Session,
  hostId: number,
  now: Date,
  count: number,
): Promise<Date> {
  const first = await nextMessageVersion(db, session, hostId, now)
  if (count > 1) await update(db, session, { _id: hostId }, { $inc: { messages_last: count - 1 } })
  return first
}

/** Assigns a change without a version its position in the host's sequence of changes. */
export async function nextSequence(db: Db, session: Session, hostId: number): Promise<number> {
  const advanced = await update(db, session, { _id: hostId }, { $inc: { sequence: 1 } })
  if (!advanced) throw noClock()
  return advanced.sequence
}

/** Returns the version of the host's latest visible change; 1970 if nothing has changed yet. */
export async function readHostClock(db: Db, hostId: number, counter: Counter = 'last'): Promise<Date> {
  const clock = await findClock(db, hostId, { [counter]: 1 })
  return versionOf(clock ?? {}, counter)
}

/** Returns whether the host has a clock. A cleared sandbox has none. */
export async function hasClock(db: Db, hostId: number): Promise<boolean> {
  return (await findClock(db, hostId, { _id: 1 })) !== null
}

/** Returns the latest booking version of all hosts. */
export async function readLatestVersion(db: Db): Promise<Date> {
  const latest = await hostClockModel(db).findOne({}, { last: 1 }).sort({ last: -1 }).lean()
  return versionOf(latest ?? {}, 'last')
}

/** Starting values of a new clock, in seconds since 1970. Every version that the clock assigns is later. */
export type ClockStart = Pick<HostClock, Counter>

/** Starts the clock of a new host. */
export async function startHostClock(
  db: Db,
  hostId: number,
  start: ClockStart = { last: 0, messages_last: 0 },
): Promise<void> {
  await hostClockModel(db).create({ _id: hostId, ...start, sequence: 0 })
}

/**
 * Moves all hosts' clocks ahead, past the versions that were lost in a restore.
 *
 * @param from time to which a clock that is behind is raised before it is moved ahead
 * @returns the number of clocks, and the lowest booking version that any clock has afterwards
 */
export async function moveClocksAhead(
  db: Db,
  from: Date,
  seconds: number,
): Promise<{ clocks: number; last: Date }> {
  const { collection } = hostClockModel(db)
  const present = Math.floor(from.getTime() / 1000)
  await collection.updateMany({}, { $max: { last: present, messages_last: present } })
  const ahead = { $inc: { last: seconds, messages_last: seconds } }
  const { matchedCount: clocks } = await collection.updateMany({}, ahead)
  const first = await hostClockModel(db).findOne({}, { last: 1 }).sort({ last: 1 }).lean()
  return { clocks, last: versionOf(first ?? { last: present + seconds }, 'last') }
}

interface Advance {
  counters: Counter[]
  /** Amount by which the sequence is raised. */
  sequence: 0 | 1
  now: Date
}

/**
 * Moves counters to the present, or one second ahead if they have already reached it. Each case is a separate update
 * whose filter checks the case, because an update itself cannot branch. The likeliest case is tried first.
 */
async function advance(
  db: Db,
  session: Session,
  hostId: number,
  { counters, sequence, now }: Advance,
): Promise<HostClock> {
  const seconds = Math.floor(now.getTime() / 1000)
  for (const ahead of likelyFirst(hostId, counters)) {
    const behind = counters.filter((counter) => !ahead.includes(counter))
    const filter = {
      _id: hostId,
      ...fill(behind, { $lt: seconds }),
      ...fill(ahead, { $gte: seconds }),
    }
    const change = {
      ...(behind.length > 0 ? { $set: fill(behind, seconds) } : {}),
      ...(ahead.length + sequence > 0
        ? { $inc: { ...fill(ahead, 1), ...(sequence ? { sequence } : {}) } }
        : {}),
    }
    const advanced = await update(db, session, filter, change)
    if (!advanced) continue
    remember(hostId, advanced, counters, seconds)
    return advanced
  }
  throw noClock()
}

function fill<T>(counters: Counter[], value: T): Partial<Record<Counter, T>> {
  return Object.fromEntries(counters.map((counter) => [counter, value]))
}

/** Counters last seen ahead of the present, as happens in a burst. They decide which update is tried first. */
const seenAhead = new Set<string>()
/** Number of hints at which all of them are dropped, because a missing hint only costs an extra attempt. */
const maxHints = 10_000

/** Returns every subset of the counters that may be ahead of the present, likeliest first. */
function likelyFirst(hostId: number, counters: Counter[]): Counter[][] {
  const choices = counters.reduce<Counter[][]>(
    (made, counter) => made.flatMap((choice) => [choice, [...choice, counter]]),
    [[]],
  )
  const surprise = (choice: Counter[]) =>
    counters.filter((counter) => choice.includes(counter) !== seenAhead.has(hintOf(hostId, counter))).length
  return choices.sort((one, other) => surprise(one) - surprise(other))
}

function remember(hostId: number, clock: HostClock, counters: Counter[], seconds: number): void {
  if (seenAhead.size >= maxHints) seenAhead.clear()
  for (const counter of counters) {
    if ((clock[counter] ?? 0) > seconds) seenAhead.add(hintOf(hostId, counter))
    else seenAhead.delete(hintOf(hostId, counter))
  }
}

function hintOf(hostId: number, counter: Counter): string {
  return `${hostId}/${counter}`
}

function versionOf(clock: Partial<HostClock>, counter: Counter): Date {
  return new Date((clock[counter] ?? 0) * 1000)
}

/** Returns the error for a host without a clock. Only a sandbox cleared in the middle of a request has none. */
function noClock(): DomainError {
  return new DomainError('conflict', 'The sandbox was cleared meanwhile; try again', [], 1)
}

function findClock(db: Db, hostId: number, projection: object): Promise<HostClock | null> {
  return hostClockModel(db).collection.findOne<HostClock>({ _id: hostId } as never, { projection })
}

function update(db: Db, session: Session, filter: object, change: object): Promise<HostClock | null> {
  const options = { session, returnDocument: 'after' } as const
  return hostClockModel(db).collection.findOneAndUpdate(filter, change, options) as Promise<HostClock | null>
}
