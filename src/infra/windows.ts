/** What a sliding window says to one hit. */
export interface WindowDecision {
  allowed: boolean
  /** Hits left in the window after this one. */
  remaining: number
  /** Milliseconds until the next hit is allowed (refused), or until the window is wholly free again. */
  waitMilliseconds: number
  /** Version of the key's record as last announced; null where nobody announces. */
  epoch: string | null
}

/**
 * Exact sliding windows: at most `limit` hits in any `windowMilliseconds`; a refused hit does not count.
 * Answers never fail: when the shared store is away, an in-process window stands in.
 */
export interface Windows {
  /**
   * Takes a place in a window, if there is one.
   *
   * @param record what {@link announce} is asked about; the window's own name unless told
   */
  hit(name: string, limit: number, windowMilliseconds: number, record?: string): Promise<WindowDecision>
  /** Places left in a window; takes none. */
  remaining(name: string, limit: number, windowMilliseconds: number): Promise<number>
  /** Tells every process that the record behind `name` changed. */
  announce(name: string): Promise<void>
  /** True while the shared store answers; always true when there is none. */
  ready(): Promise<boolean>
  close(): Promise<void>
}

/** Windows that live in this process: the default without Redis, and the stand-in while Redis is away. */
export class MemoryWindows implements Windows {
  private readonly hits = new Map<string, number[]>()
  private readonly sweeper: ReturnType<typeof setInterval>

  /** @param now milliseconds of a clock that never steps */
  constructor(private readonly now: () => number = () => performance.now()) {
    this.sweeper = setInterval(() => this.sweep(), 60_000)
    this.sweeper.unref()
  }

  async hit(name: string, limit: number, windowMilliseconds: number): Promise<WindowDecision> {
    const now = this.now()
    const recent = this.recent(name, windowMilliseconds)
    const allowed = recent.length < limit
    if (allowed) recent.push(now)
    this.hits.set(name, recent)
    const freedAt = allowed ? now : (recent[recent.length - limit] ?? now)
    return {
      allowed,
      remaining: Math.max(0, limit - recent.length),
      waitMilliseconds: freedAt + windowMilliseconds - now,
      epoch: null,
    }
  }

  async remaining(name: string, limit: number, windowMilliseconds: number): Promise<number> {
    return Math.max(0, limit - this.recent(name, windowMilliseconds).length)
  }

  async announce(): Promise<void> {}

  async ready(): Promise<boolean> {
    return true
  }

  async close(): Promise<void> {
    clearInterval(this.sweeper)
  }

  private recent(name: string, windowMilliseconds: number): number[] {
    const start = this.now() - windowMilliseconds
    return (this.hits.get(name) ?? []).filter((at) => at > start)
  }

  private sweep(): void {
    const longAgo = this.now() - 3_600_000
    for (const [name, hits] of this.hits) {
      if ((hits.at(-1) ?? Number.NEGATIVE_INFINITY) < longAgo) this.hits.delete(name)
    }
  }
}
