import type { Db } from '../platform/mongo/connection.ts'
import { type Counter, type HostClock, hostClockModel } from './model.ts'

/** Returns the clocks of the given hosts, skipping hosts that have no clock. */
export async function findClocks(db: Db, hostIds: number[]): Promise<HostClock[]> {
  const found: HostClock[] = []
  for (let start = 0; start < hostIds.length; start += clocksPerQuery) {
    const _id = { $in: hostIds.slice(start, start + clocksPerQuery) }
    found.push(...(await hostClockModel(db).collection.find<HostClock>({ _id }).toArray()))
  }
  return found
}

const clocksPerQuery = 1000

/** A change to a host's clock: counters that moved, a release of the host's held requests, or the clock's deletion. */
export type ClockChange =
  | { ownerId: number; gone: false; isRelease: boolean; clock: Partial<Record<Counter, number>> }
  | { ownerId: number; gone: true }

/** Makes all processes respond to the requests that they hold for a host, whether or not anything has changed. */
export async function releaseHeld(db: Db, ownerId: number): Promise<void> {
  await hostClockModel(db).collection.updateOne({ _id: ownerId }, { $inc: { released: 1 } })
}

/** A stream of changes to all hosts' clocks. Each change has been acknowledged by a majority. */
export interface ClockStream {
  /** Opens the stream and returns the next change, or null if there is none yet. */
  tryNext(): Promise<ClockChange | null>
  /** Waits for the next change. */
  next(): Promise<ClockChange>
  close(): Promise<void>
}

/** Time that the server waits for a change before it responds; shorter than any operation's time limit. */
const streamWaitMilliseconds = 2000

/** Watches the clocks of all hosts. No change is missed as long as the driver can resume the stream. */
export function watchClocks(db: Db): ClockStream {
  const interesting = [{ $match: { operationType: { $in: ['update', 'replace', 'delete'] } } }]
  const stream = hostClockModel(db).collection.watch<HostClock, ClockEvent>(interesting, {
    maxAwaitTimeMS: streamWaitMilliseconds,
  })
  return {
    async tryNext() {
      const event = await stream.tryNext()
      return event ? toChange(event) : null
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
  const ownerId = documentKey._id
  if (operationType === 'delete') return { ownerId, gone: true }
  const { last, messages_last } = fullDocument ?? updateDescription?.updatedFields ?? {}
  const clock = {
    ...(last === undefined ? {} : { last }),
    ...(messages_last === undefined ? {} : { messages_last }),
  }
  return { ownerId, gone: false, isRelease: updateDescription?.updatedFields.released !== undefined, clock }
}
