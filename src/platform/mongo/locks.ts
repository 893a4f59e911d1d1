import { modelOf } from './collections.ts'
import type { Db, Session } from './connection.ts'
import { busy, retryDuplicate } from './errors.ts'
import { number, type Stored, schemaOf, text } from './fields.ts'

const fields = {
  _id: text,
  host_id: number,
  taken: number,
}

type Lock = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ host_id: 1 }, { name: 'lock_host' })

export const lockModel = modelOf<Lock>('locks', schema)

/** A lock of one host. */
export interface HostLock {
  hostId: number
  /** Also the name of the queue in which its takers wait within a process. */
  name: string
}

/** The lock documents that exist, as this process knows: nobody removes them but with all of their host. */
const ensured = new WeakMap<Db, Set<string>>()
const maxRemembered = 100_000

/** Makes sure that a lock can be taken. Call it before the transaction, in which two first takers would collide. */
export async function ensureLock(db: Db, { hostId: host_id, name: _id }: HostLock): Promise<void> {
  const known = ensured.get(db) ?? new Set()
  ensured.set(db, known)
  if (known.has(_id)) return
  const fresh = { $setOnInsert: { taken: 0 } }
  await retryDuplicate(() =>
    lockModel(db).collection.updateOne({ _id, host_id } as never, fresh, { upsert: true }),
  )
  if (known.size >= maxRemembered) known.clear()
  known.add(_id)
}

/**
 * Serializes a transaction with all others that take the same lock, in any process: two of them cannot both commit on
 * one snapshot, so the second starts over and sees what the first wrote. Take it first, before anything is read.
 *
 * @returns the position of the transaction among all that took this lock
 * @throws DomainError `conflict` with a retry time where there is none, see {@link ensureLock}
 */
export async function takeLock(
  db: Db,
  session: Session,
  { hostId: host_id, name: _id }: HostLock,
): Promise<number> {
  const lock = { _id, host_id } as never
  const options = { returnDocument: 'after', session } as const
  const taken = await lockModel(db).collection.findOneAndUpdate(lock, { $inc: { taken: 1 } }, options)
  // It went with all of its host, as a sandbox does that is cleared in the middle of a request.
  if (!taken) {
    ensured.get(db)?.delete(_id)
    throw busy()
  }
  return taken.taken
}
