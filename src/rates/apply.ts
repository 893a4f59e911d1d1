import type { Deps } from '../deps.ts'
import type { Db } from '../infra/mongo.ts'
import type { JobHandler } from '../infra/outbox.ts'
import { findPricedListings, type PriceChange, writePrices } from '../listings/store.ts'
import { moveEarlierRates } from './earlier.ts'
import { waitingRatesModel } from './model.ts'
import { findWaitingRates } from './store.ts'
import { lastPrices, ratesSequenceOf } from './waiting.ts'

type Store = Pick<Deps, 'db' | 'clock'>

/** Listings that are written at once, and the rates writes of one that are written into it together. */
const piece = 50
const mostTogether = 500

/**
 * Does the jobs that a rates write leaves: writes what waited at its start into the listings, in pieces of fixed size
 * and their prices alone, so that no transaction and no lock grows with what a host has sent. A listing that cannot
 * be written holds up no other.
 *
 * @throws Error naming a listing that could not be written, after all others were
 */
export function ratesWorker({ db, clock }: Store): JobHandler {
  return async ({ host_id, sequence }) => {
    const hostId = host_id as number
    if (sequence === undefined) await moveEarlierRates(db, hostId)
    const upTo = sequence === undefined ? {} : { sequence: { $lte: sequence as number } }
    const failures = new Map<number, unknown>()
    for (;;) {
      const filter = { host_id: hostId, ...upTo, listing_id: { $nin: [...failures.keys()] } }
      const found = await waitingRatesModel(db)
        .find(filter, { listing_id: 1 })
        .sort({ sequence: 1 })
        .limit(piece)
        .lean()
      if (found.length === 0) break
      const listingIds = [...new Set(found.map(({ listing_id }) => listing_id))]
      for (const [id, error] of await applyToListings({ db, clock }, hostId, listingIds))
        failures.set(id, error)
    }
    for (const [listingId, error] of failures) throw new Error(`Listing ${listingId}: ${String(error)}`)
  }
}

/** Gives the errors of the listings that could not be written. */
async function applyToListings({ db, clock }: Store, hostId: number, listingIds: number[]) {
  const waiting = await findWaitingRates(db, hostId, listingIds, null, piece * mostTogether)
  const byListing = Map.groupBy(waiting, ({ listing_id }) => listing_id)
  const changes = (await findPricedListings({ db }, hostId, listingIds)).flatMap((listing): PriceChange[] => {
    const due = (byListing.get(listing.id) ?? []).filter(
      ({ sequence }) => sequence > ratesSequenceOf(listing),
    )
    const last = due.at(-1)
    return last ? [{ listing, prices: lastPrices(due), sequence: last.sequence }] : []
  })
  const failures = await writePrices({ db, clock }, changes)
  await deleteApplied(db, hostId, listingIds)
  return failures
}

/** Deletes what is part of its listing by now; where a listing changed meanwhile, the next look finds it again. */
async function deleteApplied(db: Db, hostId: number, listingIds: number[]): Promise<void> {
  const listings = await findPricedListings({ db }, hostId, listingIds)
  const applied = listings.map((listing) => ({
    ...{ host_id: hostId, listing_id: listing.id },
    sequence: { $lte: ratesSequenceOf(listing) },
  }))
  const known = new Set(listings.map(({ id }) => id))
  const gone = listingIds
    .filter((id) => !known.has(id))
    .map((listing_id) => ({ host_id: hostId, listing_id }))
  await waitingRatesModel(db).deleteMany({ $or: [...applied, ...gone] })
}

/** Gives up the rates of one write that still wait: an administrator's act. */
export async function dropRates(db: Db, hostId: number, sequence: number): Promise<void> {
  await waitingRatesModel(db).deleteMany({ host_id: hostId, sequence })
}
