import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { MemoryRateLimiter, type RateDecision, type RateLimiter, type RateState } from '../rate-limiter.ts'
import { withTimeout } from '../timeout.ts'
import { causeOf } from './cause.ts'
import { type PlaceCommands, RedisPlaces, takePlaceScript } from './places.ts'

/**
 * One round trip: drop what has left the window, count, take a place if there is one, read the version.
 * The list holds the microsecond of each hit by the clock of Redis, which all processes share.
 */
export const hitScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local limit = tonumber(ARGV[1])
local takes = ARGV[3] == '1'
local window = tonumber(ARGV[2]) * 1000
local oldest = redis.call('LINDEX', KEYS[1], 0)
while oldest and tonumber(oldest) <= now - window do
  redis.call('LPOP', KEYS[1])
  oldest = redis.call('LINDEX', KEYS[1], 0)
end
-- Hits in the future were counted before the clock was set back.
local newest = redis.call('LINDEX', KEYS[1], -1)
while newest and tonumber(newest) > now do
  redis.call('RPOP', KEYS[1])
  newest = redis.call('LINDEX', KEYS[1], -1)
end
local count = redis.call('LLEN', KEYS[1])
if not takes then
  local free = newest and tonumber(newest) + window - now or 0
  return {1, math.max(0, limit - count), math.ceil(free / 1000), '0'}
end
local version = redis.call('GET', KEYS[2]) or '0'
if count < limit then
  redis.call('RPUSH', KEYS[1], string.format('%.0f', now))
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return {1, limit - count - 1, tonumber(ARGV[2]), version}
end
local freed = tonumber(redis.call('LINDEX', KEYS[1], count - limit))
return {0, 0, math.ceil((freed + window - now) / 1000), version}
`

export interface RateLimitCommands {
  hitWindow(
    window: string,
    version: string,
    limit: number,
    milliseconds: number,
    takes: 0 | 1,
  ): Promise<[number, number, number, string]>
}

/** The longest a request waits for Redis (decisions §12: less than 100 ms added). */
const hitTimeoutMilliseconds = 50
/** On a busy machine a response may be slow although the connection is alive. */
const pingTimeoutMilliseconds = 700
const probeEveryMilliseconds = 500
const probesKept = 10
const unknownCause = 'Redis does not respond'
const reconnectAfterMilliseconds = 200

/**
 * Rate limits shared by all processes through Redis; while Redis is down, a {@link MemoryRateLimiter} takes over. It
 * counts every hit of this process at all times, so that nobody gets a fresh window when Redis goes away or returns.
 */
export class RedisRateLimiter implements RateLimiter {
  readonly places: RedisPlaces
  private readonly redis: Redis & RateLimitCommands & PlaceCommands
  private readonly fallback = new MemoryRateLimiter()
  private readonly prober: ReturnType<typeof setInterval>
  private up = false
  /** Causes logged since Redis last responded. */
  private readonly logged = new Set<string>()
  private usedFallbackAt = Number.NEGATIVE_INFINITY
  private probing: Promise<void> | undefined
  private silentProbes = 0

  constructor(
    url: string,
    namespace: string,
    private readonly log?: Logger,
  ) {
    this.redis = new Redis(url, {
      // Services with databases of their own may share one Redis.
      keyPrefix: `${namespace}:`,
      lazyConnect: true,
      connectTimeout: 1000,
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      retryStrategy: () => reconnectAfterMilliseconds,
      scripts: {
        hitWindow: { lua: hitScript, numberOfKeys: 2 },
        takePlace: { lua: takePlaceScript, numberOfKeys: 1 },
      },
    }) as Redis & RateLimitCommands & PlaceCommands
    this.places = new RedisPlaces(this.redis, () => this.up)
    this.redis.on('error', (error) => this.markDown(error))
    this.prober = setInterval(() => this.probe(), probeEveryMilliseconds)
    this.prober.unref()
  }

  /** Waits briefly for the first response: the service also starts without Redis. */
  async open(): Promise<this> {
    await this.redis.connect().catch((error) => this.markDown(error))
    await this.probe()
    return this
  }

  async hit(name: string, limit: number, windowMilliseconds: number, record = name): Promise<RateDecision> {
    if (!this.up) return this.decideAlone(name, limit, windowMilliseconds)
    const carried = this.isCarrying(windowMilliseconds)
      ? this.fallback.take(name, limit, windowMilliseconds)
      : null
    if (carried?.allowed === false) return carried
    const sentAt = performance.now()
    try {
      const hit = this.redis.hitWindow(`window:${name}`, `epoch:${record}`, limit, windowMilliseconds, 1)
      const [allowed, remaining, waitMilliseconds, version] = await withTimeout(hit, hitTimeoutMilliseconds)
      if (allowed === 1 && !carried) this.fallback.note(name, limit, windowMilliseconds, sentAt)
      if (allowed !== 1 && carried) this.fallback.giveBack(name)
      const left = Math.min(remaining, carried?.remaining ?? remaining)
      return { allowed: allowed === 1, remaining: left, waitMilliseconds, version }
    } catch (error) {
      this.markDown(error)
      return carried ?? this.decideAlone(name, limit, windowMilliseconds)
    }
  }

  async look(name: string, limit: number, windowMilliseconds: number): Promise<RateState> {
    const local = await this.fallback.look(name, limit, windowMilliseconds)
    if (!this.up) return local
    try {
      const look = this.redis.hitWindow(`window:${name}`, `epoch:${name}`, limit, windowMilliseconds, 0)
      const [, remaining, waitMilliseconds] = await withTimeout(look, hitTimeoutMilliseconds)
      if (!this.isCarrying(windowMilliseconds)) return { remaining, waitMilliseconds }
      return { remaining: Math.min(remaining, local.remaining), waitMilliseconds }
    } catch (error) {
      this.markDown(error)
      return local
    }
  }

  async invalidate(name: string): Promise<void> {
    await withTimeout(this.redis.incr(`epoch:${name}`), pingTimeoutMilliseconds)
  }

  async ready(): Promise<boolean> {
    await this.probe()
    return this.up
  }

  async close(): Promise<void> {
    clearInterval(this.prober)
    this.redis.disconnect()
    await this.fallback.close()
  }

  /** One probe at a time; a connection that stays silent is replaced. */
  private probe(): Promise<void> {
    this.probing ??= this.probeOnce().finally(() => {
      this.probing = undefined
    })
    return this.probing
  }

  private async probeOnce(): Promise<void> {
    try {
      // An account may have permission to connect and nothing else.
      const probe = this.redis.hitWindow('window:probe', 'epoch:probe', probesKept, 1000, 1)
      await withTimeout(probe, pingTimeoutMilliseconds)
      if (!this.up) this.log?.info('Redis responds: rate limits are shared again')
      this.up = true
      this.logged.clear()
      this.silentProbes = 0
    } catch (error) {
      this.markDown(error)
      this.silentProbes += 1
      if (this.redis.status === 'ready') this.redis.disconnect(true)
      else if (this.redis.status === 'connect' && this.silentProbes % 2 === 0) this.redis.disconnect(true)
    }
  }

  private decideAlone(name: string, limit: number, windowMilliseconds: number): RateDecision {
    this.usedFallbackAt = performance.now()
    return this.fallback.take(name, limit, windowMilliseconds)
  }

  /** Redis does not know the hits allowed without it: they count here until they leave the window. */
  private isCarrying(windowMilliseconds: number): boolean {
    return performance.now() - this.usedFallbackAt < windowMilliseconds
  }

  /** Logs each cause once until Redis responds again. */
  private markDown(error: unknown): void {
    this.up = false
    const cause = causeOf(error)
    if (this.logged.has(cause ?? unknownCause) || (cause === null && this.logged.size > 0)) return
    this.logged.add(cause ?? unknownCause)
    this.log?.warn({ error: String(error) }, `${cause ?? unknownCause}: rate limits are counted per process`)
  }
}
