import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import { BufferedWriter } from '../platform/buffered-writer.ts'
import type {
  FeedRead,
  KeyActivity,
  Reader,
  ReaderPosition,
  ReaderPositions,
  ReadFeed,
  StoredActivity,
  StoredReader,
} from './key-activity.ts'
import {
  type ActivityStorage,
  keptRefusals,
  refusalMilliseconds,
  type Unwritten,
  type UnwrittenOutcomes,
  type UnwrittenRead,
} from './stored-fields.ts'

const flushEveryMilliseconds = 2000
/** Maximum number of positions that a process remembers, to write only those that move. */
const maxRemembered = 10_000

/**
 * Notes in memory how far each key has read the feeds and how its writes end, and writes it every two seconds, so that no
 * request waits for it. Without it, a partner who has stopped reading, or whose every push is refused, would look like a
 * host without changes (decisions §28 and §29).
 */
export class ActivityTracker implements KeyActivity {
  private readonly writer: BufferedWriter<Map<number, Unwritten>>
  /** The version last noted for each reader and feed, in milliseconds since 1970. An idle poller writes only its time. */
  private readonly noted = new LRUCache<string, number>({ max: maxRemembered })

  constructor(
    private readonly storage: ActivityStorage,
    log: Logger,
  ) {
    this.writer = new BufferedWriter({
      milliseconds: flushEveryMilliseconds,
      newBatch: () => new Map(),
      write: (activity) => storage.write(activity),
      log,
      failureMessage: 'Cannot write what the keys have read and written',
    })
  }

  noteRead(reader: Reader, feed: ReadFeed, { version, at, isAhead }: FeedRead): void {
    const id = this.storage.idOf(reader)
    const moved = version !== null && this.isNew(`${id}/${feed}`, version) ? version : null
    this.keepRead(id, feed, {
      version: moved,
      soundAt: isAhead ? null : at,
      ahead: isAhead ? { since: at, at } : null,
    })
  }

  noteWrite(reader: Reader, operationId: string, { isRefused, at }: { isRefused: boolean; at: Date }): void {
    this.keepOutcomes(this.storage.idOf(reader), operationId, {
      succeededAt: isRefused ? null : at,
      refusals: isRefused ? [at] : [],
      forgetBefore: new Date(at.getTime() - refusalMilliseconds),
    })
  }

  async find(readers: StoredReader[]): Promise<StoredActivity[]> {
    const stored = await this.storage.find(readers)
    return readers.map((reader, index) => this.withOwnReads(reader, stored[index] as StoredActivity))
  }

  flush(): Promise<void> {
    return this.writer.flush()
  }

  close(): Promise<void> {
    return this.writer.close()
  }

  private isNew(name: string, version: Date): boolean {
    if (version.getTime() <= (this.noted.get(name) ?? -1)) return false
    this.noted.set(name, version.getTime())
    return true
  }

  private unwrittenOf(id: number): Unwritten {
    const activity = this.writer.next()
    const known = activity.get(id)
    if (known) return known
    const fresh: Unwritten = { reads: new Map(), writes: new Map() }
    activity.set(id, fresh)
    return fresh
  }

  /** Joins a read with the reader's other unwritten reads. */
  private keepRead(id: number, feed: ReadFeed, read: UnwrittenRead): void {
    const { reads } = this.unwrittenOf(id)
    const known = reads.get(feed)
    reads.set(feed, known ? joined(known, read) : read)
  }

  /** Joins outcomes of an operation with the key's other unwritten outcomes. */
  private keepOutcomes(id: number, operationId: string, later: UnwrittenOutcomes): void {
    const { writes } = this.unwrittenOf(id)
    const known = writes.get(operationId)
    if (!known) {
      writes.set(operationId, later)
      return
    }
    const succeededAt = latest(known.succeededAt, later.succeededAt)
    const earlier = known.refusals.filter((at) => later.succeededAt === null || at > later.succeededAt)
    const refusals = [...earlier, ...later.refusals].slice(0, keptRefusals)
    writes.set(operationId, { succeededAt, refusals, forgetBefore: later.forgetBefore })
  }

  /**
   * Adds the reads that this process has not written yet, so that somebody who has just read a feed is not told that they
   * never did. Reads that were written just after the stored activity was read are added too; that changes nothing if
   * they are stored already.
   */
  private withOwnReads(reader: Reader, { positions, writes }: StoredActivity): StoredActivity {
    const id = this.storage.idOf(reader)
    const own: ReaderPositions = { bookings: positions.bookings, messages: positions.messages }
    for (const activity of this.writer.recent())
      for (const [feed, read] of activity.get(id)?.reads ?? []) own[feed] = advanced(own[feed], read)
    return { positions: own, writes }
  }
}

/** Joins two unwritten reads, of which `later` came later. */
function joined(known: UnwrittenRead, later: UnwrittenRead): UnwrittenRead {
  const version = latest(known.version, later.version)
  const soundAt = latest(known.soundAt, later.soundAt)
  if (later.soundAt) return { version, soundAt, ahead: later.ahead }
  const ahead = later.ahead && { since: known.ahead?.since ?? later.ahead.since, at: later.ahead.at }
  return { version, soundAt, ahead: ahead ?? known.ahead }
}

/** Returns the position after a read, as {@link activityUpdates} would store it. */
function advanced(position: ReaderPosition | null, read: UnwrittenRead): ReaderPosition {
  const { soundAt, ahead } = read
  let aheadSince = position?.aheadSince ?? null
  const knownAt = position?.at.getTime() ?? 0
  if (soundAt && soundAt.getTime() >= knownAt) aheadSince = null
  if (ahead && ahead.at.getTime() >= knownAt) aheadSince ??= ahead.since
  const known = position?.version ?? null
  const hasMoved = read.version !== null && (known === null || known < read.version)
  return {
    version: hasMoved ? read.version : known,
    at: latest(latest(position?.at ?? null, soundAt), ahead?.at ?? null) as Date,
    movedAt: hasMoved ? soundAt : (position?.movedAt ?? null),
    soundAt: latest(position?.soundAt ?? null, soundAt),
    aheadSince,
  }
}

function latest(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other
  return one > other ? one : other
}
