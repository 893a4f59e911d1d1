import { notFound, type Problem } from '../errors.ts'
import type { Db, Session } from '../platform/mongo/connection.ts'
import { type RateJob, rateJobModel } from './rate-jobs-model.ts'

/** How long a job is kept from its end (decisions §20). */
const keptMilliseconds = 24 * 3_600_000

/** Stores the job of a rates write that was accepted, in its transaction. */
export async function insertRateJob(
  db: Db,
  session: Session,
  job: Pick<RateJob, 'host_id' | 'id' | 'sequence' | 'items' | 'accepted_at'>,
): Promise<void> {
  const waiting: RateJob = { ...job, status: 'waiting', applied_at: null, problems: [], expires_at: null }
  await rateJobModel(db).collection.insertOne({ ...waiting }, { session })
}

/**
 * The job of a host with this id.
 *
 * @throws DomainError `not_found`, also for an undefined id and for a job that ended a day ago
 */
export async function findRateJob(
  db: Db,
  hostId: number,
  id: number | undefined,
  now: Date,
): Promise<RateJob> {
  const job = id && (await rateJobModel(db).findOne({ host_id: hostId, id }, { _id: 0 }).lean())
  if (!job || (job.expires_at && job.expires_at <= now)) throw notFound('Job')
  return job
}

/** The job of the write at this place, while it waits; else null. */
export function findWaitingJob(
  db: Db,
  session: Session,
  hostId: number,
  sequence: number,
): Promise<RateJob | null> {
  return rateJobModel(db).findOne({ host_id: hostId, sequence, status: 'waiting' }).session(session).lean()
}

/**
 * The place of the host's first write whose rates nobody sees yet, or infinity: writes are applied in their order.
 * Read it after the waiting rates that it is compared with.
 */
export async function firstUnapplied(db: Db, hostId: number): Promise<number> {
  const first = await rateJobModel(db)
    .findOne({ host_id: hostId, status: 'waiting' }, { sequence: 1 })
    .sort({ sequence: 1 })
    .lean()
  return first?.sequence ?? Number.POSITIVE_INFINITY
}

/** Marks the jobs of all writes up to a place as applied: from then on everybody sees their rates. */
export async function applyRateJobs(
  db: Db,
  session: Session,
  hostId: number,
  upTo: number,
  now: Date,
): Promise<void> {
  const waiting = { host_id: hostId, status: 'waiting', sequence: { $lte: upTo } } as const
  const applied = { status: 'applied', applied_at: now, expires_at: endAfter(now) }
  await rateJobModel(db).updateMany(waiting, { $set: applied }, { session })
}

/** Marks the job of one write as failed. */
export async function failRateJob(
  db: Db,
  session: Session | null,
  { host_id, sequence }: Pick<RateJob, 'host_id' | 'sequence'>,
  problems: Problem[],
  now: Date,
): Promise<void> {
  const failed = { status: 'failed', applied_at: null, problems, expires_at: endAfter(now) }
  await rateJobModel(db).updateOne({ host_id, sequence }, { $set: failed }, session ? { session } : {})
}

function endAfter(now: Date): Date {
  return new Date(now.getTime() + keptMilliseconds)
}
