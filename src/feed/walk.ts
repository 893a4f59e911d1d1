import { createHash } from 'node:crypto'
import { type Booking, bookingModel } from '../bookings/model.ts'
import type { Deps } from '../deps.ts'
import { type PageRequest, type Pagination, skipOf } from '../http/pagination.ts'
import type { Db } from '../infra/mongo.ts'
import { recallPageEnd, rememberPageEnd } from '../infra/walk-pages.ts'
import { findListing } from '../listings/store.ts'
import { type CursorPosition, readCursor, writeCursor } from './cursor.ts'
import { countChanges } from './total.ts'
import { parseFeedTime } from './version.ts'

/**
 * Why no change can be lost (decisions §9).
 *
 * 1. Every change of a booking takes, in its own transaction, the next version of its host's clock
 *    (`bookings/changes.ts`, `infra/host-clock.ts`): unique per host, and in the order in which changes
 *    become visible. A reader that has seen version `v` can see everything up to `v`; what it cannot see yet
 *    will have a greater version. So "after `v`" never skips a change, whatever commits meanwhile.
 * 2. A changed booking only ever moves to the end. A walk that continues after the last row it was given
 *    (by cursor, or by the remembered end of the page before) meets every row either where it was or, moved,
 *    later on. Counting rows from the start instead would skip as many rows as moved away before it.
 * 3. A page that is not the last says so, because it has looked one row further; `last_page` never ends a
 *    walk before its rows do.
 *
 * Reads are of majority and on the primary, so a version once shown is never rolled back.
 */

type Store = Pick<Deps, 'db' | 'clock'>

/** What the feed may be asked, beside the page. */
export interface FeedQuery {
  updated_after?: string
  checkout_after?: string
  listing_id?: string
  cursor?: string
}

/** The part of a booking that the feed shows. */
const columns = {
  _id: 0,
  id: 1,
  listing_id: 1,
  room_type_id: 1,
  status: 1,
  checkin_at: 1,
  checkout_at: 1,
  updated_at: 1,
} as const
export type FeedRow = Pick<Booking, Exclude<keyof typeof columns, '_id'>>

export interface FeedPage {
  bookings: FeedRow[]
  pagination: Pagination & { next_cursor: string | null }
}

/**
 * One page of the host's changed bookings, by version.
 *
 * @throws DomainError `not_found` for a listing that is not the host's; `validation` for a cursor that is none
 */
export async function readFeedPage(
  { db, clock }: Store,
  { hostId, scope }: { hostId: number; scope: number },
  query: FeedQuery,
  page: PageRequest,
): Promise<FeedPage> {
  const position = query.cursor === undefined ? null : readCursor(query.cursor)
  if (query.listing_id !== undefined) await findListing({ db }, hostId, Number(query.listing_id))
  const updatedAfter = query.updated_after === undefined ? null : parseFeedTime(query.updated_after)
  const filter = filterOf(hostId, query)
  const nameOf = (number: number) => `${walkName(hostId, scope, query, page.perPage)}:${number}`
  const start = position ?? (await startOf({ db, clock }, nameOf, page, updatedAfter))
  const found = await findAfter(db, filter, start, page)
  const bookings = found.slice(0, page.perPage)
  const hasMore = found.length > page.perPage
  const isWholeWalk = !hasMore && !position && page.page === 1
  const end = hasMore && !position ? bookings.at(-1) : undefined
  const [total] = await Promise.all([
    isWholeWalk ? bookings.length : countChanges(db, { ...filter, ...after(updatedAfter) }, clock()),
    end && rememberPageEnd(db, hostId, nameOf(page.page), end.updated_at, clock()),
  ])
  return { bookings, pagination: paginate({ page, position, bookings, total, hasMore }) }
}

/** Where a page begins: after a version, or by counting rows where nothing is remembered. */
type Start = CursorPosition | { version: Date | null; skip: number }

async function startOf(
  { db, clock }: Store,
  nameOf: (page: number) => string,
  page: PageRequest,
  updatedAfter: Date | null,
): Promise<Start> {
  if (page.page === 1) return { version: updatedAfter, skip: 0 }
  const end = await recallPageEnd(db, nameOf(page.page - 1), clock())
  return end === null ? { version: updatedAfter, skip: skipOf(page) } : { version: end, skip: 0 }
}

function filterOf(hostId: number, query: FeedQuery) {
  return {
    host_id: hostId,
    ...(query.listing_id === undefined ? {} : { listing_id: Number(query.listing_id) }),
    ...(query.checkout_after === undefined ? {} : { checkout_at: { $gte: query.checkout_after } }),
  }
}

function after(version: Date | null) {
  return version === null ? {} : { updated_at: { $gt: version } }
}

/**
 * The rows of a page and one more, which tells whether there is a next page. Asked of the driver itself: here
 * mongoose would only cast what is already typed, at a sixth of the cost of an idle poll.
 */
function findAfter(db: Db, filter: object, start: Start, { perPage }: PageRequest): Promise<FeedRow[]> {
  return bookingModel(db)
    .collection.find<FeedRow>({ ...filter, ...after(start.version) })
    .project<FeedRow>(columns)
    .sort({ updated_at: 1 })
    .skip('skip' in start ? start.skip : 0)
    .limit(perPage + 1)
    .toArray()
}

/** The name under which the ends of the pages of one walk are remembered: one for each key and query. */
function walkName(hostId: number, scope: number, query: FeedQuery, perPage: number): string {
  const { updated_after, checkout_after, listing_id } = query
  const walk = JSON.stringify([hostId, scope, updated_after, checkout_after, listing_id, perPage])
  return `walk:${createHash('sha256').update(walk).digest('base64url').slice(0, 22)}`
}

interface PageState {
  page: PageRequest
  position: CursorPosition | null
  bookings: FeedRow[]
  total: number
  hasMore: boolean
}

function paginate({ page, position, bookings, total, hasMore }: PageState): FeedPage['pagination'] {
  const number = position?.page ?? page.page
  const before = (number - 1) * page.perPage
  const last = bookings.at(-1)
  return {
    current_page: number,
    per_page: page.perPage,
    total,
    last_page: hasMore
      ? Math.max(number + 1, Math.ceil(total / page.perPage))
      : lastPageOf(number, bookings, total, page),
    from: bookings.length > 0 ? before + 1 : null,
    to: bookings.length > 0 ? before + bookings.length : null,
    next_cursor: hasMore && last ? writeCursor({ version: last.updated_at, page: number + 1 }) : null,
  }
}

/** A page with rows and nothing after it is the last one; of an empty page the total tells. */
function lastPageOf(number: number, bookings: FeedRow[], total: number, { perPage }: PageRequest): number {
  return bookings.length > 0 ? number : Math.max(1, Math.ceil(total / perPage))
}
