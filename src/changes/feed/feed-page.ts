import { type PageRequest, type Pagination, pagination } from '../../http/input/pagination.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { Feed, OwnerFilter } from '../feeds.ts'
import { cursorTo, type Position } from './position.ts'
import { cacheNextTotal, lastReadClock, totalOf } from './total.ts'

/**
 * Why no change can be lost (decisions §9).
 *
 * 1. Every booking change and every message takes the next version of its host's clock in its own transaction
 *    (`host-clock/store.ts`). Versions are unique per host and follow the order in which changes become
 *    visible. A reader that has seen version `v` can see every change up to `v`, and changes that are not visible yet
 *    will have greater versions. So reading after `v` never skips a change, whatever is committed in the meantime.
 * 2. A changed booking only ever moves to the end. A reader that continues after the last row it received (by cursor,
 *    or by the previous page's stored end) finds every row either in its old place or, if it moved, later in the feed.
 *    Counting rows from the start instead would skip one row for every earlier row that has moved away.
 * 3. Every page but the last shows that there is a next page, because the query fetches one extra row. `last_page` is
 *    never smaller than the last page with rows.
 *
 * Reads use read concern majority on the primary, so a version that was returned is never rolled back.
 */

/** One page of a feed. */
export interface Page<Row> {
  rows: Row[]
  /** The version after which the walk started; null for the beginning of the feed. A held request's consumer may move it. */
  start: Date | null
  /** The version after which the page itself starts. */
  after: Date | null
  /** The version of the last row if more rows follow it; null on the last page. */
  end: Date | null
  /** The contract's `meta.pagination`, with the cursor of the next page. */
  pagination: Pagination & { next_cursor: string | null }
}

/** Where a page of a walk is: its number, and the version after which it starts. */
export interface FoundPage {
  number: number
  after: Date | null
}

/** Reads a page of a position's walk: the rows after a version, in version order. */
export async function readPage<Row, Filter extends OwnerFilter>(
  db: Db,
  feed: Feed<Row, Filter>,
  position: Position<Filter>,
  { number, after }: FoundPage,
): Promise<Page<Row>> {
  const { filter, start, perPage } = position
  const clockBefore = lastReadClock(db, feed, filter.owner_id)
  // One extra row reveals whether there is a next page.
  const found = await feed.find(db, filter, after, { skip: 0, limit: perPage + 1 })
  const rows = found.slice(0, perPage)
  const last = rows.at(-1)
  // If this breaks: a feed ends after its first page
  const end = found.length > perPage && last ? feed.versionOf(last) : null
  const isFirst = after?.getTime() === start?.getTime()
  let total = rows.length
  if (!isFirst || end) {
    const counted = await totalOf(db, feed, position)
    total = counted.total
    const isUnchanged = counted.clockMilliseconds === clockBefore
    if (isFirst && end && isUnchanged)
      cacheNextTotal(db, feed, { filter, start: end }, { ...counted, total: total - rows.length })
  }
  return {
    rows,
    start,
    after,
    end,
    pagination: {
      ...numbersOf({ page: number, perPage }, rows.length, { total, isLast: end === null }),
      next_cursor: end ? cursorTo(feed, position, { number: number + 1, after: end }) : null,
    },
  }
}

/**
 * Returns the contract's numbers of a page. A page with rows and no next page is the last page; for an empty page, the
 * last page's number is derived from the total.
 */
function numbersOf(
  { page, perPage }: PageRequest,
  rows: number,
  { total, isLast }: { total: number; isLast: boolean },
): Pagination {
  const numbers = pagination({ page, perPage }, total, rows)
  let { last_page } = numbers
  if (!isLast) last_page = Math.max(page + 1, last_page)
  else if (rows > 0) last_page = page
  return { ...numbers, last_page }
}
