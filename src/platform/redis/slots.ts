import { inSpan } from '../../core/trace.ts'
import { MemorySlots, type SharedCache, type Slot, type Slots } from '../slots.ts'
import { TimeoutError, withTimeout, withTimeoutOrNull } from '../time-limits.ts'
import type { RedisClient } from './connection.ts'

/** Maximum time that a request waits for Redis before it uses this process's slots or the database instead. */
const timeoutMilliseconds = 50
/** How long patient work waits for Redis. A probe that takes as long finds that Redis is down. */
const patientMilliseconds = 700
/** Interval at which a failed release is retried until the slot expires. */
const retryMilliseconds = 1000

/**
 * Slots shared by all processes through Redis. Slots taken by this process are always counted locally as well, so that
 * no name gets extra slots here when Redis goes down or comes back.
 */
export class RedisSlots implements Slots {
  private readonly own = new MemorySlots()

  /**
   * @param isUp returns true if Redis responded when it was last contacted
   * @param reportFailure is called with the error if Redis fails patient work, and finds out whether Redis is down
   */
  constructor(
    private readonly redis: () => RedisClient,
    private readonly isUp: () => boolean,
    private readonly reportFailure: (error: unknown) => void,
  ) {}

  async take(name: string, limit: number, milliseconds: number): Promise<Slot | null> {
    const own = await this.own.take(name, limit)
    if (!own || !this.isUp()) return own
    const shared = this.begin(name, limit, milliseconds)
    try {
      return await this.settle(own, shared, timeoutMilliseconds)
    } catch {
      shared.abandon()
      return own
    }
  }

  async takePatiently(name: string, limit: number, milliseconds: number): Promise<Slot | null> {
    const own = await this.own.take(name, limit)
    if (!own || !this.isUp()) return own
    const shared = this.begin(name, limit, milliseconds)
    try {
      return await this.settle(own, shared, patientMilliseconds)
    } catch (error) {
      shared.abandon()
      this.reportFailure(error)
      if (!(error instanceof TimeoutError)) return own
      own.free()
      return null
    }
  }

  /** Asks Redis for a slot. */
  private begin(name: string, limit: number, milliseconds: number): SharedSlot {
    const key = `slots:${name}`
    const slot = crypto.randomUUID()
    const free = () => this.release(key, slot, performance.now() + milliseconds)
    const taken = inSpan('redis takeSlot', () => this.redis().takeSlot(key, slot, limit, milliseconds))
    return {
      taken,
      free,
      // Redis may still execute the command once it responds again. The slot is then released.
      abandon: () => void taken.then(free).catch(() => {}),
    }
  }

  /** Returns the slot if Redis grants it in time, and otherwise frees this process's slot. */
  private async settle(own: Slot, shared: SharedSlot, milliseconds: number): Promise<Slot | null> {
    if ((await withTimeout(shared.taken, milliseconds)) === 1) {
      return {
        free: () => {
          own.free()
          shared.free()
        },
      }
    }
    own.free()
    return null
  }

  private release(key: string, slot: string, until: number): void {
    inSpan('redis zrem', () => this.redis().zrem(key, slot)).catch(() => {
      if (performance.now() < until)
        setTimeout(() => this.release(key, slot, until), retryMilliseconds).unref()
    })
  }
}

/** A slot that Redis was asked for. */
interface SharedSlot {
  /** Resolves to 1 if Redis grants the slot. */
  taken: Promise<0 | 1>
  free(): void
  /** Frees the slot if Redis grants it too late. */
  abandon(): void
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
