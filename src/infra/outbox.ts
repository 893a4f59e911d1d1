import { Schema, type Types } from 'mongoose'
import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import { notFound } from '../errors.ts'
import { type Db, modelOf, type Session } from './mongo.ts'

/** Something that must happen after a change, written in the change's own transaction. */
export interface Job {
  _id: Types.ObjectId
  topic: string
  host_id: number
  payload: Record<string, unknown>
  attempts: number
  /** Not before this moment; while a worker holds the job, the end of its lease. */
  due_at: Date
  parked: boolean
  last_error: string | null
  created_at: Date
}

const schema = new Schema<Job>({
  topic: { type: String, required: true },
  host_id: { type: Number, required: true },
  payload: { type: Schema.Types.Mixed, required: true },
  attempts: { type: Number, default: 0 },
  due_at: { type: Date, required: true },
  parked: { type: Boolean, default: false },
  last_error: { type: String, default: null },
  created_at: { type: Date, required: true },
})
schema.index({ parked: 1, due_at: 1 }, { name: 'job_due' })
schema.index({ host_id: 1 }, { name: 'job_host' })

export const jobModel = modelOf<Job>('outbox', schema)

/** Leaves a job behind in the transaction of the change it follows from. */
export async function leaveJob(
  db: Db,
  session: Session,
  now: Date,
  job: Pick<Job, 'topic' | 'host_id' | 'payload'>,
): Promise<void> {
  await jobModel(db).create([{ ...job, due_at: now, created_at: now }], { session })
}

/** What waits in the outbox. */
export interface OutboxState {
  pending: number
  parked: number
  /** Age of the oldest job that is not parked; 0 when there is none. */
  oldestAgeSeconds: number
}

/** How much waits in the outbox, and for how long. */
export async function outboxState(db: Db, now: Date): Promise<OutboxState> {
  const [pending, parked, oldest] = await Promise.all([
    jobModel(db).countDocuments({ parked: false }),
    jobModel(db).countDocuments({ parked: true }),
    jobModel(db).findOne({ parked: false }).sort({ created_at: 1 }).lean(),
  ])
  return {
    pending,
    parked,
    oldestAgeSeconds: oldest ? (now.getTime() - oldest.created_at.getTime()) / 1000 : 0,
  }
}

/** All jobs, parked ones first, then by age; at most 1,000. */
export async function listJobs(db: Db): Promise<Job[]> {
  return jobModel(db).find().sort({ parked: -1, created_at: 1 }).limit(1000).lean()
}

/**
 * Gives a parked job all its tries again.
 *
 * @throws DomainError `not_found` when no such job is parked
 */
export async function retryJob(db: Db, now: Date, id: string): Promise<Job> {
  const isId = /^[0-9a-f]{24}$/.test(id)
  const change = { $set: { parked: false, attempts: 0, due_at: now } }
  const job =
    isId && (await jobModel(db).findOneAndUpdate({ _id: id, parked: true }, change, { new: true }).lean())
  if (!job) throw notFound('Parked job')
  return job
}

/** Does the work of one topic; throws when the job must be tried again. May see a job twice. */
export type JobHandler = (payload: Record<string, unknown>) => Promise<void>

const lookEveryMilliseconds = 500
const leaseMilliseconds = 30_000
const maximumAttempts = 10
const longestPauseMilliseconds = 60_000

/**
 * Works off the outbox: claims one due job after another with a lease, so that several processes share the
 * work and a killed one's job is taken up again; retries with backoff, parks a job after its last try.
 */
export class OutboxWorker {
  private running: Promise<void> = Promise.resolve()
  private stopped = false
  private wakeUp: () => void = () => {}

  constructor(
    private readonly db: Db,
    private readonly handlers: Record<string, JobHandler>,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  start(): void {
    this.stopped = false
    this.running = this.loop()
  }

  /** Looks for work now instead of at the next tick. */
  wake(): void {
    this.wakeUp()
  }

  /** Finishes the job in hand. */
  async stop(): Promise<void> {
    this.stopped = true
    this.wakeUp()
    await this.running
  }

  private async loop(): Promise<void> {
    while (!this.stopped) {
      const worked = await this.workOne().catch((error) => {
        this.log.warn({ error: String(error) }, 'The outbox cannot be read')
        return false
      })
      if (!worked && !this.stopped) await this.rest()
    }
  }

  private rest(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, lookEveryMilliseconds)
      this.wakeUp = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  private async workOne(): Promise<boolean> {
    const now = this.clock()
    const job = await jobModel(this.db)
      .findOneAndUpdate(
        { parked: false, due_at: { $lte: now } },
        { $set: { due_at: new Date(now.getTime() + leaseMilliseconds) }, $inc: { attempts: 1 } },
        { sort: { due_at: 1 }, new: true },
      )
      .lean()
    if (!job) return false
    try {
      await this.handlers[job.topic]?.(job.payload)
      await jobModel(this.db).deleteOne({ _id: job._id })
    } catch (error) {
      await this.putBack(job, error)
    }
    return true
  }

  private async putBack(job: Job, error: unknown): Promise<void> {
    const parked = job.attempts >= maximumAttempts
    const pause = Math.min(longestPauseMilliseconds, 2 ** job.attempts * 250)
    this.log.warn({ topic: job.topic, attempts: job.attempts, parked, error: String(error) }, 'A job failed')
    await jobModel(this.db).updateOne(
      { _id: job._id },
      { $set: { parked, due_at: new Date(this.clock().getTime() + pause), last_error: String(error) } },
    )
  }
}
