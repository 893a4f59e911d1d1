import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox'
import type { Counter } from '../host-clock/model.ts'
import { dateInQuery, idInQuery } from '../http/input/schema/fields.ts'
import { findListing } from '../inventory/listings/store.ts'
import type { Db } from '../platform/mongo/connection.ts'
import type { FollowingAll } from '../platform/mongo/following.ts'
import type { StoredBooking } from '../stays/bookings/model.ts'
import {
  type BookingChange,
  type ChangeFilter,
  countChanges,
  countChangesAfterEach,
  findBooking,
  findChangedBookings,
  findChanges,
  findVersionFromEnd,
} from '../stays/bookings/store.ts'
import type { StoredMessage } from '../stays/messages/model.ts'
import {
  countMessagesAfterEach,
  countNewMessages,
  findMessageVersionFromEnd,
  findNewMessages,
  type MessageFilter,
} from '../stays/messages/store.ts'

/**
 * What each feed is. The feeds' routes, consumers, hints and metrics all read a feed through its definition here.
 *
 * A feed lists an owner's rows by version. The owner's clock assigns the versions: they are unique, and they follow the
 * order in which changes become visible. A changed row gets a new version and so moves to the end of its feed.
 *
 * To add a filter to a feed, add its query parameter below and use it in `filterOf`. The routes, the cursors and the
 * check of consumers follow.
 */

/** The names of the feeds. A cursor is valid for only one feed. */
export const feedNames = ['bookings', 'messages'] as const
export type FeedName = (typeof feedNames)[number]

/** Every filter names the owner of the rows. */
export interface OwnerFilter {
  owner_id: number
}

/** The definition of a feed. */
export interface Feed<Row = unknown, Filter extends OwnerFilter = OwnerFilter> {
  name: FeedName
  /** The counter of the owner's clock that assigns the versions. */
  counter: Counter
  /** The event that hints announce a change with. */
  event: 'booking.changed' | 'message.created'
  /** Schemas of the query parameters that filter the feed. */
  parameters: TProperties
  /**
   * Converts the parameters of a request to a filter.
   *
   * @throws DomainError `not_found` if the owner does not have what the parameters name
   */
  filterOf(db: Db, ownerId: number, parameters: FilterParameters): Promise<Filter>
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
  /** Returns what follows each of some positions of an owner, in milliseconds since 1970; see `countFollowing`. */
  countAfterEach(db: Db, ownerId: number, positions: number[], limit: number): Promise<FollowingAll>
}

/** Versions later than `after` and no later than `until`. At most `limit` rows are counted. */
export interface VersionRange {
  after: Date | null
  until?: Date | undefined
  limit?: number | undefined
}

/** The query parameters that filter the booking feed. */
export const bookingParameters = {
  checkout_after: dateInQuery('Only stays that end on or after this day', '2026-01-31'),
  listing_id: idInQuery('Only bookings of this listing', '2001'),
}

/** The query parameters that filter the message feed. */
export const messageParameters = {
  booking_id: idInQuery('Only messages of this booking', '5002'),
  sender: Type.Optional(
    Type.Union([Type.Literal('guest'), Type.Literal('host')], {
      description: 'Only messages from this sender',
      example: 'guest',
    }),
  ),
}

/** The query parameters that filter a feed; each feed reads only its own. */
export type FilterParameters = {
  [Name in keyof AllParameters]?: AllParameters[Name] | undefined
}
type AllParameters = Static<TObject<typeof bookingParameters & typeof messageParameters>>

/** A host's bookings, each in its latest state. */
export const bookingFeed: Feed<BookingChange, ChangeFilter> = {
  name: 'bookings',
  counter: 'last',
  event: 'booking.changed',
  parameters: bookingParameters,
  async filterOf(db, owner_id, { listing_id, checkout_after }) {
    if (listing_id !== undefined) await findListing(db, owner_id, listing_id)
    return {
      owner_id,
      ...(listing_id === undefined ? {} : { listing_id }),
      ...(checkout_after === undefined ? {} : { checkout_at: { $gte: checkout_after } }),
    }
  },
  find: findChanges,
  count: countChanges,
  versionFromEnd: findVersionFromEnd,
  versionOf: ({ updated_at }) => updated_at,
  countAfterEach: countChangesAfterEach,
}

/** The booking feed with whole bookings, for `include=detail` (decisions §27) and for the traces that hints carry on. */
export const bookingFeedInFull: Feed<StoredBooking, ChangeFilter> = {
  ...bookingFeed,
  find: findChangedBookings,
}

/** A host's messages, across all bookings. */
export const messageFeed: Feed<StoredMessage, MessageFilter> = {
  name: 'messages',
  counter: 'messages_last',
  event: 'message.created',
  parameters: messageParameters,
  async filterOf(db, owner_id, { booking_id, sender }) {
    if (booking_id !== undefined) await findBooking(db, owner_id, booking_id)
    return {
      owner_id,
      ...(booking_id === undefined ? {} : { booking_id }),
      ...(sender === undefined ? {} : { sender }),
    }
  },
  find: findNewMessages,
  count: countNewMessages,
  versionFromEnd: findMessageVersionFromEnd,
  versionOf: ({ version }) => version,
  countAfterEach: countMessagesAfterEach,
}

/** The feeds by name, for those that read a feed as a whole and do not look into its rows. */
export const feeds: Record<FeedName, Feed> = { bookings: bookingFeed, messages: messageFeed }

/** Returns the version of a whole feed's first row after the given version; null if none follows. */
export async function oldestAfter(
  db: Db,
  feed: Feed,
  owner_id: number,
  after: Date | null,
): Promise<Date | null> {
  const [first] = await feed.find(db, { owner_id }, after, { skip: 0, limit: 1 })
  return first === undefined ? null : feed.versionOf(first)
}
