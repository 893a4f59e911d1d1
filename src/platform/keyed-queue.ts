import { AsyncLocalStorage } from 'node:async_hooks'
import AsyncLock from 'async-lock'
import type { DomainError } from '../core/errors.ts'

/** Runs tasks with the same name one at a time within this process. */
export class KeyedQueue {
  private readonly lock: AsyncLock

  /**
   * @param timeoutMilliseconds maximum time that a task may wait for earlier tasks
   * @param timeoutError creates the error thrown if a task waits too long or too many tasks are waiting
   */
  constructor(
    timeoutMilliseconds: number,
    private readonly timeoutError: () => DomainError,
  ) {
    this.lock = new AsyncLock({ timeout: timeoutMilliseconds, maxPending: 10_000 })
  }

  /** @throws DomainError created by `timeoutError` */
  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    let hasBegun = false
    const begin = () => {
      hasBegun = true
      return work()
    }
    try {
      // Unless it is bound, `work` runs in the previous task's async context, which may belong to another trace.
      return await this.lock.acquire(name, AsyncLocalStorage.bind(begin))
    } catch (error) {
      throw hasBegun ? error : this.timeoutError()
    }
  }
}
