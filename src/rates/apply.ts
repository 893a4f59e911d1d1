import type { Deps } from '../deps.ts'
import type { Db } from '../infra/mongo.ts'
import type { JobHandler } from '../infra/outbox.ts'
import { findPricedListing, writePrices } from '../listings/store.ts'
import { moveEarlierRates } from './earlier.ts'
import { waitingRatesModel } from './model.ts'
import { findWaitingRates } from './store.ts'
import { lastPrices, ratesSequenceOf } from './waiting.ts'

type Store = Pick<Deps, 'db' | 'clock'>

/** Listings that one look finds, and writes at once. */
const piece = 50
/** Rates writes of one listing that are written into it together. */
const mostTogether = 500

/**
 * Does the jobs that a rates write leaves: writes what waited at its start into the listings, one listing at a time
 * and its prices alone, so that no transaction and no lock grows with what a host has sent. A listing that cannot
 * be written holds up no other.
 *
 * @throws Error naming a listing that could not be written, after all others were
 */
export function ratesWorker({ db, clock }: Store): JobHandler {
  return async ({ host_id, sequence }) => {
    const hostId = host_id as number
    if (sequence === undefined) await moveEarlierRates(db, hostId)
    const waiting = {
      host_id: hostId,
      ...(sequence === undefined ? {} : { sequence: { $lte: sequence as number } }),
    }
    const failures = new Map<number, unknown>()
    for (;;) {
      const found = await waitingRatesModel(db)
        .find({ ...waiting, listing_id: { $nin: [...failures.keys()] } }, { listing_id: 1 })
        .sort({ sequence: 1 })
        .limit(piece)
        .lean()
      if (found.length === 0) break
      const listingIds = new Set(found.map(({ listing_id }) => listing_id))
      await Promise.all(
        [...listingIds].map((listingId) =>
          applyToListing({ db, clock }, hostId, listingId).catch((error) => failures.set(listingId, error)),
        ),
      )
    }
    for (const [listingId, error] of failures) throw new Error(`Listing ${listingId}: ${String(error)}`)
  }
}

async function applyToListing({ db, clock }: Store, hostId: number, listingId: number): Promise<void> {
  const waiting = await findWaitingRates(db, hostId, listingId, null, mostTogether)
  const listing = await findPricedListing({ db }, hostId, listingId)
  const last = waiting.at(-1)
  if (!last) return
  const seen = listing && ratesSequenceOf(listing)
  const due = waiting.filter(({ sequence }) => seen !== null && sequence > seen)
  // Where the listing changed meanwhile nothing is written or deleted: the next look finds it again.
  if (listing && due.length > 0) {
    const isWritten = await writePrices({ db, clock }, listing, lastPrices(due), last.sequence)
    if (!isWritten) return
  }
  await deleteApplied(db, hostId, listingId, last.sequence)
}

async function deleteApplied(db: Db, hostId: number, listingId: number, sequence: number): Promise<void> {
  await waitingRatesModel(db).deleteMany({
    host_id: hostId,
    listing_id: listingId,
    sequence: { $lte: sequence },
  })
}

/** Gives up the rates of one write that still wait: an administrator's act. */
export async function dropRates(db: Db, hostId: number, sequence: number): Promise<void> {
  await waitingRatesModel(db).deleteMany({ host_id: hostId, sequence })
}
