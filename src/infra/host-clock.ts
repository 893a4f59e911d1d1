import { Schema } from 'mongoose'
import { type Db, modelOf, type Session } from './mongo.ts'

interface HostClock {
  _id: number
  /** The last version given out, in whole seconds since 1970. */
  last: number
  /** How many changes there were. */
  sequence: number
}

export const hostClockModel = modelOf<HostClock>(
  'host_clocks',
  new Schema<HostClock>({
    _id: { type: Number, required: true },
    last: { type: Number, required: true },
    sequence: { type: Number, required: true },
  }),
)

/** The place of one change among all changes of a host. */
export interface Tick {
  /** The booking version: `max(now, last + 1 s)`, so no two changes of a host share one. */
  version: Date
  sequence: number
}

/**
 * Gives a change its version, inside the change's own transaction. Two transactions of one host cannot both
 * move the clock from the same state: the second starts over and moves it after the first. So the order of
 * versions is the order in which changes become visible, and whoever has seen a version has seen
 * everything before it.
 */
export async function tickHostClock(db: Db, session: Session, hostId: number, now: Date): Promise<Tick> {
  const seconds = Math.floor(now.getTime() / 1000)
  const options = { session, new: true } as const
  const clocks = hostClockModel(db)
  const moved =
    (await clocks
      .findOneAndUpdate(
        { _id: hostId, last: { $lt: seconds } },
        { $set: { last: seconds }, $inc: { sequence: 1 } },
        options,
      )
      .lean()) ??
    (await clocks.findOneAndUpdate({ _id: hostId }, { $inc: { last: 1, sequence: 1 } }, options).lean())
  if (moved) return { version: new Date(moved.last * 1000), sequence: moved.sequence }
  await clocks.create([{ _id: hostId, last: seconds, sequence: 1 }], { session })
  return { version: new Date(seconds * 1000), sequence: 1 }
}
