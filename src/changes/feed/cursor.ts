import { type Static, type TObject, Type } from '@sinclair/typebox'
import { cursorsOf } from '../../http/input/cursor.ts'
import { text } from '../../http/input/schema/fields.ts'
import { withNumericIds } from '../../http/input/schema/read.ts'
import { bookingParameters, type FeedName, messageParameters } from '../feeds.ts'

const place = Type.Object({
  /** The version after which the page starts, in seconds. */
  after: Type.Integer({ minimum: 0, maximum: 999_999_999_999 }),
  /** The page's number, which is used only for `current_page`, `from` and `to`. */
  page: Type.Integer({ minimum: 1, maximum: 999_999_999_999_999 }),
})

/** The query of a walk through either feed. */
const walk = {
  per_page: Type.Integer({ minimum: 1, maximum: 100 }),
  /** Where the walk started, even if a consumer's position was the start. */
  updated_after: Type.Optional(text(19, { format: 'version', whenBlank: 'invalid' })),
  ...bookingParameters,
  ...messageParameters,
}
export type WalkQuery = Static<TObject<typeof walk>>

const cursors: Record<FeedName, ReturnType<typeof cursorsOf<typeof place, typeof walk>>> = {
  bookings: cursorsOf('bookings', place, walk),
  messages: cursorsOf('messages', place, walk),
}

/** The version after which a cursor continues, and its page's number. */
interface CursorPosition {
  version: Date
  page: number
}

/** Encodes a position in a feed and the query of its walk as an opaque string. */
export function writeCursor(
  feed: FeedName,
  { version, page }: CursorPosition,
  query: { [Name in keyof WalkQuery]: WalkQuery[Name] | undefined },
): string {
  const sent = { ...query, listing_id: asSent(query.listing_id), booking_id: asSent(query.booking_id) }
  return cursors[feed].write({ after: version.getTime() / 1000, page }, sent as typeof query)
}

/** A cursor has its ids in digits, as the query of its walk had them. */
function asSent(id: number | undefined): string | undefined {
  return id === undefined ? undefined : String(id)
}

/** A cursor that has been read. */
interface ReadCursor extends CursorPosition {
  query: WalkQuery
  /** The query in the form in which a client sends it. */
  sent: Record<string, unknown>
}

/** Decodes a cursor; returns null for anything that is not a cursor of this feed. */
export function readCursor(feed: FeedName, cursor: string): ReadCursor | null {
  const read = cursors[feed].read(cursor)
  if (!read) return null
  return {
    version: new Date(read.place.after * 1000),
    page: read.place.page,
    query: withNumericIds(walk, read.query) as WalkQuery,
    sent: read.query,
  }
}
