import { notFound } from '../core/errors.ts'
import { keepNewest } from '../platform/mongo/collections.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { type Certification, certificationModel, type Memo } from './model.ts'
import type { Next } from './next.ts'

/** Number of ended certifications that are kept for each key. */
const keptOfKey = 20

/** Stores a new certification. Fails with a duplicate-key error while another certification of the key is running. */
export async function insertCertification(db: Db, certification: Certification): Promise<void> {
  await certificationModel(db).create([certification])
}

/** Deletes a certification that could not begin. */
export async function removeCertification(db: Db, id: number): Promise<void> {
  await certificationModel(db).deleteOne({ _id: id })
}

/** Deletes a key's ended certifications except the newest ones. */
export async function trimCertifications(db: Db, keyId: number): Promise<void> {
  await keepNewest(certificationModel(db), { key_id: keyId, status: { $ne: 'running' } }, keptOfKey)
}

/**
 * Returns a certification of a key.
 *
 * @throws DomainError `not_found`, including for an undefined id
 */
export async function findCertification(
  db: Db,
  keyId: number,
  id: number | undefined,
): Promise<Certification> {
  const found = id && (await certificationModel(db).findOne({ _id: id, key_id: keyId }).lean())
  if (!found) throw notFound('Certification')
  return found
}

/** Lists a key's certifications, newest first. */
export function listCertifications(db: Db, keyId: number): Promise<Certification[]> {
  return certificationModel(db).find({ key_id: keyId }).sort({ _id: -1 }).limit(keptOfKey).lean()
}

/** Lists the certifications of all hosts or of one host for administrators, newest first. */
export function listAllCertifications(
  db: Db,
  { hostId, limit }: { hostId?: number | undefined; limit: number },
): Promise<Certification[]> {
  const filter = hostId === undefined ? {} : { of_host: hostId }
  return certificationModel(db).find(filter).sort({ _id: -1 }).limit(limit).lean()
}

/** Returns the running certification of a key, or null. */
export function findRunning(db: Db, keyId: number): Promise<Certification | null> {
  return certificationModel(db).findOne({ key_id: keyId, status: 'running' }).lean()
}

/** Returns all running certifications. */
export function findAllRunning(db: Db): Promise<Certification[]> {
  return certificationModel(db).find({ status: 'running' }).lean()
}

/** Returns the ids of the certifications whose records are due for a final sweep. */
export async function findSwept(db: Db, now: Date): Promise<number[]> {
  const due = await certificationModel(db)
    .find({ sweep_at: { $lte: now } }, { _id: 1 })
    .lean()
  return due.map(({ _id }) => _id)
}

/** Marks a run's records as swept. */
export async function noteSwept(db: Db, id: number): Promise<void> {
  await certificationModel(db).updateOne({ _id: id }, { $set: { sweep_at: null } })
}

/**
 * Updates a running certification if it is unchanged since it was read. Returns null if another process changed it
 * first or it has ended.
 */
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

/** Ends a running certification even if it has changed since it was read. Returns null if it had already ended. */
export function closeCertification(
  db: Db,
  id: number,
  change: Partial<Certification>,
): Promise<Certification | null> {
  return certificationModel(db)
    .findOneAndUpdate({ _id: id, status: 'running' }, { $set: change, $inc: { revision: 1 } }, { new: true })
    .lean()
}

/** Replaces `next` unless the current step has been played, even if the certification has changed since it was read. */
export async function askFor(db: Db, id: number, next: Next): Promise<void> {
  await certificationModel(db).updateOne(
    { _id: id, status: 'running', 'step.state': { $in: ['begun', 'released'] } },
    { $set: { next }, $inc: { revision: 1 } },
  )
}

/** Adds values to the current step's memo. Returns null if the step is no longer the current one. */
export function addToMemo(
  db: Db,
  { _id }: Pick<Certification, '_id'>,
  stepId: string,
  memo: Memo,
): Promise<Certification | null> {
  const change = Object.fromEntries(Object.entries(memo).map(([name, value]) => [`step.memo.${name}`, value]))
  return certificationModel(db)
    .findOneAndUpdate(
      { _id, status: 'running', 'step.id': stepId },
      { $set: change, $inc: { revision: 1 } },
      { new: true },
    )
    .lean()
}
