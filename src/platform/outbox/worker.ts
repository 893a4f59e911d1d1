import type { Logger } from 'pino'
import type { Clock } from '../../core/clock.ts'
import { inTrace, resumeTrace } from '../../core/trace.ts'
import { hideValues } from '../log.ts'
import type { Db } from '../mongo/connection.ts'
import type { WorkWatch } from '../mongo/turns/work-watch.ts'
import {
  anyDueJob,
  claimJob,
  deleteJob,
  type Job,
  type JobHandler,
  rescheduleJob,
  type Topics,
} from './outbox.ts'

const leaseMilliseconds = 30_000
const renewEveryMilliseconds = 10_000
const maxPauseMilliseconds = 600_000
/** How long a failing job is retried before it is parked (decisions §4). */
const triedForMilliseconds = 24 * 3_600_000

/** What an {@link OutboxWorker} needs. */
interface OutboxParts {
  db: Db
  topics: Topics
  clock: Clock
  log: Logger
  /** Tells of jobs for which nobody has woken the worker, such as those of other processes. */
  workWatch: Pick<WorkWatch, 'add'>
  /**
   * Returns false while this process's clock is wrong. With a wrong clock, the worker could take jobs that other
   * processes hold, or park jobs too early. By default, the worker may always work.
   */
  mayWork?: () => boolean
}

/**
 * Processes the outbox in one lane per topic, so that a topic whose jobs hang or fail does not hold up the others. Jobs
 * whose topic this process does not know, for example because a later release added it, are left to other processes.
 */
export class OutboxWorker {
  private readonly lanes: Lane[]
  private sleeping: { end(): void } | undefined

  constructor(private readonly parts: OutboxParts) {
    const { db, topics, clock, log, mayWork = () => true } = parts
    this.lanes = Object.entries(topics).map(
      ([topic, run]) => new Lane({ db, topic, run, clock, log, mayWork }),
    )
  }

  start(): void {
    const { topics, clock, workWatch } = this.parts
    for (const lane of this.lanes) lane.start()
    this.sleeping ??= workWatch.add({
      shownBy: [anyDueJob(Object.keys(topics), clock)],
      isAsleep: () => this.lanes.some((lane) => lane.isResting()),
      onAnswer: (isFound) => {
        if (isFound) this.wake()
      },
    })
  }

  /** Looks for due jobs at once. */
  wake(): void {
    for (const lane of this.lanes) lane.wake()
  }

  /** Stops claiming jobs and waits for the jobs in progress to finish. */
  async stop(): Promise<void> {
    this.sleeping?.end()
    await Promise.all(this.lanes.map((lane) => lane.stop()))
  }
}

/** What a {@link Lane} needs: the worker's parts, and one of its topics. */
interface LaneParts extends Required<Omit<OutboxParts, 'topics' | 'workWatch'>> {
  topic: string
  run: JobHandler
}

/**
 * Claims a topic's due jobs one after another, each with a lease, so that multiple processes share the work and a
 * killed process's job is picked up again. A failing job is retried with backoff for a day and then parked.
 */
class Lane {
  private running: Promise<void> = Promise.resolve()
  private stopped = true
  private resting = false
  /** Resolved when the lane is woken. A new promise replaces it after each pause. */
  private woken = Promise.withResolvers<void>()
  /** Earliest time at which a job that failed in this process is due again, in milliseconds since 1970. */
  private dueAt = Number.POSITIVE_INFINITY

  constructor(private readonly parts: LaneParts) {}

  start(): void {
    if (!this.stopped) return
    this.stopped = false
    this.running = this.loop()
  }

  wake(): void {
    this.woken.resolve()
  }

  /** Returns true while it waits for a job. */
  isResting(): boolean {
    return this.resting
  }

  async stop(): Promise<void> {
    this.stopped = true
    this.wake()
    await this.running
  }

  private async loop(): Promise<void> {
    while (!this.stopped) {
      if (this.dueAt <= this.parts.clock().getTime()) this.dueAt = Number.POSITIVE_INFINITY
      const worked = await this.workOne().catch((error) => {
        const { log, topic } = this.parts
        log.warn({ topic, error: String(error) }, 'Cannot read the outbox')
        return false
      })
      if (!worked && !this.stopped) await this.rest()
    }
  }

  /** Rests until it is woken, or until a job that failed in this process is due again. */
  private async rest(): Promise<void> {
    const untilDue = Math.max(0, this.dueAt - this.parts.clock().getTime())
    const late = Number.isFinite(untilDue) ? setTimeout(() => this.wake(), untilDue) : undefined
    this.resting = true
    await this.woken.promise
    this.resting = false
    this.woken = Promise.withResolvers<void>()
    clearTimeout(late)
  }

  private async workOne(): Promise<boolean> {
    const { db, topic, run, clock, mayWork } = this.parts
    if (!mayWork()) return false
    const job = await claimJob(db, topic, clock(), this.leaseEnd())
    if (!job) return false
    const renewal = setInterval(() => this.renew(job), renewEveryMilliseconds)
    const trace = resumeTrace(job.trace, `job ${topic}`)
    trace?.note?.({ host_id: job.owner_id })
    try {
      await inTrace(trace, () => run(job.payload).then(() => deleteJob(db, job)))
    } catch (error) {
      await this.putBack(job, error)
    } finally {
      clearInterval(renewal)
    }
    return true
  }

  private leaseEnd(): Date {
    return new Date(this.parts.clock().getTime() + leaseMilliseconds)
  }

  /** Extends a long job's lease, so that no other process picks the job up. */
  private renew(job: Job): void {
    // A failure is ignored. If the lease expires, the job may run twice.
    rescheduleJob(this.parts.db, job, { due_at: this.leaseEnd() }).catch(() => {})
  }

  private async putBack(job: Job, error: unknown): Promise<void> {
    const { db, log, clock } = this.parts
    const now = clock().getTime()
    // If this breaks: a job that has failed once is not tried again
    const parked = now - (job.tried_since ?? job.created_at).getTime() >= triedForMilliseconds
    const pause = Math.min(maxPauseMilliseconds, 2 ** job.attempts * 250)
    const { topic, attempts } = job
    log.warn({ topic, attempts, parked, error: String(error) }, 'A job failed')
    const change = { parked, due_at: new Date(now + pause), last_error: hideValues(error) }
    await rescheduleJob(db, job, change)
    this.dueAt = Math.min(this.dueAt, now + pause)
  }
}
