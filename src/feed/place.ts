import { toVersion } from '../bookings/version.ts'
import type { ConsumedFeed } from '../consumers/feeds.ts'
import { findConsumer, ownerOf } from '../consumers/store.ts'
import type { Problem } from '../errors.ts'
import type { Caller } from '../http/caller.ts'
import type { Db } from '../platform/mongo/connection.ts'

/** Where a query of a feed continues. */
export interface PlaceQuery {
  updated_after?: string
  consumer?: string
}

/**
 * The version after which a query continues: the one sent, or what its consumer has acknowledged.
 *
 * @throws DomainError `not_found` for a consumer that the key does not have
 */
export async function placeOf(
  db: Db,
  caller: Pick<Caller, 'hostId' | 'scope'>,
  feed: ConsumedFeed,
  { updated_after, consumer: name }: PlaceQuery,
): Promise<string | undefined> {
  if (name === undefined) return updated_after
  const { acknowledged } = await findConsumer(db, ownerOf(caller, feed), name)
  return acknowledged ? toVersion(acknowledged) : undefined
}

/** A query names its place once. */
export function onePlace({ updated_after, consumer }: PlaceQuery): Problem[] {
  if (updated_after === undefined || consumer === undefined) return []
  const message = '"updated_after" must not be sent together with "consumer"'
  return [{ path: 'updated_after', code: 'invalid', message }]
}
