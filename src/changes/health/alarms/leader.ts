import type { AppContext } from '../../../http/context.ts'
import { RenewedLease } from '../../../platform/mongo/lease.ts'
import { hasAlarmWebhooks } from '../../webhooks/store.ts'
import { type AlarmContext, evaluate, findWatchedKeys, finishAlarms, type WatchedKey } from './evaluate.ts'
import { hasAlarms } from './store.ts'

/** Interval of the rounds, so that ended keys and moved sandbox clocks are noticed within 5 s (decisions §29). */
const roundMilliseconds = 2000
/** Duration of the lease. If the holder dies, another process takes over once the lease expires. */
const leaseMilliseconds = 6000
/** Time between two evaluations of all keys, so that a finding is reported within 60 s. */
const evaluationMilliseconds = 30_000
/** Number of rounds that are skipped after one that found nothing to watch. */
const roundsSkippedWhenIdle = 1
const stopMilliseconds = 5000

/** The context of the alarms' evaluation. */
export type AlarmLeaderContext = AlarmContext &
  Pick<AppContext, 'clockWatch'> & {
    /** Loads the sandbox clocks that other processes have moved. Absent on live data. */
    refreshClocks?: (ownerIds?: number[]) => Promise<void>
  }

/**
 * Evaluates the findings of the keys that want alarms, in rounds. A lease limits the work to one process at a time,
 * because two processes would report the same finding twice. Without it, a partner whose integration is silent would
 * hear nothing (decisions §29).
 */
export class AlarmLeader {
  private readonly lease: RenewedLease
  private readonly timer: ReturnType<typeof setInterval>
  private renewal: Promise<void> | undefined
  private round: Promise<void> | undefined
  /** Time of the last evaluation of all keys, in milliseconds since 1970. */
  private evaluatedAt = 0
  /** By how many milliseconds each owner's clock was ahead in the last round. */
  private aheadInLastRound = new Map<number, number>()
  /** The keys that could not be evaluated or stored in the last round. */
  private unfinished: WatchedKey[] = []
  private roundsToSkip = 0
  private isStopped = false

  constructor(
    private readonly app: AlarmLeaderContext,
    interval = roundMilliseconds,
  ) {
    this.lease = new RenewedLease(app, 'alarms', leaseMilliseconds)
    this.timer = setInterval(() => this.begin(), interval)
    this.timer.unref()
  }

  /** Leaves what is in progress to the next process if it takes too long. */
  async stop(): Promise<void> {
    this.isStopped = true
    clearInterval(this.timer)
    await Promise.race([Promise.all([this.renewal, this.round]), Bun.sleep(stopMilliseconds)])
    await this.lease.release().catch(() => {})
  }

  private begin(): void {
    this.renewal ??= this.renewAndBeginRound()
      .catch((error) => this.warn(error))
      .finally(() => {
        this.renewal = undefined
      })
  }

  /** Takes or renews the lease if there is anything to watch. It is renewed even while a round takes long. */
  private async renewAndBeginRound(): Promise<void> {
    if (this.roundsToSkip > 0) {
      this.roundsToSkip -= 1
      return
    }
    const { db } = this.app
    if (!(await hasAlarmWebhooks(db)) && !(await hasAlarms(db))) {
      this.roundsToSkip = roundsSkippedWhenIdle
      return
    }
    if (!(await this.holdsLease())) return
    this.round ??= this.runRound()
      .catch((error) => this.warn(error))
      .finally(() => {
        this.round = undefined
      })
  }

  private async runRound(): Promise<void> {
    const { app } = this
    const watched = await findWatchedKeys(app)
    if (!this.mayWork()) return
    await finishAlarms(app, watched)
    await app.refreshClocks?.(watched.map(({ ownerId }) => ownerId))
    const due = this.dueOf(watched)
    if (due.length === 0) return
    this.unfinished = await evaluate(app, due, () => this.mayWork())
    if (this.mayWork()) await finishAlarms(app, watched)
  }

  /**
   * Returns the keys to evaluate now: all of them from time to time, otherwise those whose sandbox's clock was moved and
   * those that could not be evaluated in the last round.
   */
  private dueOf(watched: WatchedKey[]): WatchedKey[] {
    const { clock } = this.app
    const now = clock().getTime()
    const ahead = new Map(watched.map(({ ownerId }) => [ownerId, clock(ownerId).getTime() - now]))
    const before = this.aheadInLastRound
    this.aheadInLastRound = ahead
    // A clock that was set back must not postpone the evaluation.
    if (Math.abs(now - this.evaluatedAt) >= evaluationMilliseconds) {
      this.evaluatedAt = now
      return watched
    }
    const unfinished = new Set(this.unfinished.map(({ keyId }) => keyId))
    return watched.filter(
      ({ ownerId, keyId }) =>
        unfinished.has(keyId) || isMoved(before.get(ownerId) ?? 0, ahead.get(ownerId) ?? 0),
    )
  }

  private async holdsLease(): Promise<boolean> {
    if (this.isStopped || !this.app.clockWatch.isSound()) return false
    const wasHolder = this.lease.isHeld()
    if (!(await this.lease.renew())) return false
    // What the previous holder has evaluated is not known here.
    if (!wasHolder) this.evaluatedAt = 0
    return true
  }

  private warn(error: unknown): void {
    this.app.log.warn({ error: String(error) }, 'Cannot evaluate alarms')
  }

  private mayWork(): boolean {
    return !this.isStopped && this.app.clockWatch.isSound() && this.lease.isHeld()
  }
}

/** Reading a clock twice takes a moment, so less than a second is no move. */
function isMoved(before: number, after: number): boolean {
  return Math.abs(after - before) >= 1000
}
