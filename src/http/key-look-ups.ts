import { MemoryRateLimiter } from '../platform/rate-limiter.ts'

/**
 * Limits lookups of uncached keys from addresses that have exceeded their failure limit. All such addresses share this
 * limit. Their keys are still looked up, but less often, so that a client cannot lock out others behind the same
 * address, and a flood of wrong keys does not reach the database.
 */
export class KeyLookUps {
  private readonly beyondLimit = new MemoryRateLimiter()
  /** Number of lookups in progress in this process, by the name of the failure counter. */
  private readonly inProgress = new Map<string, number>()

  /**
   * Begins a lookup, which {@link end} ends. Lookups in progress may fail, so they count too; otherwise, concurrent
   * requests could exceed the limit.
   *
   * @param remaining how many more requests of the address may fail
   * @returns false if the key must not be looked up now
   */
  begin(name: string, remaining: number): boolean {
    const others = this.inProgress.get(name) ?? 0
    const isBeyondLimit = remaining <= others
    if (isBeyondLimit && !this.beyondLimit.take('beyond', lookUpsPerSecondBeyondLimit, 1000).allowed)
      return false
    this.inProgress.set(name, others + 1)
    return true
  }

  end(name: string): void {
    const left = (this.inProgress.get(name) ?? 0) - 1
    if (left > 0) this.inProgress.set(name, left)
    else this.inProgress.delete(name)
  }
}

const lookUpsPerSecondBeyondLimit = 10
