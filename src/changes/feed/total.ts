import { readHostClock } from '../../host-clock/store.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { FeedSource } from '../sources/source.ts'

/** The rows that a feed query matches: those after a version that pass a filter. */
export interface Matched<Filter> {
  filter: Filter
  after: Date | null
}

/** The number of rows that match a feed query. */
export interface Total {
  total: number
  /** The host's clock in milliseconds, as read just before the rows were counted. */
  clockMilliseconds: number
}

const maxCachedTotals = 1000

interface Cache {
  totals: Map<string, Total>
  /** Each host's clock as last read, in milliseconds, keyed by feed and host. */
  clocks: Map<string, number>
}

const caches = new WeakMap<Db, Cache>()

function cacheOf(db: Db): Cache {
  const cache = caches.get(db) ?? { totals: new Map(), clocks: new Map() }
  caches.set(db, cache)
  return cache
}

type Host = { owner_id: number }
type Source<Filter extends Host> = Pick<FeedSource<never, Filter>, 'name' | 'counter' | 'count'>

/**
 * Returns the host's clock in milliseconds, as this process last read it; undefined if it has not been read yet. While
 * the clock still has this value, the feed has not changed.
 */
export function lastReadClock(db: Db, { name }: Source<never>, ownerId: number): number | undefined {
  return cacheOf(db).clocks.get(`${name}/${ownerId}`)
}

function keyOf(feed: string, { filter, after }: Matched<Host>): string {
  return JSON.stringify([feed, filter, after])
}

/**
 * Returns the number of rows that a feed query matches. Rows are counted again whenever the host's clock has moved, so
 * the total is exact in every process.
 */
export async function totalOf<Filter extends Host>(
  db: Db,
  source: Source<Filter>,
  matched: Matched<Filter>,
): Promise<Total> {
  const { filter, after } = matched
  const cache = cacheOf(db)
  const cached = cache.totals.get(keyOf(source.name, matched))
  const clockMilliseconds = (await readHostClock(db, filter.owner_id, source.counter)).getTime()
  if (cache.clocks.size >= maxCachedTotals) cache.clocks.clear()
  cache.clocks.set(`${source.name}/${filter.owner_id}`, clockMilliseconds)
  if (cached?.clockMilliseconds === clockMilliseconds) return cached
  const total = { total: await source.count(db, filter, { after }), clockMilliseconds }
  keep(db, source.name, matched, total)
  return total
}

/**
 * Caches the total of the query that continues after a page's last row. This total is the page's total minus its number
 * of rows. A reader that sends each page's last version as its next position therefore does not trigger a count for
 * every page. The result is correct only if nothing changed between the read and the count (see {@link lastReadClock}).
 */
export function cacheNextTotal<Filter extends Host>(
  db: Db,
  { name }: Source<Filter>,
  next: Matched<Filter>,
  { total, clockMilliseconds: version }: Total,
): void {
  keep(db, name, next, { total: Math.max(0, total), clockMilliseconds: version })
}

function keep(db: Db, feed: string, matched: Matched<Host>, total: Total): void {
  const { totals } = cacheOf(db)
  if (totals.size >= maxCachedTotals) totals.clear()
  totals.set(keyOf(feed, matched), total)
}
