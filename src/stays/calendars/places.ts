import { DomainError } from '../../core/errors.ts'

/** Time that a request waits for a place. */
const maxWaitMilliseconds = 5000
const pauseMilliseconds = 50

/** How many may work at a time in a process: in all, and for one host. */
export interface PlaceLimits {
  total: number
  perHost: number
}

/**
 * Places for work that takes seconds and megabytes, and that any request may ask for. Without a bound, the requests of one
 * host could take all of a process's memory, and the work of other hosts would wait for theirs.
 */
export class Places {
  private readonly byHost = new Map<number, number>()
  private taken = 0

  constructor(private readonly limits: PlaceLimits) {}

  /**
   * Does a host's work once there is a place for it.
   *
   * @param message what the error says if there is none
   * @throws DomainError `conflict` with a retry time after five seconds
   */
  async with<T>(ownerId: number, message: string, work: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + maxWaitMilliseconds
    while (!this.isFree(ownerId)) {
      if (performance.now() > deadline) throw new DomainError('conflict', message, [], 1)
      await Bun.sleep(pauseMilliseconds)
    }
    this.count(ownerId, 1)
    try {
      return await work()
    } finally {
      this.count(ownerId, -1)
    }
  }

  private isFree(ownerId: number): boolean {
    return this.taken < this.limits.total && this.ofHost(ownerId) < this.limits.perHost
  }

  private ofHost(ownerId: number): number {
    return this.byHost.get(ownerId) ?? 0
  }

  private count(ownerId: number, change: 1 | -1): void {
    this.taken += change
    const left = this.ofHost(ownerId) + change
    if (left === 0) this.byHost.delete(ownerId)
    else this.byHost.set(ownerId, left)
  }
}
