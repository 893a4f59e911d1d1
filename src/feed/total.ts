import { bookingModel } from '../bookings/model.ts'
import { readHostClock } from '../infra/host-clock.ts'
import type { Db } from '../infra/mongo.ts'

interface Counted {
  total: number
  /** The host's clock when it was counted. */
  version: number
  at: number
}

/** From here on a count that a moment ago was right is good enough; below it is always exact. */
const large = 10_000
const staleAfterMilliseconds = 30_000
const keptCounts = 1000

const known = new WeakMap<Db, Map<string, Counted>>()

/**
 * How many bookings a feed query matches. Counted once per state of the host's clock; a large count is
 * kept for up to 30 s while bookings go on changing, because it only tells how long a walk will be.
 */
export async function countChanges(db: Db, filter: { host_id: number }, now: Date): Promise<number> {
  const counts = known.get(db) ?? new Map<string, Counted>()
  known.set(db, counts)
  const key = JSON.stringify(filter)
  const counted = counts.get(key)
  const isFresh = counted && now.getTime() - counted.at < staleAfterMilliseconds
  if (isFresh && counted.total > large) return counted.total
  const version = (await readHostClock(db, filter.host_id)).getTime()
  if (counted?.version === version) return counted.total
  const total = await bookingModel(db).countDocuments(filter)
  if (counts.size >= keptCounts) counts.clear()
  counts.set(key, { total, version, at: now.getTime() })
  return total
}
