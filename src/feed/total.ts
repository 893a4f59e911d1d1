import { type ChangeFilter, countChanges } from '../bookings/store.ts'
import { readHostClock } from '../host-clock/store.ts'
import type { Db } from '../platform/mongo/connection.ts'

interface CachedTotal {
  total: number
  /** The host's clock when it was counted. */
  version: number
  at: number
}

/** Above this a slightly outdated total will do; below it the total is always exact. */
const largeTotal = 10_000
const staleAfterMilliseconds = 30_000
const maximumCachedTotals = 1000

const cache = new WeakMap<Db, Map<string, CachedTotal>>()

/**
 * How many bookings a feed query matches. Counted once per state of the host's clock; a large total is kept for up to
 * 30 s while bookings keep changing, because it only indicates how long a full read will take.
 */
export async function totalOf(db: Db, filter: ChangeFilter, after: Date | null, now: Date): Promise<number> {
  const totals = cache.get(db) ?? new Map<string, CachedTotal>()
  cache.set(db, totals)
  const key = JSON.stringify([filter, after])
  const cached = totals.get(key)
  const isFresh = cached && now.getTime() - cached.at < staleAfterMilliseconds
  if (isFresh && cached.total > largeTotal) return cached.total
  const version = (await readHostClock(db, filter.host_id)).getTime()
  if (cached?.version === version) return cached.total
  const total = await countChanges(db, filter, after)
  if (totals.size >= maximumCachedTotals) totals.clear()
  totals.set(key, { total, version, at: now.getTime() })
  return total
}
