import type { Logger } from 'pino'
import type { Db } from '../../platform/mongo/connection.ts'
import { addKeyUsage, type KeyUsage } from './store.ts'

const flushEveryMilliseconds = 2000

/** Counts each key's requests in memory and writes the counts every two seconds (decisions §3). */
export class UsageTracker {
  private seen = new Map<number, KeyUsage>()
  private readonly flusher: ReturnType<typeof setInterval>

  constructor(
    private readonly db: Db,
    private readonly log: Logger,
  ) {
    this.flusher = setInterval(() => this.flush(), flushEveryMilliseconds)
    this.flusher.unref()
  }

  /** Counts one request made with a key. */
  track(keyId: number, address: string, now: Date): void {
    const usage = this.usageOf(keyId, now)
    usage.count += 1
    usage.lastUsedAt = now
    usage.addresses.set(address, now)
  }

  /** Writes the counts; if the write fails, the counts are kept for the next attempt. */
  async flush(): Promise<void> {
    const usage = this.seen
    this.seen = new Map()
    try {
      await addKeyUsage(this.db, usage)
    } catch (error) {
      this.log.warn({ error: String(error) }, 'Cannot write key usage')
      this.putBack(usage)
    }
  }

  async close(): Promise<void> {
    clearInterval(this.flusher)
    await this.flush()
  }

  private usageOf(keyId: number, now: Date): KeyUsage {
    const usage = this.seen.get(keyId) ?? {
      count: 0,
      lastUsedAt: now,
      addresses: new Map(),
    }
    this.seen.set(keyId, usage)
    return usage
  }

  private putBack(usage: Map<number, KeyUsage>): void {
    for (const [keyId, old] of usage) {
      const since = this.usageOf(keyId, old.lastUsedAt)
      since.count += old.count
      since.addresses = new Map([...old.addresses, ...since.addresses])
    }
  }
}
