import { notFound } from '../errors.ts'
import type { Db } from '../platform/mongo/connection.ts'
import type { StoredListing } from './model.ts'
import { findWaitingRates } from './rates-store.ts'
import { type BookableListing, findBookableListing, findListingIfAny } from './store.ts'
import { type Priced, withWaitingRates } from './waiting-rates.ts'

/**
 * The listing of this host with this id, including all rates accepted so far.
 *
 * @throws DomainError `not_found`, also for an undefined id
 */
export async function readListing(db: Db, hostId: number, id: number | undefined): Promise<StoredListing> {
  const listing = id === undefined ? null : await readWithRates(db, hostId, id, findListingIfAny)
  if (!listing) throw notFound('Listing')
  return listing
}

/** The part of a listing that a booking needs, including all rates accepted so far; null for an unknown id. */
export function readBookableListing(db: Db, hostId: number, id: number): Promise<BookableListing | null> {
  return readWithRates(db, hostId, id, findBookableListing)
}

async function readWithRates<L extends Priced>(
  db: Db,
  hostId: number,
  id: number,
  find: (db: Db, hostId: number, id: number) => Promise<L | null>,
): Promise<L | null> {
  const waiting = await findWaitingRates(db, hostId, id)
  const listing = await find(db, hostId, id)
  return listing && withWaitingRates(listing, waiting)
}
