import type { Config } from '../config.ts'
import type { AppContext } from '../context.ts'
import { DomainError, invalidFields, type Problem } from '../errors.ts'
import type { StoredListing } from '../listings/model.ts'
import { foreignListings } from '../listings/ownership.ts'
import { insertRateJob } from '../listings/rate-jobs-store.ts'
import { insertWaitingRates } from '../listings/rates-store.ts'
import { findOwnedListings, hasRoomType } from '../listings/room-types-store.ts'
import { listingLock } from '../listings/store.ts'
import type { WaitingRates } from '../listings/waiting-rates.ts'
import type { Session } from '../platform/mongo/connection.ts'
import { ensureLock, takeLock } from '../platform/mongo/locks.ts'
import type { UnitOfWork } from '../platform/mongo/transactions.ts'
import { enqueueJob } from '../platform/outbox/outbox.ts'
import { maximumProblems } from '../schema/problems.ts'
import { applyRatesTopic } from './jobs.ts'
import type { RateItem } from './schema.ts'

type Store = Pick<AppContext, 'db' | 'clock' | 'ids'>

/** A rates write that was accepted. */
export interface AcceptedRates {
  /** Its place among the writes of the host's listings. */
  sequence: number
  jobId: number
}

/**
 * Prepares the acceptance of rates of a host: once it has run, they survive a crash and are part of the price of every booking, in the order
 * accepted (decisions §8). Readers see them when they are applied, see `decideRates`.
 *
 * @throws DomainError `forbidden` (listings of others), `invalid_ids` (room types), `validation` (currency)
 */
export async function prepareRates(
  { db, clock, config, ids }: Store & Pick<AppContext, 'config'>,
  hostId: number,
  items: RateItem[],
): Promise<UnitOfWork<AcceptedRates>> {
  const { owned, foreign } = await findOwnedListings(db, hostId, items)
  if (foreign.length > 0) throw foreignListings([])
  const unknown = items.flatMap((item, index) => (hasRoomType(owned, item) ? [] : [unknownRoomType(index)]))
  if (unknown.length > 0)
    throw new DomainError('invalid_ids', 'Invalid room types', unknown.slice(0, maximumProblems))
  const problems = items.flatMap((item, index) => currencyProblem(item, index, owned, config))
  if (problems.length > 0) throw invalidFields(problems.slice(0, maximumProblems))
  const lock = listingLock(hostId)
  const [jobId] = await Promise.all([ids('rate_job'), ensureLock(db, lock)])
  // Takes turns with writes of listings, and does not hold up bookings.
  const run = async (session: Session) => {
    const sequence = await takeLock(db, session, lock)
    const accepted_at = clock()
    const indexed = items.map((item, index) => ({ ...item, index }))
    const waiting = [...Map.groupBy(indexed, ({ listing_id }) => listing_id)].map(
      ([listing_id, ofListing]): WaitingRates => ({
        ...{ host_id: hostId, listing_id, sequence, accepted_at },
        prices: ofListing.map(({ listing_id: _, currency: __, ...prices }) => prices),
      }),
    )
    await insertWaitingRates(db, session, waiting)
    const job = { host_id: hostId, id: jobId, sequence, items: items.length, accepted_at }
    await insertRateJob(db, session, job)
    const payload = { host_id: hostId, sequence }
    await enqueueJob(db, session, accepted_at, { topic: applyRatesTopic, host_id: hostId, payload })
    return { sequence, jobId }
  }
  return { queue: lock.name, run }
}

function unknownRoomType(index: number): Problem {
  const path = `data.${index}.room_type_id`
  return { path, code: 'invalid', message: `"${path}" is not a room type of the listing` }
}

/** A rate in another currency would be charged as if it were in the listing's. */
function currencyProblem(
  { listing_id, currency }: RateItem,
  index: number,
  owned: Map<number, StoredListing>,
  config: Config,
): Problem[] {
  const charged = (owned.get(listing_id)?.content.prices?.currency ?? config.defaultCurrency).toUpperCase()
  if (!currency || currency.toUpperCase() === charged) return []
  const path = `data.${index}.currency`
  return [{ path, code: 'invalid', message: `"${path}" must be the currency of the listing, ${charged}` }]
}
