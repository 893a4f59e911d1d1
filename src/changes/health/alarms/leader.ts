import type { AppContext } from '../../../http/context.ts'
import { LeasedRounds } from '../../../platform/mongo/turns/leased-rounds.ts'
import { isAnyShown } from '../../../platform/mongo/turns/work-watch.ts'
import { anyAlarmWebhook } from '../../webhooks/store.ts'
import { type AlarmContext, evaluate, findWatchedKeys, finishAlarms, type WatchedKey } from './evaluate.ts'
import { anyAlarm, findOwnersWithAlarms } from './store.ts'

/** Interval of the rounds, so that ended keys and moved sandbox clocks are noticed within 5 s (decisions §29). */
const roundMilliseconds = 2000
/** Duration of the lease. If the holder dies, another process takes over once the lease expires. */
const leaseMilliseconds = 6000
/** Time between two evaluations of all keys, so that a finding is reported within 60 s. */
const evaluationMilliseconds = 30_000

/** The context of the alarms' evaluation. */
export type AlarmLeaderContext = AlarmContext &
  Pick<AppContext, 'clockWatch' | 'workWatch'> & {
    /** Loads the sandbox clocks that other processes have moved. Absent on live data. */
    refreshClocks?: (ownerIds?: number[]) => Promise<void>
  }

/**
 * Evaluates the findings of the keys that want alarms, in rounds, in one process at a time, because two processes would
 * report the same finding twice. Without it, a partner whose integration is silent would hear nothing (decisions §29).
 */
export class AlarmLeader {
  private readonly rounds: LeasedRounds
  /** Time of the last evaluation of all keys, in milliseconds since 1970. */
  private evaluatedAt = 0
  /** By how many milliseconds each owner's clock was ahead in the last round. */
  private aheadInLastRound = new Map<number, number>()
  /** The keys that could not be evaluated or stored in the last round. */
  private unfinished: WatchedKey[] = []

  constructor(
    private readonly app: AlarmLeaderContext,
    interval = roundMilliseconds,
  ) {
    const shownBy = [anyAlarmWebhook, anyAlarm]
    this.rounds = new LeasedRounds(app, {
      name: 'alarms',
      intervalMilliseconds: interval,
      leaseMilliseconds,
      shownBy,
      failureMessage: 'Cannot evaluate alarms',
      isNeeded: () => isAnyShown(app.db, shownBy),
      runRound: async () => {
        await this.runRound()
        return true
      },
      onTaken: () => {
        // What the previous holder has evaluated is not known here.
        this.evaluatedAt = 0
      },
    })
    this.rounds.start()
  }

  /** Leaves what is in progress to the next process if it takes too long. */
  stop(): Promise<void> {
    return this.rounds.stop()
  }

  private async runRound(): Promise<void> {
    const { app } = this
    const isEvaluation = this.isEvaluationDue()
    const ownerIds = isEvaluation ? undefined : await this.ownersInBetween()
    if (ownerIds?.length === 0) return
    const watched = await findWatchedKeys(app, ownerIds)
    if (!this.rounds.mayWork()) return
    await finishAlarms(app, watched, ownerIds)
    await app.refreshClocks?.(watched.map(({ ownerId }) => ownerId))
    const moved = this.movedSinceLastRound(watched)
    if (isEvaluation) this.evaluatedAt = app.clock().getTime()
    const due = isEvaluation ? watched : this.dueInBetween(watched, moved)
    if (due.length === 0) return
    this.unfinished = await evaluate(app, due, () => this.rounds.mayWork())
    if (this.rounds.mayWork()) await finishAlarms(app, watched, ownerIds)
  }

  /** Returns true if all keys are to be evaluated. A clock that was set back must not postpone it. */
  private isEvaluationDue(): boolean {
    return Math.abs(this.app.clock().getTime() - this.evaluatedAt) >= evaluationMilliseconds
  }

  /**
   * Returns whose keys a round between two evaluations looks at: on live data those that have alarms, which may have to
   * end, and those that could not be evaluated. Reading every webhook and its key in each round would cost more than the
   * evaluations. In the sandbox it is undefined, which means everybody's, because any clock may have been moved.
   */
  private async ownersInBetween(): Promise<number[] | undefined> {
    if (this.app.refreshClocks) return undefined
    const withAlarms = await findOwnersWithAlarms(this.app.db)
    return [...new Set([...withAlarms, ...this.unfinished.map(({ ownerId }) => ownerId)])]
  }

  /** Returns the owners whose clock was moved since the last round. */
  private movedSinceLastRound(watched: WatchedKey[]): Set<number> {
    const { clock } = this.app
    const now = clock().getTime()
    const ahead = new Map(watched.map(({ ownerId }) => [ownerId, clock(ownerId).getTime() - now]))
    const before = this.aheadInLastRound
    this.aheadInLastRound = ahead
    const owners = [...ahead].filter(([ownerId, by]) => isMoved(before.get(ownerId) ?? 0, by))
    return new Set(owners.map(([ownerId]) => ownerId))
  }

  /** Returns the keys that cannot wait for the next evaluation. */
  private dueInBetween(watched: WatchedKey[], moved: Set<number>): WatchedKey[] {
    const unfinished = new Set(this.unfinished.map(({ keyId }) => keyId))
    return watched.filter(({ ownerId, keyId }) => unfinished.has(keyId) || moved.has(ownerId))
  }
}

/** Reading a clock twice takes a moment, so less than a second is no move. */
function isMoved(before: number, after: number): boolean {
  return Math.abs(after - before) >= 1000
}
