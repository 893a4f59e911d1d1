import { DomainError } from '../core/errors.ts'
import type { Db, Session } from '../platform/mongo/connection.ts'
import { type Counter, type HostClock, hostClockModel } from './model.ts'

/** The position of a change among all changes of its host. */
export interface Tick {
  /** The booking version: `max(now, last + 1 s)`, so no two changes of a host share one. */
  version: Date
  sequence: number
  /** The version of the message that goes with the change; only where one was asked for. */
  messageVersion: Date | null
}

/** Queue of everything that advances a host's clock: writers of bookings, availability and messages. */
export function hostQueue(hostId: number): string {
  return `host/${hostId}`
}

/**
 * Gives a change its version, inside the change's own transaction. Two transactions of one host cannot both
 * advance the clock from the same state: the second starts over and advances it after the first. So the order of
 * versions is the order in which changes become visible, and a reader that has seen a version has seen
 * everything before it.
 *
 * @param withMessage a message is written along with it, see {@link nextMessageVersion}
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
 * Gives a message its version, by the same rule and with a counter of its own, so that messages never push the versions
 * of bookings ahead.
 */
export async function nextMessageVersion(db: Db, session: Session, hostId: number, now: Date): Promise<Date> {
  const clock = await advance(db, session, hostId, { counters: ['messages_last'], sequence: 0, now })
  return versionOf(clock, 'messages_last')
}

/** Gives several messages their versions, in their order; the first of them. */
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

/** Gives a change without a version its position among the host's changes, by the same rule. */
export async function nextSequence(db: Db, session: Session, hostId: number): Promise<number> {
  const advanced = await update(db, session, { _id: hostId }, { $inc: { sequence: 1 } })
  if (!advanced) throw noClock()
  return advanced.sequence
}

/** The version of the host's latest visible change; 1970 where nothing has changed yet. */
export async function readHostClock(db: Db, hostId: number, counter: Counter = 'last'): Promise<Date> {
  const clock = await findClock(db, hostId, { [counter]: 1 })
  return versionOf(clock ?? {}, counter)
}

/** False for a sandbox that was cleared. */
export async function hasClock(db: Db, hostId: number): Promise<boolean> {
  return (await findClock(db, hostId, { _id: 1 })) !== null
}

/** The latest version of any host. */
export async function readLatestVersion(db: Db): Promise<Date> {
  const latest = await hostClockModel(db).findOne({}, { last: 1 }).sort({ last: -1 }).lean()
  return versionOf(latest ?? {}, 'last')
}

/** Where a new clock starts: its versions come after these, in seconds since 1970. */
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
 * Moves the clocks of all hosts ahead, for what was lost in a restore.
 *
 * @param from where they go on at least, before they are moved
 * @returns how many there are, and what all of them are at least at
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
  /** How far the sequence moves. */
  sequence: 0 | 1
  now: Date
}

/**
 * Moves counters to the present, or a second on where they are there already. Which of the two is part of the update's
 * filter, because the update itself cannot choose; what is likely is tried first.
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

/** Counters last seen ahead of the present, as happens in a burst: decides which update to try first. */
const seenAhead = new Set<string>()
/** These are hints only: beyond this number they are dropped. */
const maxHints = 10_000

/** Every choice of counters that may be ahead of the present. */
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

/** Every host has a clock; a sandbox that was cleared in the middle of a request has lost it. */
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
