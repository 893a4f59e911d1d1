import type { AppContext } from '../../http/context.ts'
import { holdLease, releaseLease } from '../../platform/mongo/lease.ts'
import { keepOpen } from '../life-store.ts'
import { advance } from './advance.ts'
import type { Bounds } from './bounds.ts'
import type { Certification } from './model.ts'
import { deleteRecords } from './records-store.ts'
import { findAllRunning, findSwept, noteSwept } from './store.ts'

/** What is read as fast as this costs nobody anything. */
const freeMilliseconds = 100
const restFactor = 10
const leaseMilliseconds = 10_000

/**
 * Plays and grades the certifications that are running, in one living process at a time, by a lease: two would play the
 * same step twice. Another one goes on ten seconds after a process has died.
 */
export class CertificationLeader {
  private readonly lease = { name: 'certifications', owner: crypto.randomUUID() }
  private readonly busy = new Map<number, Promise<void>>()
  /** When each is looked at again: one of which much was recorded takes no more than a tenth of the time. */
  private readonly rests = new Map<number, number>()
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
    for (const id of this.rests.keys()) if (!running.some(({ _id }) => _id === id)) this.rests.delete(id)
    for (const certification of running) this.advance(certification)
    for (const id of await findSwept(db, now)) {
      await deleteRecords(db, id)
      await noteSwept(db, id)
    }
  }

  /** One that takes longer than a look is not looked at meanwhile, and keeps no other waiting. */
  private advance(certification: Certification): void {
    const { _id, scope } = certification
    if (this.busy.has(_id) || (this.rests.get(_id) ?? 0) > performance.now()) return
    // The sandbox does not age meanwhile.
    const kept = scope === null ? Promise.resolve() : keepOpen(this.app, scope)
    const work = kept
      .then(() => advance(this.app, this.bounds, certification))
      .then((read) => {
        this.rests.set(_id, performance.now() + restFactor * Math.max(0, read - freeMilliseconds))
      })
      .catch((error) =>
        this.app.log.warn(
          { certification_id: _id, error: String(error) },
          'Cannot go on with a certification',
        ),
      )
      .finally(() => this.busy.delete(_id))
    this.busy.set(_id, work)
  }
}
