import { notFound } from '../core/errors.ts'
import { keepNewest } from '../platform/mongo/collections.ts'
import type { Db } from '../platform/mongo/connection.ts'
import type { WorkSource } from '../platform/mongo/turns/work-watch.ts'
import { type Certification, certificationModel, type Next } from './model.ts'

/** Number of ended certifications that are kept for each key. */
const keptOfKey = 20

/** Stores a new certification. Fails with a duplicate-key error while another certification of the key is running. */
export async function insertCertification(db: Db, certification: Certification): Promise<void> {
  await certificationModel(db).create([certification])
}

/** Deletes a certification that could not be started. */
export async function removeCertification(db: Db, id: number): Promise<void> {
  await certificationModel(db).deleteOne({ _id: id })
}

/**
 * Returns a key's certification by id.
 *
 * @throws DomainError `not_found` if the key has no such certification or the id is undefined
 */
export async function findCertification(
  db: Db,
  keyId: number,
  id: number | undefined,
): Promise<Certification> {
  const found = id ? await certificationModel(db).findOne({ _id: id, key_id: keyId }).lean() : null
  if (!found) throw notFound('Certification')
  return found
}

/** Lists a key's certifications, newest first. */
export function listCertifications(db: Db, keyId: number): Promise<Certification[]> {
  return certificationModel(db).find({ key_id: keyId }).sort({ _id: -1 }).limit(keptOfKey).lean()
}

/**
 * Lists one host's certifications, or all certifications if `hostId` is undefined, newest first. For administrators.
 */
export function listAllCertifications(
  db: Db,
  { hostId, limit }: { hostId?: number | undefined; limit: number },
): Promise<Certification[]> {
  const filter = hostId === undefined ? {} : { host_id: hostId }
  return certificationModel(db).find(filter).sort({ _id: -1 }).limit(limit).lean()
}

/** Returns a key's running certification, or null. */
export function findRunning(db: Db, keyId: number): Promise<Certification | null> {
  return certificationModel(db).findOne({ key_id: keyId, status: 'running' }).lean()
}

/** Shows that a certification is running. */
export const anyRunning: WorkSource = {
  model: certificationModel,
  filter: () => ({ status: 'running' }),
}

/** Shows that records of late requests are to be deleted. */
export function anyUnswept(now: () => Date): WorkSource {
  return { model: certificationModel, filter: () => ({ sweep_at: { $lte: now() } }) }
}

/** Returns all running certifications. */
export function findAllRunning(db: Db): Promise<Certification[]> {
  return certificationModel(db).find({ status: 'running' }).lean()
}

/** Updates a running certification if it has not changed since it was read. Returns null if it has changed or ended. */
export function changeCertification(
  db: Db,
  { _id, revision }: Pick<Certification, '_id' | 'revision'>,
  change: Partial<Certification>,
): Promise<Certification | null> {
  return certificationModel(db)
    .findOneAndUpdate(
      { _id, revision, status: 'running' },
      { $set: change, $inc: { revision: 1 } },
      { new: true },
    )
    .lean()
}

/**
 * Replaces `next` if the current step has not been played yet. Unlike {@link changeCertification}, ignores `revision`.
 */
export async function setNextUnlessPlayed(db: Db, id: number, next: Next): Promise<void> {
  await certificationModel(db).updateOne(
    { _id: id, status: 'running', 'step.state': { $in: ['begun', 'released'] } },
    { $set: { next }, $inc: { revision: 1 } },
  )
}

/** Stores the problems with an uploaded state. Returns null if the step is no longer the current step. */
export function recordProblems(
  db: Db,
  id: number,
  stepId: string,
  judged: string[],
): Promise<Certification | null> {
  return certificationModel(db)
    .findOneAndUpdate(
      { _id: id, status: 'running', 'step.id': stepId },
      { $set: { 'step.memo.judged': judged }, $inc: { revision: 1 } },
      { new: true },
    )
    .lean()
}

/**
 * Counts a request of a running certification. Returns the number of requests so far, and the secret for hashing what
 * was sent. Returns null if the certification has ended.
 */
export async function countRequest(
  db: Db,
  id: number,
): Promise<{ earlierRequests: number; secret: string } | null> {
  const found = await certificationModel(db)
    .findOneAndUpdate(
      { _id: id, status: 'running' },
      { $inc: { requests: 1 } },
      { projection: { requests: 1, secret: 1 } },
    )
    .lean()
  if (!found?.secret) return null
  return { earlierRequests: found.requests, secret: found.secret }
}

/** Stores the end of a certification, even if it has changed since it was read. Returns false if it had already ended. */
export async function storeEnd(db: Db, id: number, end: Partial<Certification>): Promise<boolean> {
  const { modifiedCount } = await certificationModel(db).updateOne(
    { _id: id, status: 'running' },
    { $set: end, $inc: { revision: 1 } },
  )
  return modifiedCount > 0
}

/** Deletes a key's ended certifications except the newest. */
export async function keepNewestEnded(db: Db, keyId: number): Promise<void> {
  await keepNewest(certificationModel(db), { key_id: keyId, status: { $ne: 'running' } }, keptOfKey)
}

/** Returns the ids of ended certifications whose late requests' records are due to be deleted. */
export async function findUnswept(db: Db, now: Date): Promise<number[]> {
  const due = await certificationModel(db)
    .find({ sweep_at: { $lte: now } }, { _id: 1 })
    .lean()
  return due.map(({ _id }) => _id)
}

/** Records that a certification's late requests' records were deleted. */
export async function markSwept(db: Db, id: number): Promise<void> {
  await certificationModel(db).updateOne({ _id: id }, { $set: { sweep_at: null } })
}
