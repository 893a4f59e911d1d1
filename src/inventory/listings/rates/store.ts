import { notFound } from '../../../core/errors.ts'
import type { Db, Session } from '../../../platform/mongo/connection.ts'
import { type RateJob, rateJobModel } from './model.ts'

/** Retention period of a finished job (decisions §20). */
const keptMilliseconds = 24 * 3_600_000

/** Stores the job of a rates write within the write's transaction. */
export async function insertRateJob(
  db: Db,
  session: Session,
  job: Omit<RateJob, 'expires_at'>,
): Promise<void> {
  const expires_at = new Date(job.applied_at.getTime() + keptMilliseconds)
  await rateJobModel(db).collection.insertOne({ ...job, expires_at }, { session })
}

/**
 * Returns the host's job with this id.
 *
 * @throws DomainError `not_found`, including for an undefined id and for a job that finished at least a day ago
 */
export async function findRateJob(
  db: Db,
  ownerId: number,
  id: number | undefined,
  now: Date,
): Promise<RateJob> {
  const job = id ? await rateJobModel(db).findOne({ owner_id: ownerId, id }, { _id: 0 }).lean() : null
  if (!job || job.expires_at <= now) throw notFound('Job')
  return job
}
