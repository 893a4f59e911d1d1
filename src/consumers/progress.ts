import type { Db } from '../platform/mongo/connection.ts'
import type { Consumer } from './model.ts'
import { wholeFeeds } from './whole-feeds.ts'

/** How far a consumer is behind. */
export interface Progress {
  /** Changes after what it acknowledged; exact up to 10,000. */
  pending: number
  /** The version of the oldest of them; null where there is none. */
  oldestPending: Date | null
}

/** Beyond this nobody counts on. */
const countedPending = 10_000

type Place = Pick<Consumer, 'host_id' | 'feed' | 'acknowledged'>

/** How far a consumer is behind, in the whole feed of its host. */
export async function progressOf(db: Db, place: Place): Promise<Progress> {
  const { host_id, feed, acknowledged } = place
  const oldestPending = await oldestPendingOf(db, place)
  if (oldestPending === null) return { pending: 0, oldestPending }
  const pending = await wholeFeeds[feed].count(db, { host_id }, acknowledged, countedPending)
  return { pending, oldestPending }
}

/** The version of the oldest change that a consumer has not acknowledged; null where there is none. */
export async function oldestPendingOf(db: Db, { host_id, feed, acknowledged }: Place): Promise<Date | null> {
  const { prepare, oldestAfter } = wholeFeeds[feed]
  await prepare(db, host_id)
  return oldestAfter(db, host_id, acknowledged)
}
