import { DomainError } from '../core/errors.ts'
import { holdLease, releaseLease } from '../platform/mongo/lease.ts'
import type { SandboxContext } from '../sandbox/context.ts'
import { keepOpen } from '../sandbox/life-store.ts'
import { advance } from './advance.ts'
import type { Bounds } from './bounds.ts'
import type { Certification } from './model.ts'
import { deleteRecords } from './records-store.ts'
import { askFor, findAllRunning, findSwept, noteSwept } from './store.ts'

/** If a look spends no longer than this reading records, no pause follows. */
const freeMilliseconds = 100
const restFactor = 10
/** Number of looks skipped after a failure. Without the pause, a certification could fail once a second for hours. */
const looksLeftOut = 10
const leaseMilliseconds = 10_000
/** Maximum number of certifications advanced concurrently. More of them would keep requests waiting. */
const atOnce = 8

/**
 * Plays and grades the running certifications. A lease limits the work to one process at a time, because two processes
 * would play the same step twice. If that process dies, another one takes over ten seconds later.
 */
export class CertificationLeader {
  private readonly lease = { name: 'certifications', owner: crypto.randomUUID() }
  private readonly busy = new Map<number, Promise<void>>()
  /** Certifications waiting for their look, ordered by when they became due. */
  private waiting: Certification[] = []
  /**
   * Time at which each certification is due for its next look, by id and on the clock of `performance.now()`. The pause
   * grows with the time spent reading records, so a large certification takes no more than a tenth of the time.
   */
  private readonly due = new Map<number, number>()
  private readonly timer: ReturnType<typeof setInterval>
  private looking: Promise<void> | undefined
  private isStopped = false

  constructor(
    private readonly app: SandboxContext,
    private readonly bounds: Bounds,
  ) {
    this.timer = setInterval(() => this.wake(), bounds.look)
    this.timer.unref()
  }

  /** Finishes the steps in progress and leaves the rest to the next process. */
  async stop(): Promise<void> {
    this.isStopped = true
    clearInterval(this.timer)
    await this.looking
    await Promise.all(this.busy.values())
    await releaseLease(this.app.db, this.lease).catch(() => {})
  }

  private wake(): void {
    this.looking ??= this.look()
      .catch((error) => this.app.log.warn({ error: String(error) }, 'Cannot look at the certifications'))
      .finally(() => {
        this.looking = undefined
      })
  }

  private async look(): Promise<void> {
    const { db, clockWatch } = this.app
    if (this.isStopped || !clockWatch.isSound()) return
    const now = clockWatch.databaseNow()
    if (!(await holdLease(db, this.lease, now, new Date(now.getTime() + leaseMilliseconds)))) return
    const running = await findAllRunning(db)
    for (const id of this.due.keys()) if (!running.some(({ _id }) => _id === id)) this.due.delete(id)
    const dueAt = ({ _id }: Certification) => this.due.get(_id) ?? 0
    this.waiting = running
      .filter((one) => !this.busy.has(one._id) && dueAt(one) <= performance.now())
      .sort((one, other) => dueAt(one) - dueAt(other))
    this.advanceWaiting()
    for (const id of await findSwept(db, now)) {
      await deleteRecords(db, id)
      await noteSwept(db, id)
    }
  }

  /** Advances up to `atOnce` waiting certifications concurrently, so that a long step delays few others. */
  private advanceWaiting(): void {
    while (!this.isStopped && this.busy.size < atOnce) {
      const certification = this.waiting.shift()
      if (!certification) return
      const { _id } = certification
      const work = this.advance(certification)
        .catch((error) => this.noteFailure(certification, error))
        .then((rest) => {
          this.due.set(_id, performance.now() + rest)
          this.busy.delete(_id)
          this.advanceWaiting()
        })
      this.busy.set(_id, work)
    }
  }

  /** Returns how long to pause the certification, in milliseconds. */
  private async advance(certification: Certification): Promise<number> {
    const { scope } = certification
    // A sandbox does not expire while it is being certified.
    if (scope !== null) await keepOpen(this.app, scope)
    const read = await advance(this.app, this.bounds, certification)
    return restFactor * Math.max(0, read - freeMilliseconds)
  }

  /** Shows in `next` why the course cannot continue. Returns how long to pause the certification, in milliseconds. */
  private async noteFailure({ _id }: Certification, error: unknown): Promise<number> {
    this.app.log.warn({ certification_id: _id, error: String(error) }, 'Cannot go on with a certification')
    const text = `The course cannot go on yet: ${error instanceof DomainError ? error.message : 'the service is busy'}`
    await askFor(this.app.db, _id, { action: 'wait', text }).catch(() => {})
    return looksLeftOut * this.bounds.look
  }
}
