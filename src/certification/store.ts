import { notFound } from '../core/errors.ts'
import { keepNewest } from '../platform/mongo/collections.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { type Certification, certificationModel, type Memo } from './model.ts'
import type { Next } from './next.ts'

/** So many of a key are kept, for so long. */
const keptOfKey = 20

/** Stores a new one. Fails with a duplicate-key error while another of the key is running. */
export async function insertCertification(db: Db, certification: Certification): Promise<void> {
  await certificationModel(db).create([certification])
}

/** Removes one that could not begin. */
export async function removeCertification(db: Db, id: number): Promise<void> {
  await certificationModel(db).deleteOne({ _id: id })
}

/** Keeps the newest of a key. */
export async function trimCertifications(db: Db, keyId: number): Promise<void> {
  await keepNewest(certificationModel(db), { key_id: keyId, status: { $ne: 'running' } }, keptOfKey)
}

/**
 * One of a key.
 *
 * @throws DomainError `not_found`, also for an undefined id
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

/** Those of a key, newest first. */
export function listCertifications(db: Db, keyId: number): Promise<Certification[]> {
  return certificationModel(db).find({ key_id: keyId }).sort({ _id: -1 }).limit(keptOfKey).lean()
}

/** Those of all keys or of one host, newest first: for administrators. */
export function listAllCertifications(
  db: Db,
  { hostId, limit }: { hostId?: number | undefined; limit: number },
): Promise<Certification[]> {
  const filter = hostId === undefined ? {} : { of_host: hostId }
  return certificationModel(db).find(filter).sort({ _id: -1 }).limit(limit).lean()
}

/** The one of a key that is running, or null. */
export function findRunning(db: Db, keyId: number): Promise<Certification | null> {
  return certificationModel(db).findOne({ key_id: keyId, status: 'running' }).lean()
}

/** All that are running. */
export function findAllRunning(db: Db): Promise<Certification[]> {
  return certificationModel(db).find({ status: 'running' }).lean()
}

/** Those whose records are to be swept once more. */
export async function findSwept(db: Db, now: Date): Promise<number[]> {
  const due = await certificationModel(db)
    .find({ sweep_at: { $lte: now } }, { _id: 1 })
    .lean()
  return due.map(({ _id }) => _id)
}

/** Notes that nothing is left of a run. */
export async function noteSwept(db: Db, id: number): Promise<void> {
  await certificationModel(db).updateOne({ _id: id }, { $set: { sweep_at: null } })
}

/** Changes one that is running as it was read; null where somebody else was faster, or it has ended. */
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

/** Ends one that is running, whatever it has come to meanwhile; null where somebody else was faster. */
export function closeCertification(
  db: Db,
  id: number,
  change: Partial<Certification>,
): Promise<Certification | null> {
  return certificationModel(db)
    .findOneAndUpdate({ _id: id, status: 'running' }, { $set: change, $inc: { revision: 1 } }, { new: true })
    .lean()
}

/** Asks for something else until the present step has been played, whatever the certification has come to meanwhile. */
export async function askFor(db: Db, id: number, next: Next): Promise<void> {
  await certificationModel(db).updateOne(
    { _id: id, status: 'running', 'step.state': { $in: ['begun', 'released'] } },
    { $set: { next }, $inc: { revision: 1 } },
  )
}

/** Adds to what the present step remembers; null where that is not the step any more. */
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
