import { MemorySlots, noCache, type SharedCache, type Slots } from './slots.ts'

/** Length of the window in which requests are counted per API key and per client address. */
export const minuteMilliseconds = 60_000

/** The remaining capacity of a rate limit. */
export interface RateState {
  /** Hits left in the window. */
  remaining: number
  /** Milliseconds until the window is entirely free. After a refused hit: until the next hit is allowed. */
  waitMilliseconds: number
}

/** A rate limit's decision on one hit. */
export interface RateDecision extends RateState {
  allowed: boolean
  /** The record's revision in the shared store; null if the decision was made without the shared store. */
  revision: string | null
}

/**
 * Exact sliding windows that allow at most `limit` hits in any period of `windowMilliseconds`. A refused hit does not
 * count. A hit never fails, because each process counts on its own while the shared store is down.
 */
export interface RateLimiter {
  /**
   * Counts a hit if the window called `name` has room for it.
   *
   * @param record name of the record whose revision is returned (see {@link invalidate}); defaults to `name`
   */
  hit(name: string, limit: number, windowMilliseconds: number, record?: string): Promise<RateDecision>
  /** Returns a window's remaining capacity without counting a hit. */
  peek(name: string, limit: number, windowMilliseconds: number): Promise<RateState>
  /** Increments the revision of the record called `name`, so that every process notices that the record has changed. */
  invalidate(name: string): Promise<void>
  /** Returns true if the shared store responds or no shared store is configured. */
  ready(): Promise<boolean>
  /** Calls `observe` with the time in seconds that each hit waited for the shared store. */
  measure(observe: (seconds: number) => void): void
  /** Returns the shared store's server version; null if there is no shared store or it does not respond. */
  serverVersion(): Promise<string | null>
  /** Slots that limit concurrent requests, counted in the same store. */
  readonly slots: Slots
  /** Values shared through the same store. */
  readonly cache: SharedCache
  close(): Promise<void>
}

/** The times of one name's hits, oldest first. Hits before index `first` have left the window. */
interface WindowHits {
  hits: number[]
  first: number
  windowMilliseconds: number
}

const maxNames = 100_000
const sweepEveryMilliseconds = 10_000

/** Counts hits in this process. Used without Redis, and as the fallback while Redis is down. */
export class MemoryRateLimiter implements RateLimiter {
  readonly slots = new MemorySlots()
  readonly cache = noCache
  /** Hits by name. The least recently hit name comes first. */
  private readonly names = new Map<string, WindowHits>()
  /** Runs while any name is remembered. */
  private sweeper: ReturnType<typeof setTimeout> | undefined
  private isClosed = false

  /** @param now returns the current time of a monotonic clock in milliseconds */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Number of remembered names, at most 100,000. */
  get size(): number {
    return this.names.size
  }

  async hit(name: string, limit: number, windowMilliseconds: number): Promise<RateDecision> {
    return this.take(name, limit, windowMilliseconds)
  }

  /** Like {@link hit}, but synchronous. */
  take(name: string, limit: number, windowMilliseconds: number): RateDecision {
    const now = this.now()
    const recent = this.recent(name, windowMilliseconds)
    const count = recent.hits.length - recent.first
    // If this breaks: a limit admits one request too many
    const allowed = count < limit
    if (allowed) this.keep(name, recent, now)
    const freedAt = allowed ? now : (recent.hits[recent.hits.length - limit] ?? now)
    return {
      allowed,
      remaining: Math.max(0, limit - count - (allowed ? 1 : 0)),
      waitMilliseconds: freedAt + windowMilliseconds - now,
      revision: null,
    }
  }

  /**
   * Records a hit that the shared store allowed, and keeps only the latest `limit` hits.
   *
   * @param at time of the hit, as returned by `performance.now()`
   */
  recordHit(name: string, limit: number, windowMilliseconds: number, at: number): void {
    const recent = this.recent(name, windowMilliseconds)
    if (recent.hits.length - recent.first >= limit) recent.first += 1
    this.keep(name, recent, at)
  }

  /** Removes a name's latest hit after the shared store has refused it. */
  undoHit(name: string): void {
    const recent = this.names.get(name)
    if (recent && recent.hits.length > recent.first) recent.hits.pop()
  }

  async peek(name: string, limit: number, windowMilliseconds: number): Promise<RateState> {
    const { hits, first } = this.recent(name, windowMilliseconds)
    const remaining = Math.max(0, limit - (hits.length - first))
    const last = hits.length > first ? (hits.at(-1) ?? 0) : undefined
    return { remaining, waitMilliseconds: last === undefined ? 0 : last + windowMilliseconds - this.now() }
  }

  async invalidate(): Promise<void> {}

  async ready(): Promise<boolean> {
    return true
  }

  measure(): void {}

  async serverVersion(): Promise<null> {
    return null
  }

  async close(): Promise<void> {
    this.isClosed = true
    clearTimeout(this.sweeper)
  }

  private recent(name: string, windowMilliseconds: number): WindowHits {
    const recent = this.names.get(name) ?? { hits: [], first: 0, windowMilliseconds }
    recent.windowMilliseconds = windowMilliseconds
    const start = this.now() - windowMilliseconds
    while ((recent.hits[recent.first] ?? Number.POSITIVE_INFINITY) <= start) recent.first += 1
    // Expired hits are removed in batches, so that the cost of a hit does not grow with the number of hits.
    if (recent.first > recent.hits.length / 2) {
      recent.hits = recent.hits.slice(recent.first)
      recent.first = 0
    }
    return recent
  }

  private keep(name: string, recent: WindowHits, now: number): void {
    recent.hits.push(now)
    this.names.delete(name)
    this.names.set(name, recent)
    if (this.names.size > maxNames) this.names.delete(this.names.keys().next().value as string)
    this.sweepLater()
  }

  private sweepLater(): void {
    if (this.isClosed) return
    this.sweeper ??= setTimeout(() => this.sweep(), sweepEveryMilliseconds).unref()
  }

  private sweep(): void {
    this.sweeper = undefined
    const now = this.now()
    for (const [name, { hits, windowMilliseconds }] of this.names)
      if ((hits.at(-1) ?? Number.NEGATIVE_INFINITY) <= now - windowMilliseconds) this.names.delete(name)
    if (this.names.size > 0) this.sweepLater()
  }
}
