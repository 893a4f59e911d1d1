import { bookingFeed } from '../feed/bookings.ts'
import { messageFeed } from '../feed/messages.ts'
import { ensureMessageVersions } from '../messages/upgrade.ts'
import type { Db } from '../platform/mongo/connection.ts'
import type { ConsumedFeed } from './feeds.ts'
import type { Consumer } from './model.ts'

/** How far a consumer is behind. */
export interface Progress {
  /** Changes after what it acknowledged; exact up to {@link countedPending}. */
  pending: number
  /** The version of the oldest of them; null where there is none. */
  oldestPending: Date | null
}

/** Beyond this nobody counts on. */
export const countedPending = 10_000

type Place = Pick<Consumer, 'host_id' | 'feed' | 'acknowledged'>

/** How far a consumer is behind, in the whole feed of its host. */
export async function progressOf(db: Db, place: Place): Promise<Progress> {
  const [pending, oldestPending] = await Promise.all([countPending(db, place), oldestPendingOf(db, place)])
  return { pending, oldestPending }
}

async function countPending(db: Db, { host_id, feed, acknowledged }: Place): Promise<number> {
  await ensureVersions(db, host_id, feed)
  const { count } = feed === 'bookings' ? bookingFeed : messageFeed
  return count(db, { host_id }, acknowledged, countedPending)
}

/** The version of the oldest change that a consumer has not acknowledged; null where there is none. */
export async function oldestPendingOf(db: Db, { host_id, feed, acknowledged }: Place): Promise<Date | null> {
  await ensureVersions(db, host_id, feed)
  const first = { skip: 0, limit: 1 }
  if (feed === 'bookings') {
    const [booking] = await bookingFeed.find(db, { host_id }, acknowledged, first)
    return booking ? bookingFeed.versionOf(booking) : null
  }
  const [message] = await messageFeed.find(db, { host_id }, acknowledged, first)
  return message ? messageFeed.versionOf(message) : null
}

async function ensureVersions(db: Db, hostId: number, feed: ConsumedFeed): Promise<void> {
  if (feed === 'messages') await ensureMessageVersions(db, hostId)
}
