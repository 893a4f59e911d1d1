import type { Db, Session } from '../platform/mongo/connection.ts'
import { type HostClock, hostClockModel } from './model.ts'

/** The place of a change among all changes of its host. */
export interface Tick {
  /** The booking version: `max(now, last + 1 s)`, so no two changes of a host share one. */
  version: Date
  sequence: number
}

/** Queue of everything that writes a host's bookings or availability: these writers advance the same clock. */
export function hostQueue(hostId: number): string {
  return `host/${hostId}`
}

/** Hosts whose clock was last seen ahead of the present, as happens in a burst: decides which update to try first. */
const ahead = new Set<number>()
/** These are hints only: beyond this number they are dropped. */
const mostHints = 10_000

/**
 * Gives a change its version, inside the change's own transaction. Two transactions of one host cannot both
 * advance the clock from the same state: the second starts over and advances it after the first. So the order of
 * versions is the order in which changes become visible, and a reader that has seen a version has seen
 * everything before it.
 */
export async function advanceHostClock(db: Db, session: Session, hostId: number, now: Date): Promise<Tick> {
  const seconds = Math.floor(now.getTime() / 1000)
  const catchUp = () =>
    advance(
      db,
      session,
      { _id: hostId, last: { $lt: seconds } },
      { $set: { last: seconds }, $inc: { sequence: 1 } },
    )
  const goAhead = () =>
    advance(db, session, { _id: hostId, last: { $gte: seconds } }, { $inc: { last: 1, sequence: 1 } })
  const [likely, other] = ahead.has(hostId) ? [goAhead, catchUp] : [catchUp, goAhead]
  const advanced = (await likely()) ?? (await other())
  if (!advanced) throw new Error(`Host ${hostId} has no clock`)
  if (ahead.size >= mostHints) ahead.clear()
  if (advanced.last > seconds) ahead.add(hostId)
  else ahead.delete(hostId)
  return { version: new Date(advanced.last * 1000), sequence: advanced.sequence }
}

/** Gives a change without a version its place among the host's changes, by the same rule. */
export async function nextSequence(db: Db, session: Session, hostId: number): Promise<number> {
  const advanced = await advance(db, session, { _id: hostId }, { $inc: { sequence: 1 } })
  if (!advanced) throw new Error(`Host ${hostId} has no clock`)
  return advanced.sequence
}

/** The version of the host's latest visible change. */
export async function readHostClock(db: Db, hostId: number): Promise<Date> {
  const own = { _id: hostId } as never
  const clock = await hostClockModel(db).collection.findOne<HostClock>(own, { projection: { last: 1 } })
  return new Date((clock?.last ?? 0) * 1000)
}

/** The latest version of any host. */
export async function readLatestVersion(db: Db): Promise<Date> {
  const latest = await hostClockModel(db).findOne({}, { last: 1 }).sort({ last: -1 }).lean()
  return new Date((latest?.last ?? 0) * 1000)
}

/** Starts the clock of a new host; its versions come after `last`, in seconds since 1970. */
export async function startHostClock(db: Db, hostId: number, last = 0): Promise<void> {
  await hostClockModel(db).create({ _id: hostId, last, sequence: 0 })
}

function advance(db: Db, session: Session, filter: object, change: object): Promise<HostClock | null> {
  const options = { session, returnDocument: 'after' } as const
  return hostClockModel(db).collection.findOneAndUpdate(filter, change, options) as Promise<HostClock | null>
}
