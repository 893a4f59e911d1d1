import { modelOf } from './collections.ts'
import type { Db } from './connection.ts'
import { isDuplicate } from './errors.ts'
import { moment, type Stored, schemaOf, text } from './fields.ts'

const fields = {
  _id: text,
  owner: text,
  until: moment,
}

type StoredLease = Stored<typeof fields>

export const leaseModel = modelOf<StoredLease>('leases', schemaOf(fields))

/** A claim on work that one living process does on behalf of all processes. */
export interface Lease {
  /** Names the work. */
  name: string
  /** Names the process. */
  owner: string
}

/**
 * Takes a lease that is free or expired, or renews the owner's own lease. Returns false while another process holds it.
 *
 * @param now current time by the database's clock, like `until`, because the clocks of processes differ
 */
export async function holdLease(db: Db, { name, owner }: Lease, now: Date, until: Date): Promise<boolean> {
  const free = { _id: name, $or: [{ owner }, { until: { $lte: now } }] }
  try {
    await leaseModel(db).updateOne(free, { $set: { owner, until } }, { upsert: true })
    return true
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}

/** Releases a lease if `owner` still holds it, so that the next process to ask gets it. */
export async function releaseLease(db: Db, { name, owner }: Lease): Promise<void> {
  await leaseModel(db).deleteOne({ _id: name, owner })
}
