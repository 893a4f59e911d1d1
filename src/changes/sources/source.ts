import type { Counter } from '../../host-clock/model.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { StoredBooking } from '../../stays/bookings/model.ts'
import {
  type BookingChange,
  type ChangeFilter,
  countChanges,
  findChangedBookings,
  findChanges,
  findVersionFromEnd,
} from '../../stays/bookings/store.ts'
import type { StoredMessage } from '../../stays/messages/model.ts'
import {
  countNewMessages,
  findMessageVersionFromEnd,
  findNewMessages,
  type MessageFilter,
} from '../../stays/messages/store.ts'

/** The source of a feed: a host's documents, each with a version from the host's clock. */
export interface FeedSource<Row, Filter extends { owner_id: number }> {
  /** Name of the feed. A cursor is valid for only one feed. */
  name: 'bookings' | 'messages'
  /** The counter of the host's clock that assigns the versions. */
  counter: Counter
  /** Returns the rows after a version, in version order. */
  find(db: Db, filter: Filter, after: Date | null, range: { skip: number; limit: number }): Promise<Row[]>
  /** Returns the number of rows in a range of versions. */
  count(db: Db, filter: Filter, range: VersionRange): Promise<number>
  /**
   * Returns the version of the row that is followed by exactly `others` rows in the range; null if there are too few
   * rows.
   */
  versionFromEnd(db: Db, filter: Filter, range: VersionRange, others: number): Promise<Date | null>
  versionOf(row: Row): Date
}

/** Versions later than `after` and no later than `until`. At most `limit` rows are counted. */
export interface VersionRange {
  after: Date | null
  until?: Date | undefined
  limit?: number | undefined
}

/** A feed query: its position and its filter. */
export interface FeedQuery<Filter> {
  filter: Filter
  /** The version from the request or from the request's consumer; only later versions match. */
  updated_after?: string | undefined
  cursor?: string | undefined
  /**
   * Values that distinguish this query from the key's other queries. The names of stored page ends are derived from
   * them.
   */
  identity: unknown[]
  /** The filter's query parameters, which the cursor of the next page keeps. */
  sent: FilterParameters
}

/** The query parameters that filter a feed. */
export interface FilterParameters {
  listing_id?: string | undefined
  checkout_after?: string | undefined
  booking_id?: string | undefined
  sender?: StoredMessage['sender'] | undefined
}

/** A host's bookings, each in its latest state. */
export const bookingFeed: FeedSource<BookingChange, ChangeFilter> = {
  name: 'bookings',
  counter: 'last',
  find: findChanges,
  count: countChanges,
  versionFromEnd: findVersionFromEnd,
  versionOf: ({ updated_at }) => updated_at,
}

/** The booking feed with complete bookings, for `include=detail` (decisions §27). */
export const bookingFeedInFull: FeedSource<StoredBooking, ChangeFilter> = {
  ...bookingFeed,
  find: findChangedBookings,
}

/** A host's messages, across all bookings. */
export const messageFeed: FeedSource<StoredMessage, MessageFilter> = {
  name: 'messages',
  counter: 'messages_last',
  find: findNewMessages,
  count: countNewMessages,
  versionFromEnd: findMessageVersionFromEnd,
  versionOf: ({ version }) => version,
}
