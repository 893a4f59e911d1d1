import { Schema, type Types } from 'mongoose'
import { notFound } from '../../errors.ts'
import { modelOf } from '../mongo/collections.ts'
import type { Db, Session } from '../mongo/connection.ts'

/** Something that must follow from a change, written in the change's own transaction. */
export interface Job {
  _id: Types.ObjectId
  topic: string
  host_id: number
  payload: Record<string, unknown>
  attempts: number
  /** When attempts began; they end a day later. */
  tried_since: Date
  /** Earliest next attempt; while a worker holds the job, the end of its lease. */
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
  tried_since: { type: Date, default: (): Date => new Date() },
  due_at: { type: Date, required: true },
  parked: { type: Boolean, default: false },
  last_error: { type: String, default: null },
  created_at: { type: Date, required: true },
})
schema.index({ topic: 1, parked: 1, due_at: 1 }, { name: 'job_lane' })
schema.index({ parked: -1, created_at: 1 }, { name: 'job_age' })
schema.index({ host_id: 1 }, { name: 'job_host' })

export const jobModel = modelOf<Job>('outbox', schema)

/** Adds a job in the transaction of the change it follows from. */
export async function enqueueJob(
  db: Db,
  session: Session,
  now: Date,
  job: Pick<Job, 'topic' | 'host_id' | 'payload'>,
): Promise<void> {
  const times = { due_at: now, created_at: now, tried_since: now }
  const state = { attempts: 0, parked: false, last_error: null }
  await jobModel(db).collection.insertOne({ ...job, ...state, ...times }, { session })
}

/** How much is waiting in the outbox. */
export interface OutboxState {
  pending: number
  parked: number
  /** Age of the oldest job that is not parked; 0 when there is none. */
  oldestAgeSeconds: number
}

/** How much is waiting in the outbox, and for how long. */
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

/** Jobs: parked ones first, then by age. */
export async function listJobs(db: Db, limit: number): Promise<Job[]> {
  return jobModel(db).find().sort({ parked: -1, created_at: 1 }).limit(limit).lean()
}

const retried = (now: Date) => ({ $set: { parked: false, attempts: 0, due_at: now, tried_since: now } })

/**
 * Gives a parked job all its attempts again.
 *
 * @throws DomainError `not_found` unless such a job is parked
 */
export async function retryJob(db: Db, now: Date, id: string): Promise<Job> {
  const parked = { _id: toJobId(id), parked: true }
  const job = await jobModel(db).findOneAndUpdate(parked, retried(now), { new: true }).lean()
  if (!job) throw notFound('Parked job')
  return job
}

/** Gives all parked jobs, or those of one topic, all their attempts again; returns how many there were. */
export async function retryAllJobs(db: Db, now: Date, topic?: string): Promise<number> {
  const filter = { parked: true, ...(topic === undefined ? {} : { topic }) }
  return (await jobModel(db).updateMany(filter, retried(now))).modifiedCount
}

/**
 * Drops a job, parked or not, together with what its topic keeps for it elsewhere.
 *
 * @throws DomainError `not_found`
 */
export async function dropJob(db: Db, id: string, topics: Topics): Promise<Job> {
  const job = await jobModel(db).findById(toJobId(id)).lean()
  if (!job) throw notFound('Job')
  await topics[job.topic]?.drop?.(job.payload)
  await jobModel(db).deleteOne({ _id: job._id })
  return job
}

/** @throws DomainError `not_found` for anything that is not an id */
function toJobId(id: string): string {
  if (!/^[0-9a-f]{24}$/.test(id)) throw notFound('Job')
  return id
}

/** Handles a job's payload; throws when the job must be tried again. May see a job twice. */
export type JobHandler = (payload: Record<string, unknown>) => Promise<void>

/** The handlers of the outbox, by topic: features declare them, and `compose.ts` collects them. */
export type Topics = Record<
  string,
  {
    run: JobHandler
    /** Deletes what the topic keeps for a job that is dropped. */
    drop?: JobHandler
  }
>
