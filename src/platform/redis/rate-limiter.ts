import type { Logger } from 'pino'
import { parseRedisUrl, type RedisAddress } from '../../core/redis-address.ts'
import { inSpan } from '../../core/trace.ts'
import { MemoryRateLimiter, type RateDecision, type RateLimiter, type RateState } from '../rate-limiter.ts'
import type { SharedCache } from '../slots.ts'
import { TimeoutError, withTimeout } from '../time-limits.ts'
import { causeOf, isRefusal } from './cause.ts'
import { isClusterNode, probedRecords, type RedisClient, redisClient } from './connection.ts'
import { revisionKey, windowKey } from './scripts.ts'
import { RedisSlots, redisCache } from './slots.ts'

/** Maximum time that a request waits for Redis (decisions §12: less than 100 ms added). */
const hitTimeoutMilliseconds = 50
/** Longer than the hit timeout, because a busy machine may respond slowly even though the connection is alive. */
const pingTimeoutMilliseconds = 700
const connectTimeoutMilliseconds = 2000
const probeEveryMilliseconds = 500
const probesKept = 10
const unknownCause = 'Redis does not respond'

/**
 * Rate limits shared by all processes through Redis. While Redis is down, a {@link MemoryRateLimiter} takes over. The
 * memory limiter always counts this process's hits, so that no client gets a fresh window when Redis goes down or comes
 * back.
 */
export class RedisRateLimiter implements RateLimiter {
  readonly slots: RedisSlots
  readonly cache: SharedCache
  private readonly address: RedisAddress
  private redis: RedisClient
  private readonly fallback = new MemoryRateLimiter()
  /** Set while Redis is down. */
  private prober: ReturnType<typeof setInterval> | undefined
  private up = false
  private isOpen = false
  private isClosed = false
  /** Causes of failure since Redis last responded, each with its first error. Each cause is logged once. */
  private readonly logged = new Map<string, unknown>()
  private usedFallbackAt = Number.NEGATIVE_INFINITY
  private probing: Promise<void> | undefined
  /** The client whose connection is about to be closed. */
  private leaving: RedisClient | undefined
  private failedProbes = 0
  private probedAt = Number.NEGATIVE_INFINITY
  private observe: (seconds: number) => void = () => {}

  /** @param namespace prefix of all keys, so that services with separate databases can share one Redis */
  constructor(
    url: string,
    private readonly namespace: string,
    private readonly log?: Logger,
  ) {
    this.address = parseRedisUrl(url)
    this.redis = this.client(this.address)
    const redis = () => this.redis
    this.slots = new RedisSlots(
      redis,
      () => this.up,
      (error) => this.handleFailure(error),
    )
    // A late response starts a probe. Until the probe ends, the cache is skipped, so no request waits for Redis twice.
    this.cache = redisCache(redis, () => this.up && this.probing === undefined)
  }

  /**
   * Connects and waits briefly for the first response. The service starts even if Redis is down.
   *
   * @throws Error if Redis refuses this service, because no later attempt would succeed
   */
  async open(): Promise<this> {
    // The client retries sentinels forever, so connecting needs a timeout.
    await withTimeout(this.redis.connect(), connectTimeoutMilliseconds).catch((error) => this.markDown(error))
    await this.probe()
    const refusal = [...this.logged.keys()].find(isRefusal)
    if (refusal !== undefined) {
      await this.close()
      throw new Error(refusal)
    }
    this.isOpen = true
    for (const [cause, error] of this.logged) this.warn(cause, error)
    return this
  }

  async hit(name: string, limit: number, windowMilliseconds: number, record = name): Promise<RateDecision> {
    if (!this.up) return this.decideAlone(name, limit, windowMilliseconds)
    const carried = this.mayHoldLocalHits(windowMilliseconds)
      ? this.fallback.take(name, limit, windowMilliseconds)
      : null
    if (carried?.allowed === false) return carried
    const sentAt = performance.now()
    try {
      const hit = inSpan('redis hitWindow', () =>
        this.redis.hitWindow(windowKey(name, record), revisionKey(record), limit, windowMilliseconds, 1),
      )
      const [allowed, remaining, waitMilliseconds, revision] = await withTimeout(hit, hitTimeoutMilliseconds)
      if (allowed === 1 && !carried) this.fallback.recordHit(name, limit, windowMilliseconds, sentAt)
      if (allowed !== 1 && carried) this.fallback.undoHit(name)
      const left = Math.min(remaining, carried?.remaining ?? remaining)
      return { allowed: allowed === 1, remaining: left, waitMilliseconds, revision }
    } catch (error) {
      this.handleFailure(error)
      return carried ?? this.decideAlone(name, limit, windowMilliseconds)
    } finally {
      this.observe((performance.now() - sentAt) / 1000)
    }
  }

  async peek(name: string, limit: number, windowMilliseconds: number): Promise<RateState> {
    const local = await this.fallback.peek(name, limit, windowMilliseconds)
    if (!this.up) return local
    try {
      const look = inSpan('redis hitWindow', () =>
        this.redis.hitWindow(windowKey(name), revisionKey(name), limit, windowMilliseconds, 0),
      )
      const [, remaining, waitMilliseconds] = await withTimeout(look, hitTimeoutMilliseconds)
      if (!this.mayHoldLocalHits(windowMilliseconds)) return { remaining, waitMilliseconds }
      return { remaining: Math.min(remaining, local.remaining), waitMilliseconds }
    } catch (error) {
      this.handleFailure(error)
      return local
    }
  }

  /**
   * Marks Redis as down, except after a timeout. A timeout does not prove an outage, so it only starts a probe, which
   * waits longer for a response.
   */
  private handleFailure(error: unknown): void {
    if (error instanceof TimeoutError) void this.probe()
    else this.markDown(error)
  }

  async invalidate(name: string): Promise<void> {
    const raise = inSpan('redis incr', () => this.redis.incr(revisionKey(name)))
    await withTimeout(raise, pingTimeoutMilliseconds)
  }

  async ready(): Promise<boolean> {
    // While Redis is up, frequent calls do not cause frequent probes. While Redis is down, every call probes, so that
    // recovery is reported immediately.
    if (!this.up || performance.now() - this.probedAt > probeEveryMilliseconds) await this.probe()
    return this.up
  }

  measure(observe: (seconds: number) => void): void {
    this.observe = observe
  }

  async serverVersion(): Promise<string | null> {
    if (!this.up) return null
    const info = await withTimeout(this.redis.info(), pingTimeoutMilliseconds).catch(() => '')
    return /^redis_version:(\S+)/m.exec(info)?.[1] ?? null
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.stopProbing()
    this.redis.disconnect()
    await this.fallback.close()
  }

  /** Probes Redis, one probe at a time, and reconnects if the probe fails. */
  private probe(): Promise<void> {
    this.probing ??= this.probeOnce().finally(() => {
      this.probing = undefined
      this.probedAt = performance.now()
    })
    return this.probing
  }

  private async probeOnce(): Promise<void> {
    try {
      // Connecting successfully proves nothing, because the account may lack permission for all other commands.
      if (!this.up) await withTimeout(this.joinCluster(), pingTimeoutMilliseconds)
      const probes = probedRecords(this.redis).map((record) =>
        this.redis.hitWindow(windowKey(record), revisionKey(record), probesKept, 1000, 1),
      )
      await withTimeout(Promise.all(probes), pingTimeoutMilliseconds)
      if (!this.up && this.isOpen) this.log?.info('Redis responds: rate limits are shared again')
      this.up = true
      this.stopProbing()
      this.logged.clear()
      this.failedProbes = 0
    } catch (error) {
      this.markDown(error)
      this.failedProbes += 1
      if (this.redis.status === 'ready') this.reconnect()
      else if (this.redis.status === 'connect' && this.failedProbes % 2 === 0) this.reconnect()
    }
  }

  /**
   * Replaces the connection. A server that hangs does not close its side, so the client looks connected until it gives up
   * waiting after two seconds. Each probe until then would otherwise leave another listener on the connection.
   */
  private reconnect(): void {
    const { redis } = this
    if (this.leaving === redis) return
    this.leaving = redis
    redis.once('close', () => {
      this.leaving = undefined
    })
    redis.disconnect(true)
  }

  /** Switches to a cluster client if the configured address is a cluster node. The client finds the other nodes. */
  private async joinCluster(): Promise<void> {
    if (!(await isClusterNode(this.redis))) return
    this.redis.disconnect()
    this.redis = this.client({ ...this.address, kind: 'cluster' })
    await this.redis.connect()
  }

  private client(address: RedisAddress): RedisClient {
    const client = redisClient(address, `${this.namespace}:`)
    const note = (error: unknown) => {
      if (client === this.redis) this.markDown(error)
    }
    // A cluster client emits a single node's errors as "node error".
    for (const event of ['error', 'node error']) client.on(event, note)
    return client
  }

  private decideAlone(name: string, limit: number, windowMilliseconds: number): RateDecision {
    this.usedFallbackAt = performance.now()
    return this.fallback.take(name, limit, windowMilliseconds)
  }

  /** True while the window may still contain hits that this process allowed without Redis. */
  private mayHoldLocalHits(windowMilliseconds: number): boolean {
    return performance.now() - this.usedFallbackAt < windowMilliseconds
  }

  /** Probes until Redis responds. While it does, a failed or late hit or a connection error reveals an outage. */
  private keepProbing(): void {
    if (this.prober || this.isClosed) return
    this.prober = setInterval(() => this.probe(), probeEveryMilliseconds)
    this.prober.unref()
  }

  private stopProbing(): void {
    clearInterval(this.prober)
    this.prober = undefined
  }

  /** Marks Redis as down and logs each cause once until Redis responds again. */
  private markDown(error: unknown): void {
    this.up = false
    this.keepProbing()
    const cause = causeOf(error)
    if (this.logged.has(cause ?? unknownCause) || (cause === null && this.logged.size > 0)) return
    this.logged.set(cause ?? unknownCause, error)
    if (this.isOpen) this.warn(cause ?? unknownCause, error)
  }

  private warn(cause: string, error: unknown): void {
    this.log?.warn({ error: String(error) }, `${cause}: rate limits are counted per process`)
  }
}
