import type { Db } from '../../platform/mongo/connection.ts'
import { feeds, oldestAfter } from '../feeds.ts'
import type { Consumer } from './model.ts'

/** A consumer's lag. */
export interface Progress {
  /** Number of changes after the acknowledged version, capped at 10,000. */
  pending: number
  /** Version of the oldest pending change; null if there is none. */
  oldestPending: Date | null
}

/** Maximum number of pending changes to count. */
const countedPending = 10_000

type ConsumerPosition = Pick<Consumer, 'owner_id' | 'feed' | 'acknowledged'>

/** Returns how far a consumer is behind its host's feed. */
export async function progressOf(db: Db, position: ConsumerPosition): Promise<Progress> {
  const { owner_id, feed, acknowledged } = position
  const oldestPending = await oldestPendingOf(db, position)
  if (oldestPending === null) return { pending: 0, oldestPending }
  const range = { after: acknowledged, limit: countedPending }
  const pending = await feeds[feed].count(db, { owner_id }, range)
  return { pending, oldestPending }
}

/**
 * Returns each consumer's lag, in the given order. All consumers must belong to the same key and feed. The changes
 * between two neighbouring positions are counted only once, so counting for all consumers costs no more than counting
 * for the slowest consumer.
 */
export async function progressOfAll(db: Db, consumers: ConsumerPosition[]): Promise<Progress[]> {
  const positionOf = ({ acknowledged }: ConsumerPosition) => acknowledged?.getTime() ?? 0
  const byPosition = Map.groupBy(consumers, positionOf)
  const found = new Map<number, Progress>()
  let pending = 0
  let until: Date | undefined
  for (const position of [...byPosition.keys()].toSorted((one, other) => other - one)) {
    const [consumer] = byPosition.get(position) as [ConsumerPosition]
    const { owner_id, feed, acknowledged: after } = consumer
    const oldestPending = await oldestPendingOf(db, consumer)
    const range = { after, until, limit: countedPending - pending }
    if (oldestPending && range.limit > 0) pending += await feeds[feed].count(db, { owner_id }, range)
    found.set(position, { pending, oldestPending })
    until = after ?? undefined
  }
  return consumers.map((consumer) => found.get(positionOf(consumer)) as Progress)
}

/** Returns the version of the oldest change that a consumer has not acknowledged; null if there is none. */
export function oldestPendingOf(
  db: Db,
  { owner_id, feed, acknowledged }: ConsumerPosition,
): Promise<Date | null> {
  return oldestAfter(db, feeds[feed], owner_id, acknowledged)
}
