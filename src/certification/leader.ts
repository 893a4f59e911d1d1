import { DomainError } from '../core/errors.ts'
import type { AppContext } from '../http/context.ts'
import { holdLease, releaseLease } from '../platform/mongo/lease.ts'
import { keepOpen } from '../sandbox/life-store.ts'
import { advance } from './advance.ts'
import type { Bounds } from './bounds.ts'
import type { Certification } from './model.ts'
import { deleteRecords } from './records-store.ts'
import { askFor, findAllRunning, findSwept, noteSwept } from './store.ts'

/** A look that takes no longer than this is followed by no rest. */
const freeMilliseconds = 100
const restFactor = 10
/** Looks that are left out after one that failed: without a rest a certification could fail once a second for hours. */
const looksLeftOut = 10
const leaseMilliseconds = 10_000
/** Certifications that are advanced at the same time: more of them would keep requests waiting. */
const atOnce = 8

/**
 * Plays and grades the certifications that are running, in one living process at a time, by a lease: two would play the
 * same step twice. Another one goes on ten seconds after a process has died.
 */
export class CertificationLeader {
  private readonly lease = { name: 'certifications', owner: crypto.randomUUID() }
  private readonly busy = new Map<number, Promise<void>>()
  /** Those that wait for their look, the one that was looked at longest ago first. */
  private waiting: Certification[] = []
  /** When each may be looked at again, by `performance.now()`: a large one takes no more than a tenth of the time. */
  private readonly due = new Map<number, number>()
  private readonly timer: ReturnType<typeof setInterval>
  private looking: Promise<void> | undefined
  private isStopped = false

  constructor(
    private readonly app: AppContext,
    private readonly bounds: Bounds,
  ) {
    this.timer = setInterval(() => this.wake(), bounds.look)
    this.timer.unref()
  }

  /** Ends the steps in progress, and leaves the rest to the next process. */
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

  /** A step that takes long is not looked at meanwhile, and keeps few others waiting. */
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

  /** Returns for how long it is to rest, in milliseconds. */
  private async advance(certification: Certification): Promise<number> {
    const { scope } = certification
    // The sandbox does not age meanwhile.
    if (scope !== null) await keepOpen(this.app, scope)
    const read = await advance(this.app, this.bounds, certification)
    return restFactor * Math.max(0, read - freeMilliseconds)
  }

  /** Says what a course waits for if a step cannot be played; returns for how long it is to rest, in milliseconds. */
  private async noteFailure({ _id }: Certification, error: unknown): Promise<number> {
    this.app.log.warn({ certification_id: _id, error: String(error) }, 'Cannot go on with a certification')
    const text = `The course cannot go on yet: ${error instanceof DomainError ? error.message : 'the service is busy'}`
    await askFor(this.app.db, _id, { action: 'wait', text }).catch(() => {})
    return looksLeftOut * this.bounds.look
  }
}
