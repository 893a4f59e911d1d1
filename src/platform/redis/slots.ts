import { MemorySlots, type Slot, type Slots } from '../slots.ts'
import { withTimeout } from '../time-limits.ts'
import type { RedisClient } from './connection.ts'

const timeoutMilliseconds = 50
/** A slot that could not be freed is tried again this often, until its time is over anyway. */
const retryMilliseconds = 1000

/**
 * Slots shared by all processes through Redis. What this process holds counts at all times, so that nobody has more of
 * them here when Redis goes away or returns.
 */
export class RedisSlots implements Slots {
  private readonly own = new MemorySlots()

  /** @param isUp whether Redis responds, as last known */
  constructor(
    private readonly redis: () => RedisClient,
    private readonly isUp: () => boolean,
  ) {}

  async take(name: string, limit: number, milliseconds: number): Promise<Slot | null> {
    const own = await this.own.take(name, limit)
    if (!own || !this.isUp()) return own
    const [key, slot] = [`slots:${name}`, crypto.randomUUID()]
    const free = () => {
      own.free()
      this.release(key, slot, performance.now() + milliseconds)
    }
    const taken = this.redis().takeSlot(key, slot, limit, milliseconds)
    try {
      if ((await withTimeout(taken, timeoutMilliseconds)) === 1) return { free }
      own.free()
      return null
    } catch {
      // Redis may carry it out after all, when it responds again.
      taken.then(() => this.release(key, slot, performance.now() + milliseconds)).catch(() => {})
      return own
    }
  }

  private release(key: string, slot: string, until: number): void {
    this.redis()
      .zrem(key, slot)
      .catch(() => {
        if (performance.now() < until)
          setTimeout(() => this.release(key, slot, until), retryMilliseconds).unref()
      })
  }
}
