import { LRUCache } from 'lru-cache'
import { readHostClock } from '../../host-clock/store.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { Feed, OwnerFilter } from '../feeds.ts'

/** A walk through a feed: the rows after a version that pass a filter. */
interface Walk<Filter> {
  filter: Filter
  start: Date | null
}

/** The number of rows of a walk. */
interface Total {
  total: number
  /** The host's clock in milliseconds, as read just before the rows were counted. */
  clockMilliseconds: number
}

/**
 * Returns the number of rows of a walk. Rows are counted again whenever the host's clock has moved, so the total is
 * exact in every process.
 */
export async function totalOf<Filter extends OwnerFilter>(
  db: Db,
  feed: Feed<unknown, Filter>,
  walk: Walk<Filter>,
): Promise<Total> {
  const { filter, start } = walk
  const { totals, clocks } = cacheOf(db)
  const cached = totals.get(keyOf(feed, walk))
  const clockMilliseconds = (await readHostClock(db, filter.owner_id, feed.counter)).getTime()
  clocks.set(clockKey(feed, filter.owner_id), clockMilliseconds)
  if (cached?.clockMilliseconds === clockMilliseconds) return cached
  const total = { total: await feed.count(db, filter, { after: start }), clockMilliseconds }
  keep(db, feed, walk, total)
  return total
}

/**
 * Returns the host's clock in milliseconds, as this process last read it; undefined if it has not been read yet. While
 * the clock still has this value, the feed has not changed.
 */
export function lastReadClock(db: Db, feed: Feed, ownerId: number): number | undefined {
  return cacheOf(db).clocks.get(clockKey(feed, ownerId))
}

/**
 * Caches the total of the walk that continues after a page's last row. This total is the page's total minus its number
 * of rows. A reader that sends each page's last version as its next position therefore does not trigger a count for
 * every page. The result is correct only if nothing changed between the read and the count (see {@link lastReadClock}).
 */
export function cacheNextTotal<Filter extends OwnerFilter>(
  db: Db,
  feed: Feed<unknown, Filter>,
  next: Walk<Filter>,
  { total, clockMilliseconds }: Total,
): void {
  keep(db, feed, next, { total: Math.max(0, total), clockMilliseconds })
}

interface Cache {
  totals: LRUCache<string, Total>
  /** Each host's clock as last read, in milliseconds, keyed by feed and host. */
  clocks: LRUCache<string, number>
}

const caches = new WeakMap<Db, Cache>()
const maxCached = 1000

function cacheOf(db: Db): Cache {
  const cache = caches.get(db) ?? {
    totals: new LRUCache({ max: maxCached }),
    clocks: new LRUCache({ max: maxCached }),
  }
  caches.set(db, cache)
  return cache
}

function keep(db: Db, feed: Feed, walk: Walk<OwnerFilter>, total: Total): void {
  cacheOf(db).totals.set(keyOf(feed, walk), total)
}

function keyOf({ name }: Feed, { filter, start }: Walk<OwnerFilter>): string {
  return JSON.stringify([name, filter, start])
}

function clockKey({ name }: Feed, ownerId: number): string {
  return `${name}/${ownerId}`
}
