import type { FeedSource } from '../sources/source.ts'

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
