import { MemoryPlaces, type Place, type Places } from '../places.ts'
import { withTimeout } from '../timeout.ts'
import type { RedisClient } from './connection.ts'

const timeoutMilliseconds = 50
/** A place that could not be freed is tried again this often, until its time is over anyway. */
const retryMilliseconds = 1000

/**
 * Places shared by all processes through Redis. What this process holds counts at all times, so that nobody has more of
 * them here when Redis goes away or returns.
 */
export class RedisPlaces implements Places {
  private readonly own = new MemoryPlaces()

  /** @param isUp whether Redis responds, as last known */
  constructor(
    private readonly redis: () => RedisClient,
    private readonly isUp: () => boolean,
  ) {}

  async take(name: string, limit: number, milliseconds: number): Promise<Place | null> {
    const own = await this.own.take(name, limit)
    if (!own || !this.isUp()) return own
    const [key, place] = [`places:${name}`, crypto.randomUUID()]
    const free = () => {
      own.free()
      this.release(key, place, performance.now() + milliseconds)
    }
    const taken = this.redis().takePlace(key, place, limit, milliseconds)
    try {
      if ((await withTimeout(taken, timeoutMilliseconds)) === 1) return { free }
      own.free()
      return null
    } catch {
      // Redis may carry it out after all, when it responds again.
      taken.then(() => this.release(key, place, performance.now() + milliseconds)).catch(() => {})
      return own
    }
  }

  private release(key: string, place: string, until: number): void {
    this.redis()
      .zrem(key, place)
      .catch(() => {
        if (performance.now() < until)
          setTimeout(() => this.release(key, place, until), retryMilliseconds).unref()
      })
  }
}
