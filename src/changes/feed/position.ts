import type { Problem } from '../../core/errors.ts'
import type { Caller } from '../../http/caller.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { toVersion } from '../../versions/format.ts'
import type { ConsumedFeed } from '../consumers/schema.ts'
import { findConsumer, ownerOf } from '../consumers/store.ts'
import type { FeedSource } from '../sources/source.ts'

/** Where a query of a feed continues. */
export interface PositionQuery {
  updated_after?: string
  consumer?: string
  cursor?: string
}

/** What may stand in a query beside its position. */
interface BesidePosition {
  page?: number
  listing_id?: unknown
  checkout_after?: unknown
  booking_id?: unknown
  sender?: unknown
}

const filters = ['listing_id', 'checkout_after', 'booking_id', 'sender'] as const

/**
 * The version after which a query continues: the one sent, or what its consumer has acknowledged.
 *
 * @throws DomainError `not_found` for a consumer that the key does not have
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
 * What is wrong with where a query of a feed begins (decisions §19). It names its position once. Pages are not counted from
 * a position that moves: after an acknowledgement, page 2 would leave out what page 1 has become. And a consumer follows a
 * whole feed: whatever a filter hides would be acknowledged unseen, or stay pending for ever.
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
    report('page', '"page" must be 1 with "consumer": acknowledge and read again, or follow "next_cursor"')
  for (const filter of filters)
    if (others[filter] !== undefined)
      report(filter, `"${filter}" must not be sent together with "consumer", which follows a whole feed`)
  return problems
}

/** Name of a feed. */
export type FeedName = FeedSource<unknown, { host_id: number }>['name']

/** Where a cursor continues: after a version. The page number is only for `current_page`. */
export interface CursorPosition {
  version: Date
  page: number
}

/** So that a cursor of one feed is refused by the other, where it would skip rows. */
const marks: Record<FeedName, string> = { bookings: '', messages: 'm' }

/** A position in a feed as an opaque string. */
export function writeCursor(feed: FeedName, { version, page }: CursorPosition): string {
  return Buffer.from(`${marks[feed]}${version.getTime() / 1000}.${page}`).toString('base64url')
}

/** The position that a cursor stands for; null for anything that is not a cursor of this feed. */
export function readCursor(feed: FeedName, cursor: string): CursorPosition | null {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, mark, seconds, page] = /^(m?)(\d{1,12})\.(\d{1,15})$/.exec(text) ?? []
  if (mark !== marks[feed] || seconds === undefined || Number(page) < 1) return null
  return { version: new Date(Number(seconds) * 1000), page: Number(page) }
}
