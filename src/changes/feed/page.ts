import { parseFeedTime, toVersion } from '../../host-clock/format.ts'
import type { AppContext } from '../../http/context.ts'
import { type PageRequest, type Pagination, pagination, skipOf } from '../../http/pagination.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { FeedQuery, FeedSource } from '../sources/source.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { PageEnds } from './page-ends.ts'
import { cacheNextTotal, lastReadClock, type Matched, totalOf } from './total.ts'

/**
 * Why no change can be lost (decisions §9).
 *
 * 1. Every booking change and every message takes the next version of its host's clock in its own transaction
 *    (`host-clock/host-clock-store.ts`). Versions are unique per host and follow the order in which changes become
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

/** One page of a feed: rows, and `meta.pagination` with the cursor of the next page. */
export interface FeedPage<Row> {
  rows: Row[]
  pagination: Pagination & { next_cursor: string | null }
}

/** Reads one page of a host's new and changed rows, in version order. The cursor must already have been validated. */
export async function readFeedPage<Row, Filter extends { owner_id: number }>(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  source: FeedSource<Row, Filter>,
  { filter, updated_after, cursor, identity, sent }: FeedQuery<Filter>,
  { keyId, page }: { keyId: number; page: PageRequest },
): Promise<FeedPage<Row>> {
  const position = cursor === undefined ? null : readCursor(source.name, cursor)
  const after = updated_after === undefined ? null : parseFeedTime(updated_after)
  const matched: Matched<Filter> = { filter, after }
  const ownerId = filter.owner_id
  const clockBefore = lastReadClock(db, source, ownerId)
  const ends = new PageEnds(db, ownerId, [ownerId, keyId, ...identity, page.perPage], clock(ownerId))
  const version = position ? position.version : await startOf(db, source, matched, { page, ends })
  // One extra row reveals whether there is a next page.
  const found = await source.find(db, filter, version, { skip: 0, limit: page.perPage + 1 })
  const rows = found.slice(0, page.perPage)
  const last = rows.at(-1)
  const hasMore = found.length > page.perPage
  const isFirst = page.page === 1 && !position
  const isOnlyPage = isFirst && !hasMore
  const end = hasMore && last ? source.versionOf(last) : undefined
  const counting = isOnlyPage ? null : totalOf(db, source, matched)
  const keepingEnd = end && !position ? ends.keep(page.page, end) : null
  await Promise.all([counting, keepingEnd])
  const counted = await counting
  if (counted && end && isFirst && counted.clockMilliseconds === clockBefore)
    cacheNextTotal(
      db,
      source,
      { filter, after: end },
      { total: counted.total - rows.length, clockMilliseconds: counted.clockMilliseconds },
    )
  const number = position?.page ?? page.page
  const total = counted?.total ?? rows.length
  const pages = pagination({ page: number, perPage: page.perPage }, total, rows.length)
  const start = after ? toVersion(after) : undefined
  const query = { per_page: page.perPage, updated_after: start, ...sent }
  const next_cursor = end ? writeCursor(source.name, { version: end, page: number + 1 }, query) : null
  return {
    rows,
    pagination: { ...pages, last_page: lastPageOf(pages, rows.length, hasMore), next_cursor },
  }
}

/** Returns the version after which a page starts. */
async function startOf<Row, Filter extends { owner_id: number }>(
  db: Db,
  source: FeedSource<Row, Filter>,
  matched: Matched<Filter>,
  { page, ends }: { page: PageRequest; ends: PageEnds },
): Promise<Date | null> {
  if (page.page === 1) return matched.after
  return (await ends.before(page.page)) ?? (await versionBefore(db, source, matched, skipOf(page)))
}

/**
 * Returns the version of the last of `rows` rows, counted from whichever end of the feed is nearer. If rows move to the
 * feed's end in the meantime, the page may repeat rows but never skips any.
 */
async function versionBefore<Row, Filter extends { owner_id: number }>(
  db: Db,
  source: FeedSource<Row, Filter>,
  { filter, after }: Matched<Filter>,
  rows: number,
): Promise<Date | null> {
  const { total, clockMilliseconds: version } = await totalOf(db, source, { filter, after })
  if (rows > total / 2) {
    const range = { after, until: new Date(version) }
    return (await source.versionFromEnd(db, filter, range, Math.max(0, total - rows))) ?? after
  }
  const [last] = await source.find(db, filter, after, { skip: rows - 1, limit: 1 })
  return last ? source.versionOf(last) : after
}

/**
 * Returns the last page's number. A page with rows and no next page is the last page; for an empty page, the number is
 * derived from the total.
 */
function lastPageOf({ current_page, last_page }: Pagination, rows: number, hasMore: boolean): number {
  if (hasMore) return Math.max(current_page + 1, last_page)
  return rows > 0 ? current_page : last_page
}
