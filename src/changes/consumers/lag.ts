import { findUnexpiredKeyIds } from '../../access/keys/store.ts'
import { findClocks } from '../../host-clock/change-store.ts'
import type { HostClock } from '../../host-clock/model.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { type FeedName, feedNames, feeds } from '../feeds.ts'
import type { Consumer } from './model.ts'
import { oldestPendingOf } from './progress.ts'
import { consumerBatches } from './store.ts'

/** A consumer, and the version of its oldest unacknowledged change; null if all changes are acknowledged. */
export interface Lagging {
  consumer: Consumer
  oldestPending: Date | null
}

/**
 * Returns the consumers whose key is neither revoked nor expired. The consumer with the oldest pending change is first.
 */
export async function consumersByLag(db: Db, now: Date): Promise<Lagging[]> {
  const all: Lagging[] = []
  for await (const { current, behind } of unexpiredConsumers(db, now)) {
    all.push(...current.map((consumer) => ({ consumer, oldestPending: null })))
    for (const consumer of behind) all.push({ consumer, oldestPending: await oldestPendingOf(db, consumer) })
  }
  const age = ({ oldestPending }: Lagging) => oldestPending?.getTime() ?? Number.POSITIVE_INFINITY
  return all.sort((one, other) => (age(one) === age(other) ? 0 : age(one) - age(other)))
}

/** Returns the age of each feed's oldest unacknowledged change, in seconds; 0 if there is none. */
export async function greatestLags(db: Db, now: Date): Promise<Record<FeedName, number>> {
  const oldest: Partial<Record<FeedName, number>> = {}
  for await (const { behind } of unexpiredConsumers(db, now)) {
    for (const consumer of behind) {
      // Pending changes are newer than the acknowledged version, so this consumer has none older than `oldest`.
      if ((consumer.acknowledged?.getTime() ?? 0) >= (oldest[consumer.feed] ?? Number.POSITIVE_INFINITY))
        continue
      const pending = (await oldestPendingOf(db, consumer))?.getTime() ?? Number.POSITIVE_INFINITY
      oldest[consumer.feed] = Math.min(pending, oldest[consumer.feed] ?? Number.POSITIVE_INFINITY)
    }
  }
  const lagOf = (feed: FeedName) => Math.max(0, (now.getTime() - (oldest[feed] ?? now.getTime())) / 1000)
  return Object.fromEntries(feedNames.map((feed) => [feed, lagOf(feed)])) as Record<FeedName, number>
}

/**
 * Yields the consumers of unexpired keys in batches. Each batch is split into consumers that are up to date and
 * consumers that are behind, the latter sorted by position.
 */
async function* unexpiredConsumers(db: Db, now: Date) {
  for await (const batch of consumerBatches(db)) {
    const keys = await findUnexpiredKeyIds(db, [...new Set(batch.map(({ key_id }) => key_id))], now)
    const clocks = await findClocks(db, [...new Set(batch.map(({ owner_id }) => owner_id))])
    const byHost = new Map(clocks.map((clock) => [clock._id, clock]))
    const lasting = batch.filter(({ key_id }) => keys.has(key_id))
    const { current = [], behind = [] } = Object.groupBy(lasting, (consumer) =>
      isBehind(consumer, byHost.get(consumer.owner_id)) ? 'behind' : 'current',
    )
    const position = ({ acknowledged }: Consumer) => acknowledged?.getTime() ?? 0
    yield { current, behind: behind.sort((one, other) => position(one) - position(other)) }
  }
}

/** Returns true if a consumer's position is behind the feed's clock, which advances only when the feed changes. */
function isBehind({ feed, acknowledged }: Consumer, clock: HostClock | undefined): boolean {
  const last = clock?.[feeds[feed].counter] ?? 0
  return last * 1000 > (acknowledged?.getTime() ?? 0)
}
