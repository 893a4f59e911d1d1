import { type ChangeFilter, countChanges } from '../bookings/store.ts'
import { readHostClock } from '../host-clock/store.ts'
import type { Db } from '../platform/mongo/connection.ts'

/** How many bookings a feed query matches, at a state of the host's clock. */
export interface Total {
  total: number
  /** The host's clock when it was counted. */
  version: number
  at: number
}

/** Above this a slightly outdated total will do; below it the total is always exact. */
const largeTotal = 10_000
const staleAfterMilliseconds = 30_000
const maximumCachedTotals = 1000

interface Cache {
  totals: Map<string, Total>
  /** The clock of each host as it was last read. */
  clocks: Map<number, number>
}

const caches = new WeakMap<Db, Cache>()

function cacheOf(db: Db): Cache {
  const cache = caches.get(db) ?? { totals: new Map(), clocks: new Map() }
  caches.set(db, cache)
  return cache
}

/** The host's clock as this process last read it: unless it has moved since, nothing has changed since. */
export function lastReadClock(db: Db, hostId: number): number | undefined {
  return cacheOf(db).clocks.get(hostId)
}

function keyOf(filter: ChangeFilter, after: Date | null): string {
  return JSON.stringify([filter, after])
}

/**
 * How many bookings a feed query matches. Counted once per state of the host's clock; a large total is kept for up to
 * 30 s while bookings go on changing, because it only tells how long a full read will be.
 */
export async function totalOf(db: Db, filter: ChangeFilter, after: Date | null, now: Date): Promise<Total> {
  const cache = cacheOf(db)
  const cached = cache.totals.get(keyOf(filter, after))
  const isFresh = cached && now.getTime() - cached.at < staleAfterMilliseconds
  if (isFresh && cached.total > largeTotal) return cached
  const version = (await readHostClock(db, filter.host_id)).getTime()
  if (cache.clocks.size >= maximumCachedTotals) cache.clocks.clear()
  cache.clocks.set(filter.host_id, version)
  if (cached?.version === version) return cached
  const total = { total: await countChanges(db, filter, after), version, at: now.getTime() }
  keep(db, filter, after, total)
  return total
}

/**
 * Keeps what a page tells of the next question: after its last row there are as many bookings less as it has rows. So
 * a reader that passes the last version of each page does not have everything counted for each of them. True only if
 * nothing changed between the reading of the page and the count, see {@link lastReadClock}.
 */
export function expectTotal(
  db: Db,
  filter: ChangeFilter,
  after: Date,
  { total, ...counted }: Total,
  rows: number,
): void {
  keep(db, filter, after, { ...counted, total: Math.max(0, total - rows) })
}

function keep(db: Db, filter: ChangeFilter, after: Date | null, total: Total): void {
  const { totals } = cacheOf(db)
  if (totals.size >= maximumCachedTotals) totals.clear()
  totals.set(keyOf(filter, after), total)
}
