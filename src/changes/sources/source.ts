import type { Db } from '../../platform/mongo/connection.ts'
import type { Counter } from '../../versions/model.ts'

/** The source of a feed: documents of a host, each with a version that its host's clock gave it. */
export interface FeedSource<Row, Filter extends { host_id: number }> {
  /** Name of the feed; a cursor and the ends of pages belong to one feed. */
  name: 'bookings' | 'messages'
  /** The part of the host's clock that gives the versions. */
  counter: Counter
  /** Rows after a version, in the order of their versions. */
  find(db: Db, filter: Filter, after: Date | null, range: { skip: number; limit: number }): Promise<Row[]>
  /** How many rows there are in a range of versions. */
  count(db: Db, filter: Filter, range: VersionRange): Promise<number>
  /** The version of the row in a range after which there are so many others; null where there are fewer. */
  versionFromEnd(db: Db, filter: Filter, range: VersionRange, others: number): Promise<Date | null>
  versionOf(row: Row): Date
}

/** Versions after one and up to another; counted no further than `limit`. */
export interface VersionRange {
  after: Date | null
  until?: Date | undefined
  limit?: number | undefined
}

/** A question to a feed, apart from the page. */
export interface FeedQuestion<Filter> {
  filter: Filter
  /** As sent; strict. */
  updated_after?: string | undefined
  cursor?: string | undefined
  /** Distinguishes this question from others of the same key: the ends of its pages are stored under it. */
  identity: unknown[]
}
