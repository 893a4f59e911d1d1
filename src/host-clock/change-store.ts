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

/**
 * A change to a host's clock: counters that moved, a release of the host's held requests, an announcement that the host
 * or its keys have changed, or the clock's deletion.
 */
export type ClockChange =
  | {
      ownerId: number
      gone: false
      isRelease: boolean
      isKeyChange: boolean
      clock: Partial<Record<Counter, number>>
    }
  | { ownerId: number; gone: true }

/** Makes all processes respond to the requests that they hold for a host, whether or not anything has changed. */
export async function releaseHeld(db: Db, ownerId: number): Promise<void> {
  await hostClockModel(db).collection.updateOne({ _id: ownerId }, { $inc: { released: 1 } })
}

/**
 * Tells all processes that a host, or keys of it, have changed. The change must have been acknowledged before, so that a
 * process which reads the records after this announcement sees it.
 */
export async function announceKeyChange(db: Db, hostIds: number[]): Promise<void> {
  await hostClockModel(db).collection.updateMany({ _id: { $in: hostIds } }, { $inc: { key_changes: 1 } })
}

/** A stream of changes to all hosts' clocks. Each change has been acknowledged by a majority. */
export interface ClockStream {
  /**
   * Waits up to two seconds for the next change, and returns null if there is none. The first call opens the stream.
   *
   * @throws Error if the stream has ended
   */
  tryNext(): Promise<ClockChange | null>
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
      if (event) return toChange(event)
      // The driver would go on returning null at once, without asking the server.
      if (stream.closed) throw new Error('The change stream has ended')
      return null
    },
    close: () => stream.close(),
  }
}

interface ClockEvent {
  operationType: 'update' | 'replace' | 'delete'
  documentKey: { _id: number }
  updateDescription?: { updatedFields: Partial<HostClock> }
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
  const { released, key_changes } = updateDescription?.updatedFields ?? {}
  const isRelease = released !== undefined
  const isKeyChange = key_changes !== undefined
  return { ownerId, gone: false, isRelease, isKeyChange, clock }
}
