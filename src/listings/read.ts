import { notFound } from '../errors.ts'
import type { Db } from '../platform/mongo/connection.ts'
import type { StoredListing } from './model.ts'
import { findWaitingRates } from './rates-store.ts'
import { findListingIfAny } from './store.ts'
import { withWaitingRates } from './waiting-rates.ts'

/** The listing of this host with this id, including all rates accepted so far, or null. */
export async function readListingIfAny(db: Db, hostId: number, id: number): Promise<StoredListing | null> {
  const waiting = await findWaitingRates(db, hostId, id)
  const listing = await findListingIfAny(db, hostId, id)
  return listing && withWaitingRates(listing, waiting)
}

/**
 * {@link readListingIfAny}, but there must be one.
 *
 * @throws DomainError `not_found`, also for an undefined id
 */
export async function readListing(db: Db, hostId: number, id: number | undefined): Promise<StoredListing> {
  const listing = id === undefined ? null : await readListingIfAny(db, hostId, id)
  if (!listing) throw notFound('Listing')
  return listing
}
