import { Schema } from 'mongoose'
import { type Db, modelOf, type Session } from './mongo.ts'

interface HostClock {
  _id: number
  /** The last version given out, in whole seconds since 1970. */
  last: number
  /** How many changes there were. */
  sequence: number
}

const schema = new Schema<HostClock>({
  _id: { type: Number, required: true },
  last: { type: Number, required: true },
  sequence: { type: Number, required: true },
})
schema.index({ last: -1 }, { name: 'clock_last' })

export const hostClockModel = modelOf<HostClock>('host_clocks', schema)

/** The place of one change among all changes of a host. */
export interface Tick {
  /** The booking version: `max(now, last + 1 s)`, so no two changes of a host share one. */
  version: Date
  sequence: number
}

/** Writers of a host's bookings and availability take turns: they move the same clock. */
export function hostQueue(hostId: number): string {
  return `host/${hostId}`
}

/** Hosts whose clock was last seen ahead of the time, as it is in a burst: tells which move to try first. */
const ahead = new Set<number>()
/** It is a hint only: beyond this it is forgotten. */
const mostHints = 10_000

/**
 * Gives a change its version, inside the change's own transaction. Two transactions of one host cannot both
 * move the clock from the same state: the second starts over and moves it after the first. So the order of
 * versions is the order in which changes become visible, and whoever has seen a version has seen
 * everything before it.
 */
export async function tickHostClock(db: Db, session: Session, hostId: number, now: Date): Promise<Tick> {
  const seconds = Math.floor(now.getTime() / 1000)
  const catchUp = () =>
    move(
      db,
      session,
      { _id: hostId, last: { $lt: seconds } },
      { $set: { last: seconds }, $inc: { sequence: 1 } },
    )
  const goAhead = () =>
    move(db, session, { _id: hostId, last: { $gte: seconds } }, { $inc: { last: 1, sequence: 1 } })
  const [likely, other] = ahead.has(hostId) ? [goAhead, catchUp] : [catchUp, goAhead]
  const moved = (await likely()) ?? (await other())
  if (!moved) throw new Error(`Host ${hostId} has no clock`)
  if (ahead.size >= mostHints) ahead.clear()
  if (moved.last > seconds) ahead.add(hostId)
  else ahead.delete(hostId)
  return { version: new Date(moved.last * 1000), sequence: moved.sequence }
}

/** Gives a change that has no version its place among the host's changes, by the same rule. */
export async function nextSequence(db: Db, session: Session, hostId: number): Promise<number> {
  const moved = await move(db, session, { _id: hostId }, { $inc: { sequence: 1 } })
  if (!moved) throw new Error(`Host ${hostId} has no clock`)
  return moved.sequence
}

/** The last version given out to a change of this host that is visible. */
export async function readHostClock(db: Db, hostId: number): Promise<Date> {
  const clock = await hostClockModel(db).findOne({ _id: hostId }, { last: 1 }).lean()
  return new Date((clock?.last ?? 0) * 1000)
}

/** The latest version given out to any host. */
export async function readLatestVersion(db: Db): Promise<Date> {
  const latest = await hostClockModel(db).findOne({}, { last: 1 }).sort({ last: -1 }).lean()
  return new Date((latest?.last ?? 0) * 1000)
}

/** Starts the clock of a new host. */
export async function startHostClock(db: Db, hostId: number): Promise<void> {
  await hostClockModel(db).create({ _id: hostId, last: 0, sequence: 0 })
}

function move(db: Db, session: Session, filter: object, change: object): Promise<HostClock | null> {
  return hostClockModel(db).findOneAndUpdate(filter, change, { session, new: true }).lean<HostClock>()
}
