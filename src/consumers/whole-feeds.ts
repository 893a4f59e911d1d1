import { bookingFeed } from '../feed/bookings.ts'
import { messageFeed } from '../feed/messages.ts'
import type { FeedSource } from '../feed/source.ts'
import { ensureMessageVersions } from '../messages/upgrade.ts'
import type { Db } from '../platform/mongo/connection.ts'
import type { ConsumedFeed } from './feeds.ts'

/** A feed of a host without any filter: what a consumer has its place in. */
export interface WholeFeed extends Pick<FeedSource<unknown, { host_id: number }>, 'counter' | 'count'> {
  /** The version of the first change after a version; null where there is none. */
  oldestAfter(db: Db, hostId: number, after: Date | null): Promise<Date | null>
  /** Must have been called before the feed of a host is asked. */
  prepare(db: Db, hostId: number): Promise<void>
}

export const wholeFeeds: Record<ConsumedFeed, WholeFeed> = {
  bookings: wholeFeed(bookingFeed),
  messages: wholeFeed(messageFeed, ensureMessageVersions),
}

function wholeFeed<Row>(
  { counter, count, find, versionOf }: FeedSource<Row, { host_id: number }>,
  prepare: WholeFeed['prepare'] = async () => {},
): WholeFeed {
  return {
    counter,
    count,
    prepare,
    async oldestAfter(db, host_id, after) {
      const [first] = await find(db, { host_id }, after, { skip: 0, limit: 1 })
      return first ? versionOf(first) : null
    },
  }
}
