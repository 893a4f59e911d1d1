import type { Caller } from '../../http/request.ts'
import { findListing } from '../../inventory/listings/store.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { ChangeFilter } from '../../stays/bookings/store.ts'
import type { FeedQuery } from '../sources/source.ts'
import { type PositionQuery, walkStart } from './position.ts'

/** The booking feed's query parameters for the position and the filters. */
export interface BookingFeedQuery extends PositionQuery {
  checkout_after?: string
  listing_id?: string
}

/**
 * Converts a request's query to a {@link FeedQuery} about a host's bookings.
 *
 * @throws DomainError `not_found` if the host has no such listing, or the key has no such consumer
 */
export async function toFeedQuery(
  db: Db,
  caller: Pick<Caller, 'ownerId' | 'keyId'>,
  query: BookingFeedQuery,
): Promise<FeedQuery<ChangeFilter>> {
  const { ownerId } = caller
  const { checkout_after, listing_id, cursor } = query
  const updated_after = await walkStart(db, caller, 'bookings', query)
  if (listing_id !== undefined) await findListing(db, ownerId, Number(listing_id))
  const filter = {
    owner_id: ownerId,
    ...(listing_id === undefined ? {} : { listing_id: Number(listing_id) }),
    ...(checkout_after === undefined ? {} : { checkout_at: { $gte: checkout_after } }),
  }
  return {
    filter,
    updated_after,
    cursor,
    identity: [updated_after, checkout_after, listing_id],
    sent: { listing_id, checkout_after },
  }
}
