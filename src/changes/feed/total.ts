import type { Db } from '../../platform/mongo/connection.ts'
import { readHostClock } from '../../versions/host-clock-store.ts'
import type { FeedSource } from '../sources/source.ts'

/** How many rows a feed query matches, at a state of the host's clock. */
export interface Total {
  total: number
  /** The host's clock when it was counted. */
  version: number
}

const maxCachedTotals = 1000

interface Cache {
  totals: Map<string, Total>
  /** The clock of each host as it was last read, by feed and host. */
  clocks: Map<string, number>
}

const caches = new WeakMap<Db, Cache>()

function cacheOf(db: Db): Cache {
  const cache = caches.get(db) ?? { totals: new Map(), clocks: new Map() }
  caches.set(db, cache)
  return cache
}

type Host = { host_id: number }
type Source<Filter extends Host> = Pick<FeedSource<never, Filter>, 'name' | 'counter' | 'count'>

/** The host's clock as this process last read it: unless it has moved since, nothing has changed since. */
export function lastReadClock(db: Db, { name }: Source<never>, hostId: number): number | undefined {
  return cacheOf(db).clocks.get(`${name}/${hostId}`)
}

function keyOf(feed: string, filter: Host, after: Date | null): string {
  return JSON.stringify([feed, filter, after])
}

/**
 * How many rows a feed query matches. Counted once per state of the host's clock, so that it is exact in every process.
 */
export async function totalOf<Filter extends Host>(
  db: Db,
  source: Source<Filter>,
  filter: Filter,
  after: Date | null,
): Promise<Total> {
  const cache = cacheOf(db)
  const cached = cache.totals.get(keyOf(source.name, filter, after))
  const version = (await readHostClock(db, filter.host_id, source.counter)).getTime()
  if (cache.clocks.size >= maxCachedTotals) cache.clocks.clear()
  cache.clocks.set(`${source.name}/${filter.host_id}`, version)
  if (cached?.version === version) return cached
  const total = { total: await source.count(db, filter, { after }), version }
  keep(db, source.name, filter, after, total)
  return total
}

/**
 * Keeps what a page tells of the next question: after its last row there are as many rows less as it has rows. So
 * a reader that passes the last version of each page does not have everything counted for each of them. True only if
 * nothing changed between the reading of the page and the count, see {@link lastReadClock}.
 */
export function expectTotal<Filter extends Host>(
  db: Db,
  { name }: Source<Filter>,
  filter: Filter,
  after: Date,
  { total, ...counted }: Total,
  rows: number,
): void {
  keep(db, name, filter, after, { ...counted, total: Math.max(0, total - rows) })
}

function keep(db: Db, feed: string, filter: Host, after: Date | null, total: Total): void {
  const { totals } = cacheOf(db)
  if (totals.size >= maxCachedTotals) totals.clear()
  totals.set(keyOf(feed, filter, after), total)
}
