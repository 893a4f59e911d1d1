import { inSpan } from '../../core/trace.ts'
import { MemorySlots, type SharedCache, type Slot, type Slots } from '../shared.ts'
import { withTimeout, withTimeoutOrNull } from '../time-limits.ts'
import type { RedisClient } from './connection.ts'

/** Maximum time that a request waits for Redis before it uses this process's slots or the database instead. */
const timeoutMilliseconds = 50
/** Interval at which a failed release is retried until the slot expires. */
const retryMilliseconds = 1000

/**
 * Slots shared by all processes through Redis. Slots taken by this process are always counted locally as well, so that
 * no name gets extra slots here when Redis goes down or comes back.
 */
export class RedisSlots implements Slots {
  private readonly own = new MemorySlots()

  /** @param isUp returns true if Redis responded when it was last contacted */
  constructor(
    private readonly redis: () => RedisClient,
    private readonly isUp: () => boolean,
  ) {}

  async take(name: string, limit: number, milliseconds: number): Promise<Slot | null> {
    const own = await this.own.take(name, limit)
    if (!own || !this.isUp()) return own
    const key = `slots:${name}`
    const slot = crypto.randomUUID()
    const free = () => {
      own.free()
      this.release(key, slot, performance.now() + milliseconds)
    }
    const take = () => this.redis().takeSlot(key, slot, limit, milliseconds)
    const taken = inSpan('redis takeSlot', take)
    try {
      if ((await withTimeout(taken, timeoutMilliseconds)) === 1) return { free }
      own.free()
      return null
    } catch {
      // Redis may still execute the command once it responds again. The slot is then released.
      taken.then(() => this.release(key, slot, performance.now() + milliseconds)).catch(() => {})
      return own
    }
  }

  private release(key: string, slot: string, until: number): void {
    inSpan('redis zrem', () => this.redis().zrem(key, slot)).catch(() => {
      if (performance.now() < until)
        setTimeout(() => this.release(key, slot, until), retryMilliseconds).unref()
    })
  }
}

/**
 * Returns a cache that shares values through Redis.
 *
 * @param isUp returns true if Redis responded when it was last contacted and no probe is in progress
 */
export function redisCache(redis: () => RedisClient, isUp: () => boolean): SharedCache {
  return {
    async get(name) {
      if (!isUp()) return null
      const found = inSpan('redis get', () => redis().get(`cache:${name}`))
      return withTimeoutOrNull(found, timeoutMilliseconds)
    },
    set(name, value, milliseconds) {
      if (!isUp()) return
      const stored = inSpan('redis set', () => redis().set(`cache:${name}`, value, 'PX', milliseconds))
      stored.catch(() => {})
    },
  }
}
