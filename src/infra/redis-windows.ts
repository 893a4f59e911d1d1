import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { causeOf } from './redis-cause.ts'
import { MemoryWindows, type WindowDecision, type Windows } from './windows.ts'
import { within } from './within.ts'

/**
 * One round trip: forget what left the window, count, take a place if there is one, read the epoch.
 * The list holds the microsecond of each hit by the clock of Redis, so that all processes share one clock.
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
-- What lies in the future was counted before the clock was set back.
local newest = redis.call('LINDEX', KEYS[1], -1)
while newest and tonumber(newest) > now do
  redis.call('RPOP', KEYS[1])
  newest = redis.call('LINDEX', KEYS[1], -1)
end
local count = redis.call('LLEN', KEYS[1])
if not takes then return {1, math.max(0, limit - count), 0, '0'} end
local epoch = redis.call('GET', KEYS[2]) or '0'
if count < limit then
  redis.call('RPUSH', KEYS[1], string.format('%.0f', now))
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return {1, limit - count - 1, tonumber(ARGV[2]), epoch}
end
local freed = tonumber(redis.call('LINDEX', KEYS[1], count - limit))
return {0, 0, math.ceil((freed + window - now) / 1000), epoch}
`

export interface WindowCommands {
  hitWindow(
    window: string,
    epoch: string,
    limit: number,
    milliseconds: number,
    takes: 0 | 1,
  ): Promise<[number, number, number, string]>
}

/** A request waits no longer than this for Redis (decisions §12: under 100 ms added). */
const hitTimeoutMilliseconds = 50
/** On a busy machine an answer may be slow without the connection being dead. */
const pingTimeoutMilliseconds = 700
const probeEveryMilliseconds = 500
const probesKept = 10
const unknownCause = 'Redis does not answer'
const reconnectAfterMilliseconds = 200

/**
 * Windows shared by all processes through Redis; while Redis is away, {@link MemoryWindows} stand in. They count
 * every hit of this process all the time, so that nobody gets a fresh window when Redis goes or comes back.
 */
export class RedisWindows implements Windows {
  private readonly redis: Redis & WindowCommands
  private readonly standIn = new MemoryWindows()
  private readonly prober: ReturnType<typeof setInterval>
  private up = false
  /** Causes told since Redis answered last. */
  private readonly told = new Set<string>()
  private stoodInAt = Number.NEGATIVE_INFINITY
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
      },
    }) as Redis & WindowCommands
    this.redis.on('error', (error) => this.markDown(error))
    this.prober = setInterval(() => this.probe(), probeEveryMilliseconds)
    this.prober.unref()
  }

  /** Waits for the first answer, but not for long: the service starts without Redis too. */
  async open(): Promise<this> {
    await this.redis.connect().catch((error) => this.markDown(error))
    await this.probe()
    return this
  }

  async hit(name: string, limit: number, windowMilliseconds: number, record = name): Promise<WindowDecision> {
    if (!this.up) return this.standInFor(name, limit, windowMilliseconds)
    const carried = this.isCarrying(windowMilliseconds)
      ? this.standIn.take(name, limit, windowMilliseconds)
      : null
    if (carried?.allowed === false) return carried
    const sentAt = performance.now()
    try {
      const hit = this.redis.hitWindow(`window:${name}`, `epoch:${record}`, limit, windowMilliseconds, 1)
      const [allowed, remaining, waitMilliseconds, epoch] = await within(hit, hitTimeoutMilliseconds)
      if (allowed === 1 && !carried) this.standIn.note(name, limit, windowMilliseconds, sentAt)
      if (allowed !== 1 && carried) this.standIn.giveBack(name)
      const left = Math.min(remaining, carried?.remaining ?? remaining)
      return { allowed: allowed === 1, remaining: left, waitMilliseconds, epoch }
    } catch (error) {
      this.markDown(error)
      return carried ?? this.standInFor(name, limit, windowMilliseconds)
    }
  }

  async remaining(name: string, limit: number, windowMilliseconds: number): Promise<number> {
    const local = await this.standIn.remaining(name, limit, windowMilliseconds)
    if (!this.up) return local
    try {
      const look = this.redis.hitWindow(`window:${name}`, `epoch:${name}`, limit, windowMilliseconds, 0)
      const [, shared] = await within(look, hitTimeoutMilliseconds)
      return this.isCarrying(windowMilliseconds) ? Math.min(shared, local) : shared
    } catch (error) {
      this.markDown(error)
      return local
    }
  }

  async announce(name: string): Promise<void> {
    await within(this.redis.incr(`epoch:${name}`), pingTimeoutMilliseconds)
  }

  async ready(): Promise<boolean> {
    await this.probe()
    return this.up
  }

  async close(): Promise<void> {
    clearInterval(this.prober)
    this.redis.disconnect()
    await this.standIn.close()
  }

  /** One look at a time; a connection that stays silent is given up for a new one. */
  private probe(): Promise<void> {
    this.probing ??= this.lookAgain().finally(() => {
      this.probing = undefined
    })
    return this.probing
  }

  private async lookAgain(): Promise<void> {
    try {
      // An account may be permitted to connect and nothing else.
      const probe = this.redis.hitWindow('window:probe', 'epoch:probe', probesKept, 1000, 1)
      await within(probe, pingTimeoutMilliseconds)
      if (!this.up) this.log?.info('Redis answers: the windows are shared again')
      this.up = true
      this.told.clear()
      this.silentProbes = 0
    } catch (error) {
      this.markDown(error)
      this.silentProbes += 1
      if (this.redis.status === 'ready') this.redis.disconnect(true)
      else if (this.redis.status === 'connect' && this.silentProbes % 2 === 0) this.redis.disconnect(true)
    }
  }

  private standInFor(name: string, limit: number, windowMilliseconds: number): WindowDecision {
    this.stoodInAt = performance.now()
    return this.standIn.take(name, limit, windowMilliseconds)
  }

  /** Redis does not know the hits that were allowed without it: they count here until they leave the window. */
  private isCarrying(windowMilliseconds: number): boolean {
    return performance.now() - this.stoodInAt < windowMilliseconds
  }

  /** Tells each cause once until Redis answers again, however often it is met. */
  private markDown(error: unknown): void {
    this.up = false
    const cause = causeOf(error)
    if (this.told.has(cause ?? unknownCause) || (cause === null && this.told.size > 0)) return
    this.told.add(cause ?? unknownCause)
    this.log?.warn(
      { error: String(error) },
      `${cause ?? unknownCause}: the rate windows live in this process`,
    )
  }
}
