import type { Db } from '../platform/mongo/connection.ts'
import { type Counter, type HostClock, hostClockModel } from './model.ts'

/** The clocks of these hosts. */
export async function findClocks(db: Db, hostIds: number[]): Promise<HostClock[]> {
  const found: HostClock[] = []
  for (let start = 0; start < hostIds.length; start += clocksPerQuery) {
    const _id = { $in: hostIds.slice(start, start + clocksPerQuery) }
    found.push(...(await hostClockModel(db).find({ _id }).lean()))
  }
  return found
}

const clocksPerQuery = 1000

/** A change of a host's clock: the counters that moved, that what is held is let go of, or its end. */
export type ClockChange =
  | { hostId: number; gone: false; isRelease: boolean; clock: Partial<Record<Counter, number>> }
  | { hostId: number; gone: true }

/** Has all processes answer what they hold for a host, whether or not anything has changed. */
export async function releaseHeld(db: Db, hostId: number): Promise<void> {
  await hostClockModel(db).collection.updateOne({ _id: hostId } as never, { $inc: { released: 1 } })
}

/** The changes of all hosts' clocks, as they are acknowledged by a majority. */
export interface ClockStream {
  /** The next change if there is one already; opens the stream. */
  tryNext(): Promise<ClockChange | null>
  /** Waits for the next change. */
  next(): Promise<ClockChange>
  close(): Promise<void>
}

/** How long the server holds a question for more; less than the time in which any operation must be answered. */
const streamWaitMilliseconds = 2000

/** Watches the clocks of all hosts; a change that a driver can resume after is missed by nobody. */
export function watchClocks(db: Db): ClockStream {
  const interesting = [{ $match: { operationType: { $in: ['update', 'replace', 'delete'] } } }]
  const stream = hostClockModel(db).collection.watch<HostClock, ClockEvent>(interesting, {
    maxAwaitTimeMS: streamWaitMilliseconds,
  })
  return {
    async tryNext() {
      const event = await stream.tryNext()
      return event && toChange(event)
    },
    next: async () => toChange(await stream.next()),
    close: () => stream.close(),
  }
}

interface ClockEvent {
  operationType: 'update' | 'replace' | 'delete'
  documentKey: { _id: number }
  updateDescription?: { updatedFields: Partial<HostClock> & { released?: number } }
  fullDocument?: HostClock
}

function toChange({ operationType, documentKey, updateDescription, fullDocument }: ClockEvent): ClockChange {
  const hostId = documentKey._id
  if (operationType === 'delete') return { hostId, gone: true }
  const { last, messages_last } = fullDocument ?? updateDescription?.updatedFields ?? {}
  const clock = {
    ...(last === undefined ? {} : { last }),
    ...(messages_last === undefined ? {} : { messages_last }),
  }
  return { hostId, gone: false, isRelease: updateDescription?.updatedFields.released !== undefined, clock }
}
