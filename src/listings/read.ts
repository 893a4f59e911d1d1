import type { Deps } from '../deps.ts'
import { notFound } from '../errors.ts'
import { findWaitingRates } from '../rates/store.ts'
import { withWaitingRates } from '../rates/waiting.ts'
import type { StoredListing } from './model.ts'
import { findListingIfAny } from './store.ts'

/** The listing of this host with this id, with all rates accepted so far, or null. */
export async function readListingIfAny(
  { db }: Pick<Deps, 'db'>,
  hostId: number,
  id: number,
): Promise<StoredListing | null> {
  const waiting = await findWaitingRates(db, hostId, id)
  const listing = await findListingIfAny({ db }, hostId, id)
  return listing && withWaitingRates(listing, waiting)
}

/**
 * {@link readListingIfAny}, where there must be one.
 *
 * @throws DomainError `not_found`, also for an id that is not one
 */
export async function readListing(
  store: Pick<Deps, 'db'>,
  hostId: number,
  id: number | undefined,
): Promise<StoredListing> {
  const listing = id === undefined ? null : await readListingIfAny(store, hostId, id)
  if (!listing) throw notFound('Listing')
  return listing
}
