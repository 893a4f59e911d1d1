import type { Logger } from 'pino'
import { raiseReadVersions } from '../../access/keys/reads-store.ts'
import type { FeedReads } from '../../http/context.ts'
import type { Caller } from '../../http/request.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { FeedName } from '../feeds.ts'

const flushEveryMilliseconds = 2000

/**
 * Notes how far each key has read the live booking feed, and writes it every two seconds. Without it, a host whose
 * partner has stopped reading would look like a host without changes (decisions §28).
 */
export class ReadTracker implements FeedReads {
  /** The versions that are not yet written, by key id. */
  private versions = new Map<number, Date>()
  private readonly flusher: ReturnType<typeof setInterval>

  constructor(
    private readonly db: Db,
    private readonly log: Logger,
  ) {
    this.flusher = setInterval(() => this.flush(), flushEveryMilliseconds)
    this.flusher.unref()
  }

  note(
    { keyId, isSandbox }: Pick<Caller, 'keyId' | 'isSandbox'>,
    feed: FeedName,
    version: Date | null,
  ): void {
    if (isSandbox || feed !== 'bookings' || version === null) return
    this.raise(keyId, version)
  }

  /** Writes the versions; if the write fails, they are kept for the next attempt. */
  async flush(): Promise<void> {
    const versions = this.versions
    this.versions = new Map()
    try {
      await raiseReadVersions(this.db, versions)
    } catch (error) {
      this.log.warn({ error: String(error) }, 'Cannot write how far keys have read')
      for (const [keyId, version] of versions) this.raise(keyId, version)
    }
  }

  async close(): Promise<void> {
    clearInterval(this.flusher)
    await this.flush()
  }

  private raise(keyId: number, version: Date): void {
    const known = this.versions.get(keyId)
    if (!known || version > known) this.versions.set(keyId, version)
  }
}
