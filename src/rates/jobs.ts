import type { AppContext } from '../context.ts'
import { failRateJob } from '../listings/rate-jobs-store.ts'
import {
  deleteAppliedRates,
  deleteWaitingRates,
  findListingsWithRates,
  findPricedListings,
  findWaitingRates,
  type PriceChange,
  writePrices,
} from '../listings/rates-store.ts'
import { lastPrices, ratesSequenceOf } from '../listings/waiting-rates.ts'
import type { JobHandler, Topics } from '../platform/outbox/outbox.ts'
import { decideRates } from './decide.ts'
import { upgradeWaitingRates } from './upgrade.ts'

type Context = Pick<AppContext, 'db' | 'clock'>

/** Topic of the job that writes a host's waiting rates into its listings. */
export const applyRatesTopic = 'ApplyRates'

/** What the outbox runs for rates. */
export function rateJobs(context: Context): Topics {
  return {
    [applyRatesTopic]: {
      run: applyRates(context),
      drop: dropRates(context),
    },
  }
}

/** The rates of a job that an administrator drops do not apply, whether or not they did before. */
function dropRates({ db, clock }: Context): JobHandler {
  return async (payload) => {
    const { host_id, sequence } = payload as { host_id: number; sequence: number }
    await deleteWaitingRates(db, host_id, sequence)
    const message = 'An administrator dropped these rates'
    await failRateJob(db, null, { host_id, sequence }, [{ path: 'data', code: 'invalid', message }], clock())
  }
}

/** Listings written at once, and the rates writes of one listing that are written into it together. */
const listingsPerBatch = 50
const writesPerListing = 500

/**
 * Writes the rates that were waiting when the job was added into their listings, in batches of fixed size and only
 * their prices, so that no transaction and no lock grows with what a host has sent. A listing that cannot be written
 * holds up no other.
 *
 * @throws Error naming a listing that could not be written, after all others were
 */
function applyRates({ db, clock }: Context): JobHandler {
  return async ({ host_id, sequence }) => {
    const hostId = host_id as number
    if (sequence === undefined) await upgradeWaitingRates(db, hostId)
    else await decideRates({ db, clock }, hostId, sequence as number)
    const failures = new Map<number, unknown>()
    for (;;) {
      const listingIds = await findListingsWithRates(db, hostId, {
        upTo: sequence as number | undefined,
        except: [...failures.keys()],
        limit: listingsPerBatch,
      })
      if (listingIds.length === 0) break
      const upTo = sequence as number | undefined
      for (const [id, error] of await applyToListings({ db, clock }, hostId, listingIds, upTo))
        failures.set(id, error)
    }
    for (const [listingId, error] of failures) throw new Error(`Listing ${listingId}: ${String(error)}`)
  }
}

/** Returns the errors of the listings that could not be written. */
async function applyToListings(
  { db, clock }: Context,
  hostId: number,
  listingIds: number[],
  upTo = Number.POSITIVE_INFINITY,
) {
  const waiting = await findWaitingRates(db, hostId, listingIds, null, listingsPerBatch * writesPerListing)
  const byListing = Map.groupBy(waiting, ({ listing_id }) => listing_id)
  const changes = (await findPricedListings(db, hostId, listingIds)).flatMap((listing): PriceChange[] => {
    const due = (byListing.get(listing.id) ?? []).filter(
      // What comes later is not decided yet.
      ({ sequence }) => sequence > ratesSequenceOf(listing) && sequence <= upTo,
    )
    const last = due.at(-1)
    return last ? [{ listing, prices: lastPrices(due), sequence: last.sequence }] : []
  })
  const failures = await writePrices({ db, clock }, changes)
  // A listing that changed in between keeps its waiting rates, and the next batch finds them again.
  await deleteAppliedRates(db, hostId, listingIds)
  return failures
}
