import { LRUCache } from 'lru-cache'
import { modelOf } from '../collections.ts'
import type { Db, Session } from '../connection.ts'
import { busy, retryDuplicate } from '../errors.ts'
import { field, type Stored, schemaOf } from '../fields.ts'

const fields = {
  _id: field.text,
  owner_id: field.number,
  taken: field.number,
}

type Lock = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ owner_id: 1 }, { name: 'lock_host' })

export const lockModel = modelOf<Lock>('locks', schema, { owner: 'owner_id' })

/** A lock that belongs to one host. */
export interface HostLock {
  ownerId: number
  /** Id of the lock, and name of the queue in which transactions within a process wait for it. */
  name: string
}

/** Ids of lock documents known to exist. A lock document is removed only together with all its host's data. */
const ensured = new WeakMap<Db, LRUCache<string, true>>()
const maxRemembered = 100_000

/** Creates a missing lock. Call this before a transaction, because transactions that create the same lock conflict. */
export async function ensureLock(db: Db, { ownerId: owner_id, name: _id }: HostLock): Promise<void> {
  const known = ensured.get(db) ?? new LRUCache<string, true>({ max: maxRemembered })
  ensured.set(db, known)
  if (known.get(_id)) return
  const fresh = { $setOnInsert: { taken: 0 } }
  await retryDuplicate(() => lockModel(db).collection.updateOne({ _id, owner_id }, fresh, { upsert: true }))
  known.set(_id, true)
}

/**
 * Serializes a transaction with all others that take the same lock, in any process. Two such transactions cannot both
 * commit from the same snapshot, so the second one is retried and sees the first one's writes. Take the lock before
 * reading.
 *
 * @throws DomainError `conflict` with a retry time if the lock does not exist (see {@link ensureLock})
 */
export async function takeLock(
  db: Db,
  session: Session,
  { ownerId: owner_id, name: _id }: HostLock,
): Promise<void> {
  const lock = { _id, owner_id }
  const { matchedCount } = await lockModel(db).collection.updateOne(lock, { $inc: { taken: 1 } }, { session })
  if (matchedCount === 1) return
  // The lock was removed with its host's data, for example because a sandbox was cleared during a request.
  ensured.get(db)?.delete(_id)
  throw busy()
}
