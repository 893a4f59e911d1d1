import type { Problem } from '../../core/errors.ts'
import type { Caller } from '../../http/request.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { toVersion } from '../../versions/format.ts'
import type { ConsumedFeed } from '../consumers/schema.ts'
import { findConsumer, ownerOf } from '../consumers/store.ts'
import type { FeedSource } from '../sources/source.ts'

/** Query parameters that determine where a feed query continues. */
export interface PositionQuery {
  updated_after?: string
  consumer?: string
  cursor?: string
}

/** Other query parameters that are checked together with the position. */
interface BesidePosition {
  page?: number
  listing_id?: unknown
  checkout_after?: unknown
  booking_id?: unknown
  sender?: unknown
}

const filters = ['listing_id', 'checkout_after', 'booking_id', 'sender'] as const

/**
 * Returns the version after which a query continues: `updated_after`, or the version that its consumer has
 * acknowledged; undefined for the beginning of the feed.
 *
 * @throws DomainError `not_found` if the key has no such consumer
 */
export async function positionOf(
  db: Db,
  caller: Pick<Caller, 'hostId' | 'scope'>,
  feed: ConsumedFeed,
  { updated_after, consumer: name }: PositionQuery,
): Promise<string | undefined> {
  if (name === undefined) return updated_after
  const { acknowledged } = await findConsumer(db, ownerOf(caller, feed), name)
  return acknowledged ? toVersion(acknowledged) : undefined
}

/**
 * Returns a function that checks a feed query's position (decisions §19). A consumer cannot be combined with
 * `updated_after`, which is a position too. It cannot be combined with a later page, because after an acknowledgement,
 * page 2 would skip the rows that have moved to page 1. It cannot be combined with a filter, because changes that the
 * filter hides would be acknowledged unseen or stay pending forever.
 */
export function positionProblems(
  feed: FeedName,
): (query: PositionQuery & BesidePosition, isValidAt: (path: string) => boolean) => Problem[] {
  return ({ cursor, ...query }, isValidAt) => {
    const isWrong = cursor !== undefined && isValidAt('cursor') && readCursor(feed, cursor) === null
    const message = '"cursor" must be the "next_cursor" of a page'
    return [
      ...onePosition(query),
      ...(isWrong ? [{ path: 'cursor', code: 'invalid', message } as const] : []),
    ]
  }
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

/** Name of a feed. */
export type FeedName = FeedSource<unknown, { host_id: number }>['name']

/** The version after which a cursor continues. The page number is used only for `current_page`. */
export interface CursorPosition {
  version: Date
  page: number
}

/** Prefixes that let each feed reject the other feed's cursors, which would skip rows. */
const marks: Record<FeedName, string> = { bookings: '', messages: 'm' }

/** Encodes a position in a feed as an opaque string. */
export function writeCursor(feed: FeedName, { version, page }: CursorPosition): string {
  return Buffer.from(`${marks[feed]}${version.getTime() / 1000}.${page}`).toString('base64url')
}

/** Decodes a cursor; returns null for anything that is not a cursor of this feed. */
export function readCursor(feed: FeedName, cursor: string): CursorPosition | null {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, mark, seconds, page] = /^(m?)(\d{1,12})\.(\d{1,15})$/.exec(text) ?? []
  if (mark !== marks[feed] || seconds === undefined || Number(page) < 1) return null
  return { version: new Date(Number(seconds) * 1000), page: Number(page) }
}
