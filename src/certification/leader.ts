import { DomainError } from '../core/errors.ts'
import { LeasedRounds } from '../platform/mongo/turns/leased-rounds.ts'
import { keepOpen } from '../sandbox/lifecycle/lifetime.ts'
import type { SandboxContext } from '../sandbox/sandbox-context.ts'
import type { Bounds } from './course/cases.ts'
import { advance, sweepRecords } from './engine.ts'
import type { Certification } from './model.ts'
import { anyRunning, anyUnswept, findAllRunning, setNextUnlessPlayed } from './store.ts'

const leaseMilliseconds = 10_000
/**
 * Time that a check of a certification may spend loading requests, in milliseconds. After a slower check, the
 * certification is paused for ten times the excess, so that loading takes up only a small share of the time.
 */
const readAllowanceMilliseconds = 100
const pauseFactor = 10
/**
 * Number of polling intervals to pause a certification after a failure. Otherwise, it could fail every second for
 * hours.
 */
const checksSkippedAfterFailure = 10
/** Maximum number of certifications advanced concurrently. Advancing more would slow down requests. */
const maxConcurrent = 8

/**
 * Plays and grades the running certifications in rounds, in one process at a time, because two processes would play the
 * same step twice.
 */
export class CertificationLeader {
  private readonly rounds: LeasedRounds
  /** End of each certification's pause, as a `performance.now()` time, by certification id. */
  private readonly pausedUntil = new Map<number, number>()

  constructor(
    private readonly app: SandboxContext,
    private readonly bounds: Bounds,
  ) {
    this.rounds = new LeasedRounds(app, {
      name: 'certifications',
      intervalMilliseconds: bounds.checkInterval,
      leaseMilliseconds,
      shownBy: [anyRunning, anyUnswept(() => app.clockWatch.databaseNow())],
      // The lease also shows that a service is using the database.
      keepsLease: true,
      failureMessage: 'Cannot advance the certifications',
      runRound: () => this.advanceAll(),
    })
    this.rounds.start()
    this.rounds.wake()
  }

  /** Finishes the steps in progress and leaves the rest to the next process. */
  stop(): Promise<void> {
    return this.rounds.stop()
  }

  /** Returns false if no certification is running. */
  private async advanceAll(): Promise<boolean> {
    const now = this.app.clockWatch.databaseNow()
    const running = await findAllRunning(this.app.db)
    const sandboxIds = running.map(({ sandbox_id }) => sandbox_id).filter((id) => id !== null)
    if (sandboxIds.length > 0) await this.app.clocks.refresh(sandboxIds)
    for (const id of this.pausedUntil.keys())
      if (!running.some(({ _id }) => _id === id)) this.pausedUntil.delete(id)
    const waiting = running.values()
    const lane = async () => {
      for (const certification of waiting) {
        if (!this.rounds.mayWork()) return
        await this.advanceOrPause(certification)
      }
    }
    await Promise.all(Array.from({ length: maxConcurrent }, lane))
    await sweepRecords(this.app, now)
    return running.length > 0
  }

  /** Advances a certification. If that fails, pauses it, and `next` explains why the course cannot continue. */
  private async advanceOrPause(certification: Certification): Promise<void> {
    const { _id, sandbox_id: sandboxId } = certification
    if ((this.pausedUntil.get(_id) ?? 0) > performance.now()) return
    try {
      // The sandbox must not expire while a certification is running in it.
      if (sandboxId !== null) await keepOpen(this.app, sandboxId)
      const read = await advance(this.app, this.bounds, certification)
      this.pause(_id, pauseFactor * Math.max(0, read - readAllowanceMilliseconds))
    } catch (error) {
      this.pause(_id, checksSkippedAfterFailure * this.bounds.checkInterval)
      this.app.log.warn({ certification_id: _id, error: String(error) }, 'Cannot advance a certification')
      const text = `The course cannot continue yet: ${error instanceof DomainError ? error.message : 'the service is busy'}`
      await setNextUnlessPlayed(this.app.db, _id, { action: 'wait', text }).catch(() => {})
    }
  }

  private pause(id: number, milliseconds: number): void {
    this.pausedUntil.set(id, performance.now() + milliseconds)
  }
}
