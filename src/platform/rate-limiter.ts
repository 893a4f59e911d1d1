import { MemorySlots, type Slots } from './slots.ts'

/** The length of the window that API keys and client addresses are counted in. */
export const minuteMilliseconds = 60_000

/** The rest of a rate limit. */
export interface RateState {
  /** Hits left in the window. */
  remaining: number
  /** Milliseconds until the window is entirely free again; after a refused hit, until the next one is allowed. */
  waitMilliseconds: number
}

/** A rate limit's decision on one hit. */
export interface RateDecision extends RateState {
  allowed: boolean
  /** Version of the record as last announced; null without a shared store. */
  version: string | null
}

/**
 * Exact sliding windows: at most `limit` hits in any `windowMilliseconds`; a refused hit does not count.
 * Decisions never fail: while the shared store is down, this process counts alone.
 */
export interface RateLimiter {
  /**
   * Takes a slot in a window, if one is free.
   *
   * @param record the name whose version is returned, as raised by {@link invalidate}; by default the window's own
   */
  hit(name: string, limit: number, windowMilliseconds: number, record?: string): Promise<RateDecision>
  /** The rest of a window; uses nothing. */
  look(name: string, limit: number, windowMilliseconds: number): Promise<RateState>
  /** Tells every process that the record behind `name` has changed, by raising its version. */
  invalidate(name: string): Promise<void>
  /** True while the shared store responds; always true when there is none. */
  ready(): Promise<boolean>
  /** The version of the shared store's server; null where there is none, or it does not say. */
  serverVersion(): Promise<string | null>
  /** Slots to be held for a while, by the same store. */
  readonly slots: Slots
  close(): Promise<void>
}

/** The hits of one name, oldest first; those before `first` have left the window. */
interface Recent {
  hits: number[]
  first: number
  windowMilliseconds: number
}

const maxNames = 100_000
const sweepEveryMilliseconds = 10_000

/** Counts in this process: the default without Redis, and the fallback while Redis is down. */
export class MemoryRateLimiter implements RateLimiter {
  readonly slots = new MemorySlots()
  /** Least recently hit first. */
  private readonly names = new Map<string, Recent>()
  private readonly sweeper: ReturnType<typeof setInterval>

  /** @param now returns the milliseconds of a monotonic clock */
  constructor(private readonly now: () => number = () => performance.now()) {
    this.sweeper = setInterval(() => this.sweep(), sweepEveryMilliseconds)
    this.sweeper.unref()
  }

  /** How many names are remembered, at most 100,000. */
  get size(): number {
    return this.names.size
  }

  async hit(name: string, limit: number, windowMilliseconds: number): Promise<RateDecision> {
    return this.take(name, limit, windowMilliseconds)
  }

  /** Like {@link hit}, synchronously. */
  take(name: string, limit: number, windowMilliseconds: number): RateDecision {
    const now = this.now()
    const recent = this.recent(name, windowMilliseconds)
    const count = recent.hits.length - recent.first
    const allowed = count < limit
    if (allowed) this.keep(name, recent, now)
    const freedAt = allowed ? now : (recent.hits[recent.hits.length - limit] ?? now)
    return {
      allowed,
      remaining: Math.max(0, limit - count - (allowed ? 1 : 0)),
      waitMilliseconds: freedAt + windowMilliseconds - now,
      version: null,
    }
  }

  /** Counts a hit that the shared store allowed at `at` (as of `performance.now()`); keeps the last `limit` of them. */
  note(name: string, limit: number, windowMilliseconds: number, at: number): void {
    const recent = this.recent(name, windowMilliseconds)
    if (recent.hits.length - recent.first >= limit) recent.first += 1
    this.keep(name, recent, at)
  }

  /** Takes back the latest hit, which was refused after all. */
  giveBack(name: string): void {
    const recent = this.names.get(name)
    if (recent && recent.hits.length > recent.first) recent.hits.pop()
  }

  async look(name: string, limit: number, windowMilliseconds: number): Promise<RateState> {
    const { hits, first } = this.recent(name, windowMilliseconds)
    const remaining = Math.max(0, limit - (hits.length - first))
    const last = hits.length > first ? (hits.at(-1) ?? 0) : undefined
    return { remaining, waitMilliseconds: last === undefined ? 0 : last + windowMilliseconds - this.now() }
  }

  async invalidate(): Promise<void> {}

  async ready(): Promise<boolean> {
    return true
  }

  async serverVersion(): Promise<null> {
    return null
  }

  async close(): Promise<void> {
    clearInterval(this.sweeper)
  }

  private recent(name: string, windowMilliseconds: number): Recent {
    const recent = this.names.get(name) ?? { hits: [], first: 0, windowMilliseconds }
    recent.windowMilliseconds = windowMilliseconds
    const start = this.now() - windowMilliseconds
    while ((recent.hits[recent.first] ?? Number.POSITIVE_INFINITY) <= start) recent.first += 1
    // Only now and then, so that the cost of a hit does not grow with their number.
    if (recent.first > recent.hits.length / 2) {
      recent.hits = recent.hits.slice(recent.first)
      recent.first = 0
    }
    return recent
  }

  private keep(name: string, recent: Recent, now: number): void {
    recent.hits.push(now)
    this.names.delete(name)
    this.names.set(name, recent)
    if (this.names.size > maxNames) this.names.delete(this.names.keys().next().value as string)
  }

  private sweep(): void {
    const now = this.now()
    for (const [name, { hits, windowMilliseconds }] of this.names)
      if ((hits.at(-1) ?? Number.NEGATIVE_INFINITY) <= now - windowMilliseconds) this.names.delete(name)
  }
}
