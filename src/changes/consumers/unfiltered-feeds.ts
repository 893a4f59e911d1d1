import type { Db } from '../../platform/mongo/connection.ts'
import { bookingFeed, type FeedSource, messageFeed } from '../sources/source.ts'
import type { ConsumedFeed } from './schema.ts'

/** A host's unfiltered feed, which consumers follow. */
export interface WholeFeed extends Pick<FeedSource<unknown, { owner_id: number }>, 'counter' | 'count'> {
  /** Returns the version of the first change after the given version; null if no change follows. */
  oldestAfter(db: Db, ownerId: number, after: Date | null): Promise<Date | null>
}

export const unfilteredFeeds: Record<ConsumedFeed, WholeFeed> = {
  bookings: wholeFeed(bookingFeed),
  messages: wholeFeed(messageFeed),
}

function wholeFeed<Row>({
  counter,
  count,
  find,
  versionOf,
}: FeedSource<Row, { owner_id: number }>): WholeFeed {
  return {
    counter,
    count,
    async oldestAfter(db, owner_id, after) {
      const [first] = await find(db, { owner_id }, after, { skip: 0, limit: 1 })
      return first ? versionOf(first) : null
    },
  }
}
