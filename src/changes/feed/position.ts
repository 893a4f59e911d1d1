import type { Problem } from '../../core/errors.ts'
import { parseFeedTime, toVersion } from '../../host-clock/format.ts'
import { othersThanIn } from '../../http/cursor.ts'
import type { Caller } from '../../http/request.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { ConsumedFeed } from '../consumers/schema.ts'
import { consumerSetOf, findConsumer } from '../consumers/store.ts'
import { type FeedName, readCursor, type WalkQuery } from './cursor.ts'

/** Query parameters that determine where a feed query continues. */
export interface PositionQuery {
  updated_after?: string
  consumer?: string
  cursor?: string
}

/** Other query parameters that are checked together with the position. */
interface BesidePosition {
  page?: number
  per_page?: number
  listing_id?: unknown
  checkout_after?: unknown
  booking_id?: unknown
  sender?: unknown
}

const filtersOf = {
  bookings: ['listing_id', 'checkout_after'],
  messages: ['booking_id', 'sender'],
} as const
const filters = [...filtersOf.bookings, ...filtersOf.messages]

/**
 * Returns a query with the parameters of its cursor's walk, which a client may leave out (decisions §9). A query without
 * a cursor is returned as it is. The cursor must already have been validated.
 */
export function withWalk<Query extends PositionQuery>(
  feed: FeedName,
  query: Query,
): Query & Partial<WalkQuery> {
  const cursor = query.cursor === undefined ? null : readCursor(feed, query.cursor)
  return cursor ? { ...query, ...cursor.query } : query
}

/**
 * Returns the version after which a walk starts: `updated_after`, or the version that its consumer has acknowledged;
 * undefined for the beginning of the feed. A cursor's walk keeps its start, even if its consumer has moved on.
 *
 * @throws DomainError `not_found` if the key has no such consumer
 */
export async function walkStart(
  db: Db,
  caller: Pick<Caller, 'ownerId' | 'keyId'>,
  feed: ConsumedFeed,
  { updated_after, consumer: name, cursor }: PositionQuery,
): Promise<string | undefined> {
  if (name === undefined) return updated_after
  const { acknowledged } = await findConsumer(db, consumerSetOf(caller, feed), name)
  if (cursor !== undefined) return updated_after
  return acknowledged ? toVersion(acknowledged) : undefined
}

/**
 * Returns a function that checks a feed query's position (decisions §19). A consumer cannot be combined with
 * `updated_after`, which is a position too. It cannot be combined with a later page, because after an acknowledgement,
 * page 2 would skip the rows that have moved to page 1. It cannot be combined with a filter, because changes that the
 * filter hides would be acknowledged unseen or stay pending forever. A cursor continues its own walk (decisions §9).
 */
export function positionProblems(
  feed: FeedName,
): (query: PositionQuery & BesidePosition, isValidAt: (path: string) => boolean) => Problem[] {
  return (query, isValidAt) => {
    const problems = onePosition(query)
    if (query.cursor === undefined || !isValidAt('cursor')) return problems
    const cursor = readCursor(feed, query.cursor)
    if (cursor === null) return [...problems, invalidCursor('must be the "next_cursor" of a page')]
    const own = Object.fromEntries(filtersOf[feed].map((filter) => [filter, query[filter]]))
    const { per_page, updated_after } = query
    const isTime = updated_after !== undefined && isValidAt('updated_after')
    const start = isTime ? toVersion(parseFeedTime(updated_after)) : undefined
    const sent = { per_page, updated_after: start, ...own }
    return [
      ...problems,
      ...unfitForCursor(query, cursor.query),
      ...othersThanIn(cursor.query, sent, isValidAt),
    ]
  }
}

/** Returns the problems with parameters that a cursor cannot be combined with, whatever their values. */
function unfitForCursor({ consumer, page }: PositionQuery & BesidePosition, walk: WalkQuery): Problem[] {
  const problems: Problem[] = []
  if (page !== undefined)
    problems.push({
      path: 'page',
      code: 'invalid',
      message: '"page" must not be sent together with "cursor"',
    })
  if (consumer !== undefined && filters.some((filter) => walk[filter] !== undefined))
    problems.push(
      invalidCursor('must come from a page without filters if it is sent together with "consumer"'),
    )
  return problems
}

function invalidCursor(demand: string): Problem {
  return { path: 'cursor', code: 'invalid', message: `"cursor" ${demand}` }
}

function onePosition({
  updated_after,
  consumer,
  page = 1,
  ...others
}: PositionQuery & BesidePosition): Problem[] {
  if (consumer === undefined) return []
  const problems: Problem[] = []
  const report = (path: string, message: string) => problems.push({ path, code: 'invalid', message })
  if (updated_after !== undefined)
    report('updated_after', '"updated_after" must not be sent together with "consumer"')
  if (page > 1)
    report('page', '"page" must be 1 with "consumer"; acknowledge and read again, or follow "next_cursor"')
  for (const filter of filters)
    if (others[filter] !== undefined)
      report(filter, `"${filter}" must not be sent together with "consumer", which follows the whole feed`)
  return problems
}
