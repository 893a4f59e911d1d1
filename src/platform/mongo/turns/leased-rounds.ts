import type { Logger } from 'pino'
import { withTrace } from '../../../core/trace.ts'
import { withTimeoutOrNull } from '../../time-limits.ts'
import type { Db } from '../connection.ts'
import { RenewedLease } from './lease.ts'

/** What {@link LeasedRounds} need. */
export interface RoundsContext {
  db: Db
  clockWatch: { isSound(): boolean; databaseNow(): Date }
  log: Logger
}

/** Work that one process does in rounds. */
export interface LeasedWork {
  /** Names the lease. */
  name: string
  intervalMilliseconds: number
  /** Duration of the lease from each renewal, longer than the interval. */
  leaseMilliseconds: number
  /** Number of intervals that are skipped after one that found nothing to do. */
  skippedWhenIdle: number
  /** The message that is logged with the error of a renewal or a round that failed. */
  failureMessage: string
  /** Returns false if there is nothing to do, so that the lease is not even taken. Without it, there always may be. */
  isNeeded?(): Promise<boolean>
  /** Does one round. Returns false if it found nothing to do. */
  runRound(): Promise<boolean>
  /** Called before the first round after another process may have held the lease. */
  onTaken?(): void
  /** Called, perhaps several times, when another process holds the lease or is about to. Begins nothing more. */
  onLost?(): void
  /** Waits for whatever the rounds have begun and not awaited. */
  drain?(): Promise<void>
}

/** Maximum wait for work in progress when the process stops. */
const stopMilliseconds = 5000

/**
 * Lets one process at a time do work in rounds. Without it, two processes would send the same hint, play the same step
 * of a certification or report the same finding twice.
 *
 * - The lease is renewed at every interval, even while a long round runs.
 * - A process that stops, or whose clock has become wrong, begins nothing more. It renews the lease until everything in
 *   progress has ended, and only then gives it up, so that no other process begins before.
 * - If the process is killed or takes too long to stop, the lease expires and another process takes over.
 *
 * ```text
 *            lease taken                      stop, or a wrong clock
 *  standby ──────────────▶ working in rounds ───────────────────────▶ handing over
 *     ▲                            │ lease expired, another took it        │ nothing in progress
 *     └────────────────────────────┴──────────────────────────────────────┘
 * ```
 */
export class LeasedRounds {
  private readonly lease: RenewedLease
  private timer: ReturnType<typeof setInterval> | undefined
  private renewal: Promise<void> | undefined
  private round: Promise<void> | undefined
  private handingOver: Promise<void> | undefined
  private intervalsToSkip = 0
  private isStopped = false

  constructor(
    private readonly context: RoundsContext,
    private readonly work: LeasedWork,
  ) {
    this.lease = new RenewedLease(context, work.name, work.leaseMilliseconds)
  }

  /** Begins with the next interval. */
  start(): void {
    this.timer = setInterval(() => this.begin(), this.work.intervalMilliseconds)
    this.timer.unref()
  }

  /** Takes or renews the lease and begins a round now, even if the last one found nothing to do. */
  wake(): void {
    this.intervalsToSkip = 0
    this.begin()
  }

  /** Returns true while this process may begin something. Long rounds ask again before each step. */
  mayWork(): boolean {
    return this.mayTake() && this.lease.isHeld()
  }

  /** Waits up to 5 s for the work in progress, and leaves the rest to the next process. */
  async stop(): Promise<void> {
    this.isStopped = true
    await withTimeoutOrNull(this.handOver(), stopMilliseconds)
    clearInterval(this.timer)
    await this.renewal
  }

  private mayTake(): boolean {
    return !this.isStopped && !this.handingOver && this.context.clockWatch.isSound()
  }

  private begin(): void {
    // A request may wake the process, but the work does not belong to the request's trace.
    this.renewal ??= withTrace(undefined, () => this.renewAndBeginRound())
      .catch((error) => this.warn(error))
      .finally(() => {
        this.renewal = undefined
      })
  }

  private async renewAndBeginRound(): Promise<void> {
    const { lease, work } = this
    if (!this.mayTake() && !lease.isHeld()) return
    if (this.mayTake() && (await this.isIdle())) return
    const wasHolder = lease.isHeld()
    if (!(await lease.renew())) {
      work.onLost?.()
      return
    }
    if (!this.mayWork()) {
      this.handOver().catch((error) => this.warn(error))
      return
    }
    if (!wasHolder) work.onTaken?.()
    this.round ??= this.runRound()
      .catch((error) => this.warn(error))
      .finally(() => {
        this.round = undefined
      })
  }

  private async isIdle(): Promise<boolean> {
    if (this.intervalsToSkip > 0) {
      this.intervalsToSkip -= 1
      return true
    }
    if (!this.work.isNeeded || (await this.work.isNeeded())) return false
    this.intervalsToSkip = this.work.skippedWhenIdle
    return true
  }

  private async runRound(): Promise<void> {
    if (!(await this.work.runRound())) this.intervalsToSkip = this.work.skippedWhenIdle
  }

  private handOver(): Promise<void> {
    this.handingOver ??= this.finishAndRelease().finally(() => {
      this.handingOver = undefined
    })
    return this.handingOver
  }

  private async finishAndRelease(): Promise<void> {
    this.work.onLost?.()
    await this.round
    await this.work.drain?.()
    await this.renewal
    await this.lease.release()
  }

  private warn(error: unknown): void {
    this.context.log.warn({ error: String(error) }, this.work.failureMessage)
  }
}
