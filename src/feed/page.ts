import { createHash } from 'node:crypto'
import { type BookingChange, type ChangeFilter, findChanges } from '../bookings/store.ts'
import { parseFeedTime } from '../bookings/version.ts'
import type { AppContext } from '../context.ts'
import { type PageRequest, type Pagination, pagination, skipOf } from '../http/pagination.ts'
import { findListing } from '../listings/store.ts'
import { type CursorPosition, readCursor, writeCursor } from './cursor.ts'
import { PageEnds } from './page-ends.ts'
import { expectTotal, lastReadClock, totalOf } from './total.ts'

/**
 * Why no change can be lost (decisions §9).
 *
 * 1. Every change of a booking takes, in its own transaction, the next version of its host's clock
 *    (`bookings/store.ts`, `host-clock/store.ts`): unique per host, and in the order in which changes
 *    become visible. A reader that has seen version `v` can see everything up to `v`; what it cannot see yet
 *    will have a greater version. So "after `v`" never skips a change, whatever commits meanwhile.
 * 2. A changed booking only ever moves to the end. A reader that continues after the last row it was given
 *    (by cursor, or by the stored end of the page before) meets every row either where it was or, moved,
 *    later on. Counting rows from the start instead would skip as many rows as moved away before it.
 * 3. A page that is not the last says so, because the query looks one row further; `last_page` never ends
 *    before the rows do.
 *
 * Reads have read concern majority and go to the primary, so a version once shown is never rolled back.
 */

type Context = Pick<AppContext, 'db' | 'clock'>

/** The query of the feed, apart from the page. */
export interface FeedQuery {
  updated_after?: string
  checkout_after?: string
  listing_id?: string
  cursor?: string
}

/** One page of the feed: rows, and `meta.pagination` with the cursor of the next page. */
export interface FeedPage {
  bookings: BookingChange[]
  pagination: Pagination & { next_cursor: string | null }
}

/**
 * One page of the host's changed bookings, by version.
 *
 * @throws DomainError `not_found` for a listing that is not the host's; `validation` for an invalid cursor
 */
export async function readFeedPage(
  { db, clock }: Context,
  { hostId, scope }: { hostId: number; scope: number },
  query: FeedQuery,
  page: PageRequest,
): Promise<FeedPage> {
  const position = query.cursor === undefined ? null : readCursor(query.cursor)
  if (query.listing_id !== undefined) await findListing(db, hostId, Number(query.listing_id))
  const updatedAfter = query.updated_after === undefined ? null : parseFeedTime(query.updated_after)
  const filter = filterOf(hostId, query)
  const clockBefore = lastReadClock(db, hostId)
  const name = () => pagesName(hostId, scope, query, page.perPage)
  const ends = new PageEnds(db, hostId, name, clock())
  const { version, skip } = position
    ? { version: position.version, skip: 0 }
    : await startOf(ends, page, updatedAfter)
  // One row more than asked for tells whether there is a next page.
  const found = await findChanges(db, filter, version, { skip, limit: page.perPage + 1 })
  const bookings = found.slice(0, page.perPage)
  const hasMore = found.length > page.perPage
  const isFirst = page.page === 1 && !position
  const isOnlyPage = isFirst && !hasMore
  const end = hasMore ? bookings.at(-1)?.updated_at : undefined
  const [counted] = await Promise.all([
    isOnlyPage ? null : totalOf(db, filter, updatedAfter, clock()),
    end && !position && ends.keep(page.page, end),
  ])
  if (counted && end && isFirst && counted.version === clockBefore)
    expectTotal(db, filter, end, counted, bookings.length)
  const total = counted?.total ?? bookings.length
  return { bookings, pagination: paginate({ page, position, bookings, total, hasMore }) }
}

/** A page begins after a version; without a stored end of the page before it, by counting rows. */
async function startOf(
  ends: PageEnds,
  page: PageRequest,
  updatedAfter: Date | null,
): Promise<{ version: Date | null; skip: number }> {
  if (page.page === 1) return { version: updatedAfter, skip: 0 }
  const end = await ends.before(page.page)
  return end === undefined ? { version: updatedAfter, skip: skipOf(page) } : { version: end, skip: 0 }
}

function filterOf(hostId: number, query: FeedQuery): ChangeFilter {
  return {
    host_id: hostId,
    ...(query.listing_id === undefined ? {} : { listing_id: Number(query.listing_id) }),
    ...(query.checkout_after === undefined ? {} : { checkout_at: { $gte: query.checkout_after } }),
  }
}

/** The name under which page ends are stored: one for each key and query. */
function pagesName(hostId: number, scope: number, query: FeedQuery, perPage: number): string {
  const { updated_after, checkout_after, listing_id } = query
  const pages = JSON.stringify([hostId, scope, updated_after, checkout_after, listing_id, perPage])
  return `walk:${createHash('sha256').update(pages).digest('base64url').slice(0, 22)}`
}

interface PageState {
  page: PageRequest
  position: CursorPosition | null
  bookings: BookingChange[]
  total: number
  hasMore: boolean
}

function paginate({ page, position, bookings, total, hasMore }: PageState): FeedPage['pagination'] {
  const number = position?.page ?? page.page
  const counted = pagination({ page: number, perPage: page.perPage }, total, bookings.length)
  const last = bookings.at(-1)
  return {
    ...counted,
    last_page: hasMore ? Math.max(number + 1, counted.last_page) : lastPageOf(counted, bookings),
    next_cursor: hasMore && last ? writeCursor({ version: last.updated_at, page: number + 1 }) : null,
  }
}

/** A page with rows and nothing after it is the last one; for an empty page the total decides. */
function lastPageOf({ current_page, last_page }: Pagination, bookings: BookingChange[]): number {
  return bookings.length > 0 ? current_page : last_page
}
