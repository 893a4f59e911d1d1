import type { Logger } from 'pino'
import { withTrace } from '../../../core/trace.ts'
import { withTimeoutOrNull } from '../../time-limits.ts'
import type { Db } from '../connection.ts'
import { RenewedLease } from './lease.ts'
import type { WorkSource, WorkWatch } from './work-watch.ts'

/** What {@link LeasedRounds} need. */
export interface RoundsContext {
  db: Db
  clockWatch: { isSound(): boolean; databaseNow(): Date }
  workWatch: Pick<WorkWatch, 'add'>
  log: Logger
}

/** Work that one process does in rounds. */
export interface LeasedWork {
  /** Names the lease. */
  name: string
  intervalMilliseconds: number
  /** Duration of the lease from each renewal, longer than the interval. */
  leaseMilliseconds: number
  /** What wakes the rounds that fell asleep, because it shows that there is something to do. */
  shownBy: WorkSource[]
  /** Renews the lease also while the rounds are asleep. */
  keepsLease?: boolean
  /** The message that is logged with the error of a renewal or a round that failed. */
  failureMessage: string
  /**
   * Returns false if there is nothing to do, so that the lease is not even taken, and the rounds fall asleep. Without it,
   * there always may be.
   */
  isNeeded?(): Promise<boolean>
  /** Does one round. Returns false if it found nothing to do, so that the rounds fall asleep. */
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
 * - Rounds that find nothing to do fall asleep: they have no timer, and the lease expires unless they keep it. They are
 *   woken by this process, or by the {@link WorkWatch}, which asks for the work of other processes.
 * - A process that stops, or whose clock has become wrong, begins nothing more. It renews the lease until everything in
 *   progress has ended, and only then gives it up, so that no other process begins before.
 * - If the process is killed or takes too long to stop, the lease expires and another process takes over.
 *
 * ```text
 *            nothing to do
 *  asleep ◀──────────────── standby, working
 *     └─────────────────────▶ woken: by this process, or by the work watch
 *
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
  private sleeping: { end(): void } | undefined
  private isAsleep = false
  /** True if the rounds were woken since the last one began. They then do not fall asleep. */
  private isWoken = false
  private isStopped = false

  constructor(
    private readonly context: RoundsContext,
    private readonly work: LeasedWork,
  ) {
    this.lease = new RenewedLease(context, work.name, work.leaseMilliseconds)
  }

  /** Begins with the next interval. */
  start(): void {
    const { shownBy, keepsLease } = this.work
    this.sleeping = this.context.workWatch.add({
      shownBy,
      isAsleep: () => this.isAsleep,
      onAnswer: (isFound) => {
        if (isFound) this.wake()
        else if (keepsLease) this.begin()
      },
    })
    this.setTimer()
  }

  /** Takes or renews the lease and begins a round now, even if the last one found nothing to do. */
  wake(): void {
    this.isWoken = true
    if (this.isAsleep) {
      this.isAsleep = false
      this.setTimer()
    }
    this.begin()
  }

  /** Returns true while this process may begin something. Long rounds ask again before each step. */
  mayWork(): boolean {
    return this.mayTake() && this.lease.isHeld()
  }

  /** Waits up to 5 s for the work in progress, and leaves the rest to the next process. */
  async stop(): Promise<void> {
    this.isStopped = true
    this.sleeping?.end()
    await withTimeoutOrNull(this.handOver(), stopMilliseconds)
    clearInterval(this.timer)
    await this.renewal
  }

  private setTimer(): void {
    if (this.isStopped) return
    this.timer = setInterval(() => this.begin(), this.work.intervalMilliseconds)
    this.timer.unref()
  }

  private fallAsleep(): void {
    // A process that hands over its lease renews it until everything has ended.
    if (this.isWoken || !this.mayTake()) return
    this.isAsleep = true
    clearInterval(this.timer)
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
    // A round in progress may have looked before the waking. It must not fall asleep at its end.
    if (!this.round) this.isWoken = false
    // A round in progress needs the lease until it ends, even if nothing more is to be done after it.
    const mayFallAsleep = !this.round && !this.isAsleep && this.mayTake()
    if (mayFallAsleep && !(await this.isNeeded())) {
      this.fallAsleep()
      return
    }
    const wasHolder = lease.isHeld()
    if (!(await lease.renew())) {
      work.onLost?.()
      // Another process does the work. The work watch wakes this one once that process's lease has expired.
      if (!work.isNeeded) this.fallAsleep()
      return
    }
    if (!this.mayWork()) {
      this.handOver().catch((error) => this.warn(error))
      return
    }
    if (!wasHolder) work.onTaken?.()
    if (this.isAsleep) return
    this.round ??= this.runRound()
      .catch((error) => this.warn(error))
      .finally(() => {
        this.round = undefined
      })
  }

  private async isNeeded(): Promise<boolean> {
    return this.work.isNeeded ? this.work.isNeeded() : true
  }

  private async runRound(): Promise<void> {
    if (!(await this.work.runRound())) this.fallAsleep()
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
