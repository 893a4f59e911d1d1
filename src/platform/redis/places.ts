import type { Redis } from 'ioredis'
import { MemoryPlaces, type Place, type Places } from '../places.ts'
import { withTimeout } from '../timeout.ts'

/** One round trip: drop places whose holder is gone, count, take one if there is one. By the clock of Redis. */
export const takePlaceScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`

export interface PlaceCommands {
  takePlace(places: string, place: string, limit: number, milliseconds: number): Promise<0 | 1>
}

const timeoutMilliseconds = 50

/** Places shared by all processes through Redis; while it is down, each process counts its own. */
export class RedisPlaces implements Places {
  private readonly fallback = new MemoryPlaces()

  /** @param isUp whether Redis responds, as last known */
  constructor(
    private readonly redis: Redis & PlaceCommands,
    private readonly isUp: () => boolean,
  ) {}

  async take(name: string, limit: number, milliseconds: number): Promise<Place | null> {
    if (!this.isUp()) return this.fallback.take(name, limit)
    const [key, place] = [`places:${name}`, crypto.randomUUID()]
    try {
      const taken = this.redis.takePlace(key, place, limit, milliseconds)
      if ((await withTimeout(taken, timeoutMilliseconds)) === 0) return null
    } catch {
      return this.fallback.take(name, limit)
    }
    // If Redis does not get this, the place is free when its time is over.
    return { free: () => this.redis.zrem(key, place).catch(() => {}) }
  }
}
