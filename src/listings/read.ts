import { notFound } from '../errors.ts'
import type { Db } from '../platform/mongo/connection.ts'
import type { StoredListing } from './model.ts'
import { firstUnapplied } from './rate-jobs-store.ts'
import { findWaitingRates } from './rates-store.ts'
import { type BookableListing, findBookableListing, findListingIfAny } from './store.ts'
import { withWaitingRates } from './waiting-rates.ts'

/**
 * The listing of this host with this id, including all rates that are applied.
 *
 * @throws DomainError `not_found`, also for an undefined id
 */
export async function readListing(db: Db, hostId: number, id: number | undefined): Promise<StoredListing> {
  if (id === undefined) throw notFound('Listing')
  const waiting = await findWaitingRates(db, hostId, id)
  const unapplied = waiting.length > 0 ? await firstUnapplied(db, hostId) : 0
  const listing = await findListingIfAny(db, hostId, id)
  if (!listing) throw notFound('Listing')
  return withWaitingRates(
    listing,
    waiting.filter(({ sequence }) => sequence < unapplied),
  )
}

/** The part of a listing that a booking needs, including all rates accepted so far; null for an unknown id. */
export async function readBookableListing(
  db: Db,
  hostId: number,
  id: number,
): Promise<BookableListing | null> {
  const waiting = await findWaitingRates(db, hostId, id)
  const listing = await findBookableListing(db, hostId, id)
  return listing && withWaitingRates(listing, waiting)
}
