import type { Logger } from 'pino'
import type { ReadStorage, UnwrittenReads } from '../../access/keys/feed-reads.ts'
import type {
  FeedRead,
  FeedReads,
  Reader,
  ReaderPositions,
  ReadFeed,
  StoredReader,
} from '../../http/context.ts'

const flushEveryMilliseconds = 2000
/** Maximum number of positions that a process remembers, to write only those that move. */
const maxRemembered = 10_000

/**
 * Notes in memory how far each key has read the feeds, and writes it every two seconds, so that no read of a feed waits
 * for a write. Without it, a partner who has stopped reading would look like a host without changes (decisions §28 and
 * §29).
 */
export class ReadTracker implements FeedReads {
  private unwritten = new Map<number, UnwrittenReads>()
  /** The version last noted for each reader and feed, in milliseconds since 1970. An idle poller writes only its time. */
  private readonly noted = new Map<string, number>()
  private readonly flusher: ReturnType<typeof setInterval>

  constructor(
    private readonly storage: ReadStorage,
    private readonly log: Logger,
  ) {
    this.flusher = setInterval(() => this.flush(), flushEveryMilliseconds)
    this.flusher.unref()
  }

  note(reader: Reader, feed: ReadFeed, { version, at }: FeedRead): void {
    const id = this.storage.idOf(reader)
    const moved = version !== null && this.isNew(`${id}/${feed}`, version) ? version : null
    this.keep(id, feed, { version: moved, at })
  }

  find(readers: StoredReader[]): Promise<ReaderPositions[]> {
    return this.storage.find(readers)
  }

  async flush(): Promise<void> {
    const reads = this.unwritten
    if (reads.size === 0) return
    this.unwritten = new Map()
    try {
      await this.storage.write(reads)
    } catch (error) {
      this.log.warn({ error: String(error) }, 'Cannot write how far the feeds were read')
      for (const [id, ofReader] of reads) for (const [feed, read] of ofReader) this.keep(id, feed, read)
    }
  }

  async close(): Promise<void> {
    clearInterval(this.flusher)
    await this.flush()
  }

  private isNew(name: string, version: Date): boolean {
    if (version.getTime() <= (this.noted.get(name) ?? -1)) return false
    if (this.noted.size >= maxRemembered) this.noted.clear()
    this.noted.set(name, version.getTime())
    return true
  }

  /** Joins a read with the reader's other unwritten reads. */
  private keep(id: number, feed: ReadFeed, read: FeedRead): void {
    const ofReader: UnwrittenReads = this.unwritten.get(id) ?? new Map()
    this.unwritten.set(id, ofReader)
    const known = ofReader.get(feed)
    ofReader.set(feed, {
      version: latest(known?.version ?? null, read.version),
      at: latest(known?.at ?? null, read.at) ?? read.at,
    })
  }
}

function latest(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other
  return one > other ? one : other
}
