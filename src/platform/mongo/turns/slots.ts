import type { Slot, Slots } from '../../slots.ts'
import type { Db } from '../connection.ts'
import { acquireLease, leaseModel, releaseLease, slotPrefix } from './lease.ts'

/**
 * How much longer a slot's lease lasts than its holder asked for, because the processes know the database's clock only
 * up to the time that a command takes.
 */
const toleranceMilliseconds = 1000

/**
 * Slots shared by all processes through the database: each is a lease with a number. They hold without Redis too, and
 * whatever state it is in, so they suit promises to others that must never be broken. They cost two or three commands
 * each, and are therefore for work that is rare. Two processes that ask at the same moment may both be refused a slot
 * that is free; the caller asks again.
 *
 *     free ── lease taken ──▶ held ── freed, or expired after its holder died ──▶ free
 */
export class LeasedSlots implements Pick<Slots, 'takePatiently'> {
  constructor(private readonly app: { db: Db; clockWatch: { databaseNow(): Date } }) {}

  /** @throws MongoError if the database does not respond. A slot that was taken nevertheless is free once it expires */
  async takePatiently(name: string, limit: number, milliseconds: number): Promise<Slot | null> {
    const { db, clockWatch } = this.app
    for (const free of await this.freeLeases(name, limit)) {
      const lease = { name: free, owner: crypto.randomUUID() }
      const now = clockWatch.databaseNow()
      const until = new Date(now.getTime() + milliseconds + toleranceMilliseconds)
      // A lease that cannot be released expires.
      if (await acquireLease(db, lease, now, until))
        return { free: () => void releaseLease(db, lease).catch(() => {}) }
    }
    return null
  }

  /** Returns the names of the leases that nobody holds, in random order, so that processes rarely want the same one. */
  private async freeLeases(name: string, limit: number): Promise<string[]> {
    const { db, clockWatch } = this.app
    const names = Array.from({ length: limit }, (_, index) => `${slotPrefix}${index} of ${name}`)
    const held = await leaseModel(db)
      .find({ _id: { $in: names }, until: { $gt: clockWatch.databaseNow() } }, { _id: 1 })
      .lean()
    const taken = new Set(held.map(({ _id }) => _id))
    const start = Math.floor(Math.random() * limit)
    return [...names.slice(start), ...names.slice(0, start)].filter((one) => !taken.has(one))
  }
}
