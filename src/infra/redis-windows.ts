import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { MemoryWindows, type WindowDecision, type Windows } from './windows.ts'

/**
 * One round trip: forget what left the window, count, take a place if there is one, read the epoch.
 * The list holds the microsecond of each hit by the clock of Redis, so that all processes share one clock.
 */
const hitScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local limit = tonumber(ARGV[1])
local window = tonumber(ARGV[2]) * 1000
local oldest = redis.call('LINDEX', KEYS[1], 0)
while oldest and tonumber(oldest) <= now - window do
  redis.call('LPOP', KEYS[1])
  oldest = redis.call('LINDEX', KEYS[1], 0)
end
local count = redis.call('LLEN', KEYS[1])
local epoch = redis.call('GET', KEYS[2]) or '0'
if count < limit then
  redis.call('RPUSH', KEYS[1], string.format('%.0f', now))
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return {1, limit - count - 1, tonumber(ARGV[2]), epoch}
end
local freed = tonumber(redis.call('LINDEX', KEYS[1], count - limit))
return {0, 0, math.ceil((freed + window - now) / 1000), epoch}
`

/** A sorted set of the numbers under a name, each scored with the millisecond at which it is forgotten. */
const rememberScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
`

const recallScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf')
`

interface WindowCommands {
  rememberNumber(name: string, value: number, milliseconds: number): Promise<void>
  recallNumbers(name: string): Promise<string[]>
  hitWindow(
    window: string,
    epoch: string,
    limit: number,
    milliseconds: number,
  ): Promise<[number, number, number, string]>
}

const commandTimeoutMilliseconds = 50
const probeEveryMilliseconds = 500

/** Windows shared by all processes through Redis; while Redis is away, {@link MemoryWindows} stand in. */
export class RedisWindows implements Windows {
  private readonly redis: Redis & WindowCommands
  private readonly standIn = new MemoryWindows()
  private readonly prober: ReturnType<typeof setInterval>
  private up = false

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
      commandTimeout: commandTimeoutMilliseconds,
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      retryStrategy: () => probeEveryMilliseconds,
      scripts: {
        hitWindow: { lua: hitScript, numberOfKeys: 2 },
        rememberNumber: { lua: rememberScript, numberOfKeys: 1 },
        recallNumbers: { lua: recallScript, numberOfKeys: 1 },
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

  async hit(name: string, limit: number, windowMilliseconds: number): Promise<WindowDecision> {
    return this.ask(
      async () => {
        const [allowed, remaining, waitMilliseconds, epoch] = await this.redis.hitWindow(
          `window:${name}`,
          `epoch:${name}`,
          limit,
          windowMilliseconds,
        )
        return { allowed: allowed === 1, remaining, waitMilliseconds, epoch }
      },
      () => this.standIn.hit(name, limit, windowMilliseconds),
    )
  }

  async remember(name: string, value: number, milliseconds: number): Promise<void> {
    await this.standIn.remember(name, value, milliseconds)
    if (this.up)
      await this.ask(
        () => this.redis.rememberNumber(`kept:${name}`, value, milliseconds),
        async () => {},
      )
  }

  async recallSmallest(name: string): Promise<number | null> {
    const own = () => this.standIn.recallSmallest(name)
    return this.ask(async () => {
      const shared = (await this.redis.recallNumbers(`kept:${name}`)).map(Number)
      const all = [...shared, (await own()) ?? []].flat()
      return all.length > 0 ? Math.min(...all) : null
    }, own)
  }

  /** What Redis says or, while it is away, what this process knows. */
  private async ask<T>(redis: () => Promise<T>, standIn: () => Promise<T>): Promise<T> {
    if (!this.up) return standIn()
    try {
      return await redis()
    } catch (error) {
      this.markDown(error)
      return standIn()
    }
  }

  async announce(name: string): Promise<void> {
    await this.redis.incr(`epoch:${name}`)
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

  private async probe(): Promise<void> {
    try {
      await this.redis.ping()
      if (!this.up) this.log?.info('Redis answers: the windows are shared again')
      this.up = true
    } catch (error) {
      this.markDown(error)
      this.giveUpConnection()
    }
  }

  /** A connection that does not answer may have lost what was sent; only a new one is in step again. */
  private giveUpConnection(): void {
    if (this.redis.status === 'ready' || this.redis.status === 'connect') this.redis.disconnect(true)
  }

  private markDown(error: unknown): void {
    if (this.up) this.log?.warn({ error: String(error) }, 'Redis is away: the windows live in the process')
    this.up = false
  }
}
