import type { Types } from 'mongoose'
import { notFound } from '../../core/errors.ts'
import { currentTraceparent } from '../../core/trace.ts'
import { modelOf } from '../mongo/collections.ts'
import type { Db, Session } from '../mongo/connection.ts'
import { field, type Stored, schemaOf } from '../mongo/fields.ts'
import type { WorkSource } from '../mongo/turns/work-watch.ts'

const fields = {
  topic: field.text,
  owner_id: field.number,
  payload: field.mixed<Record<string, unknown>>(),
  attempts: { ...field.number, default: 0 },
  /** Start of the 24 hours during which the job may be attempted. */
  tried_since: { ...field.moment, default: (): Date => new Date() },
  /** Earliest time of the next attempt, or the end of the lease while a worker holds the job. */
  due_at: field.moment,
  parked: { ...field.flag, default: false },
  last_error: field.textOrNull,
  /** The `traceparent` of the change; null if the change was not traced. */
  trace: field.textOrNull,
  created_at: field.moment,
}

/** Work that must follow a change, stored in the change's own transaction. */
export type Job = Stored<typeof fields> & { _id: Types.ObjectId }

const schema = schemaOf<typeof fields, Job>(fields)
schema.index({ topic: 1, parked: 1, due_at: 1 }, { name: 'job_lane' })
schema.index({ parked: -1, created_at: 1 }, { name: 'job_age' })
schema.index({ owner_id: 1 }, { name: 'job_host' })

export const jobModel = modelOf<Job>('outbox', schema, { owner: 'owner_id' })

/**
 * Adds a job within the transaction of the change that requires it.
 *
 * @param now the service's time, at which the job is due. A sandbox's own clock may be a year ahead, and the worker would
 * wait for it that long.
 */
export async function enqueueJob(
  db: Db,
  session: Session,
  now: Date,
  job: Pick<Job, 'topic' | 'owner_id' | 'payload'>,
): Promise<void> {
  const times = { due_at: now, created_at: now, tried_since: now }
  const state = { attempts: 0, parked: false, last_error: null, trace: currentTraceparent() }
  await jobModel(db).collection.insertOne({ ...job, ...state, ...times }, { session })
}

/** Shows that a job of one of these topics is due. */
export function anyDueJob(topics: string[], now: () => Date): WorkSource {
  return {
    model: jobModel,
    filter: () => ({ topic: { $in: topics }, parked: false, due_at: { $lte: now() } }),
  }
}

/** State of the outbox. */
export interface OutboxState {
  pending: number
  parked: number
  /** Age of the oldest job that is not parked; 0 if there is none. */
  oldestAgeSeconds: number
}

/** Counts the jobs in the outbox and measures the oldest pending job's age. */
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

/** Returns up to `limit` jobs: first the parked jobs and then all others, each group oldest first. */
export async function listJobs(db: Db, limit: number): Promise<Job[]> {
  return jobModel(db).find().sort({ parked: -1, created_at: 1 }).limit(limit).lean()
}

const retried = (now: Date) => ({ $set: { parked: false, attempts: 0, due_at: now, tried_since: now } })

/**
 * Returns the job with this id.
 *
 * @throws DomainError `not_found` if there is no such job or the id is malformed
 */
export async function findJob(db: Db, id: string): Promise<Job> {
  if (!/^[0-9a-f]{24}$/.test(id)) throw notFound('Job')
  const job = await jobModel(db).findById(id).lean()
  if (!job) throw notFound('Job')
  return job
}

/** Identifies a job. The host is included so that only one shard is queried. */
type JobId = Pick<Job, '_id' | 'owner_id'>

/**
 * Unparks a job and restarts its 24 hours of attempts.
 *
 * @throws DomainError `not_found` if the job is not parked
 */
export async function retryJob(db: Db, now: Date, { _id, owner_id }: JobId): Promise<Job> {
  const parked = { _id, owner_id, parked: true }
  const job = await jobModel(db).findOneAndUpdate(parked, retried(now), { new: true }).lean()
  if (!job) throw notFound('Parked job')
  return job
}

/** Unparks all parked jobs, or one topic's, and restarts their 24 hours of attempts. Returns the number of jobs. */
export async function retryAllJobs(db: Db, now: Date, topic?: string): Promise<number> {
  const filter = { parked: true, ...(topic === undefined ? {} : { topic }) }
  return (await jobModel(db).updateMany(filter, retried(now))).modifiedCount
}

/** Deletes a job that is completed or, parked or not, dropped. */
export async function deleteJob(db: Db, { _id, owner_id }: JobId): Promise<void> {
  await jobModel(db).deleteOne({ _id, owner_id })
}

/** Number of due jobs fetched per claim. If another process claims the first one, the next one is tried. */
const candidates = 10

/**
 * Claims the topic's job that has been due the longest and hides it from other workers until `leaseEnd`. Returns null
 * if no job is due. The update includes the job's host in its filter, so that it goes to a single shard.
 */
export async function claimJob(db: Db, topic: string, now: Date, leaseEnd: Date): Promise<Job | null> {
  for (;;) {
    const due = await jobModel(db)
      .find({ topic, parked: false, due_at: { $lte: now } }, { owner_id: 1, due_at: 1 })
      .sort({ due_at: 1 })
      .limit(candidates)
      .lean()
    if (due.length === 0) return null
    for (const { _id, owner_id, due_at } of due) {
      const claim = { $set: { due_at: leaseEnd }, $inc: { attempts: 1 } }
      const job = await jobModel(db)
        .findOneAndUpdate({ _id, owner_id, due_at, parked: false }, claim, { new: true })
        .lean()
      if (job) return job
    }
  }
}

/** Changes a job's due time and recorded outcome, unless another worker has claimed the job since. */
export async function rescheduleJob(
  db: Db,
  { _id, owner_id, attempts }: JobId & Pick<Job, 'attempts'>,
  change: Pick<Job, 'due_at'> & Partial<Pick<Job, 'parked' | 'last_error'>>,
): Promise<void> {
  await jobModel(db).updateOne({ _id, owner_id, attempts }, { $set: change })
}

/** Handles a job's payload. Throws if the job must be retried. It may run more than once for the same job. */
export type JobHandler = (payload: Record<string, unknown>) => Promise<void>

/** The outbox's handlers, by topic. Features define the handlers, and `release.ts` collects them. */
export type Topics = Record<string, JobHandler>
