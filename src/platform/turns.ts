import AsyncLock from 'async-lock'
import type { DomainError } from '../core/errors.ts'

/** Runs work of the same name sequentially within this process. */
export class Turns {
  private readonly lock: AsyncLock

  /**
   * @param timeoutMilliseconds longest time that work waits for its turn
   * @param refusal makes the error thrown if the turn does not come in time, or if too much work is waiting
   */
  constructor(
    timeoutMilliseconds: number,
    private readonly refusal: () => DomainError,
  ) {
    this.lock = new AsyncLock({ timeout: timeoutMilliseconds, maxPending: 10_000 })
  }

  /** @throws DomainError made by `refusal` */
  async take<T>(name: string, work: () => Promise<T>): Promise<T> {
    try {
      return await this.lock.acquire(name, work)
    } catch (error) {
      if (error instanceof Error && /^async-lock timed out|^Too many pending/.test(error.message))
        throw this.refusal()
      throw error
    }
  }
}
