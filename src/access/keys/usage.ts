import type { Logger } from 'pino'
import { BufferedWriter } from '../../platform/buffered-writer.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { addKeyUsage, type KeyUsage, keptAddresses } from './store.ts'

const flushEveryMilliseconds = 2000

/** Counts each key's requests in memory and writes the counts every two seconds (decisions §3). */
export class UsageTracker {
  private readonly writer: BufferedWriter<Map<number, KeyUsage>>

  constructor(db: Db, log: Logger) {
    this.writer = new BufferedWriter({
      milliseconds: flushEveryMilliseconds,
      newBatch: () => new Map(),
      write: (usage) => addKeyUsage(db, usage),
      log,
      failureMessage: 'Cannot write key usage',
    })
  }

  /** Counts one request made with a key. */
  track(keyId: number, address: string, now: Date): void {
    const usage = this.usageOf(keyId, now)
    usage.count += 1
    usage.lastUsedAt = now
    usage.addresses.delete(address)
    usage.addresses.set(address, now)
    // The oldest address would not be stored, so a client with many addresses must not fill the memory.
    const [oldest] = usage.addresses.keys()
    if (oldest !== undefined && usage.addresses.size > keptAddresses) usage.addresses.delete(oldest)
  }

  /** Writes the counts; if the write fails, the counts are kept for the next attempt. */
  flush(): Promise<void> {
    return this.writer.flush()
  }

  close(): Promise<void> {
    return this.writer.close()
  }

  private usageOf(keyId: number, now: Date): KeyUsage {
    const seen = this.writer.next()
    const usage = seen.get(keyId) ?? {
      count: 0,
      lastUsedAt: now,
      addresses: new Map(),
    }
    seen.set(keyId, usage)
    return usage
  }
}
