import { modelOf } from '../collections.ts'
import type { Db } from '../connection.ts'
import { busy, isDuplicate } from '../errors.ts'
import { field, type Stored, schemaOf } from '../fields.ts'

const fields = {
  _id: field.text,
  owner: field.text,
  until: field.moment,
}

type StoredLease = Stored<typeof fields>

const schema = schemaOf(fields)
// A killed process may leave behind a lease that no process requests again.
schema.index({ until: 1 }, { expireAfterSeconds: 3600, name: 'lease_expiry' })

export const leaseModel = modelOf<StoredLease>('leases', schema)

/**
 * A claim on work that only one process may do at a time. Without leases, two processes could send the same hint, carry
 * out the same certification step or fill the same sandbox. If the holder dies, the lease expires and another process
 * can take over.
 */
export interface Lease {
  /** Names the work. */
  name: string
  /** Names the holder. */
  owner: string
}

/**
 * Takes a lease that is free or expired, or renews the owner's own lease. Returns false if another owner holds it.
 *
 * @param now current time; `now` and `until` are on the database's clock, because the processes' clocks may differ
 */
export async function acquireLease(db: Db, { name, owner }: Lease, now: Date, until: Date): Promise<boolean> {
  const free = { _id: name, $or: [{ owner }, { until: { $lte: now } }] }
  try {
    await leaseModel(db).collection.updateOne(free, { $set: { owner, until } }, { upsert: true })
    return true
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}

/** How the names of leases begin that are slots (`slots.ts`). */
export const slotPrefix = 'slot '

/**
 * Returns true if any process holds a lease. A running service holds at least one, and a killed process's lease counts
 * until it expires. Slots do not count, because they expire later than any lease, and are held after a process that has
 * stopped.
 */
export async function isAnyLeaseHeld(db: Db, now: Date): Promise<boolean> {
  const isSlot = new RegExp(`^${slotPrefix}`)
  return (await leaseModel(db).exists({ _id: { $not: isSlot }, until: { $gt: now } })) !== null
}

/** Releases a lease if `owner` still holds it, so that another process can take it before it expires. */
export async function releaseLease(db: Db, { name, owner }: Lease): Promise<void> {
  await leaseModel(db).deleteOne({ _id: name, owner })
}

/** A lease that a process takes again and again for work that it does in rounds. */
export class RenewedLease {
  private readonly lease: Lease
  private heldUntil = new Date(0)

  /** @param milliseconds duration of the lease from each renewal; longer than the interval of the renewals */
  constructor(
    private readonly app: { db: Db; clockWatch: { databaseNow(): Date } },
    name: string,
    private readonly milliseconds: number,
  ) {
    this.lease = { name, owner: crypto.randomUUID() }
  }

  /** Takes or renews the lease. Returns false if another process holds it. */
  async renew(): Promise<boolean> {
    const now = this.app.clockWatch.databaseNow()
    const until = new Date(now.getTime() + this.milliseconds)
    if (!(await acquireLease(this.app.db, this.lease, now, until))) return false
    this.heldUntil = until
    return true
  }

  /** Returns true from a renewal until the lease expires or is released. No other process can take it before that. */
  isHeld(): boolean {
    return this.heldUntil > this.app.clockWatch.databaseNow()
  }

  /** Lets another process take the lease at once. */
  async release(): Promise<void> {
    this.heldUntil = new Date(0)
    await releaseLease(this.app.db, this.lease)
  }
}

const pollEveryMilliseconds = 50

interface LeaseTimes {
  now(): Date
  leaseMilliseconds: number
  maxWaitMilliseconds: number
}

/**
 * Waits for a lease to become free, then runs `work` while holding it.
 *
 * @param times `now` returns the current time on the database's clock; `leaseMilliseconds` is the longest time that
 * `work` may take
 * @throws DomainError `conflict` with a retry time if the lease does not become free in time
 */
export async function withLease<T>(
  db: Db,
  name: string,
  { now, leaseMilliseconds, maxWaitMilliseconds }: LeaseTimes,
  work: () => Promise<T>,
): Promise<T> {
  const lease = { name, owner: crypto.randomUUID() }
  const deadline = performance.now() + maxWaitMilliseconds
  while (!(await acquireLease(db, lease, now(), new Date(now().getTime() + leaseMilliseconds)))) {
    if (performance.now() > deadline) throw busy()
    await Bun.sleep(pollEveryMilliseconds)
  }
  try {
    return await work()
  } finally {
    await releaseLease(db, lease)
  }
}
