import type { Config } from '../config.ts'
import type { Deps } from '../deps.ts'
import { DomainError, invalidFields, type Problem } from '../errors.ts'
import { takeLock } from '../infra/locks.ts'
import { type Db, inTransaction, type Session } from '../infra/mongo.ts'
import { leaveJob } from '../infra/outbox.ts'
import type { StoredListing } from '../listings/model.ts'
import { findOwnedListings, foreignListings, hasRoomType } from '../listings/ownership.ts'
import { listingLock } from '../listings/store.ts'
import { mostProblems } from '../schema/problems.ts'
import { type WaitingRates, waitingRatesModel } from './model.ts'
import type { RateItem } from './schema.ts'

type Store = Pick<Deps, 'db' | 'clock'>

/** Topic of the job that writes a host's waiting rates into its listings. */
export const applyRatesTopic = 'ApplyRates'

/**
 * Accepts rates of a host: from here on they survive a crash, and every price is read with them, in the order
 * accepted.
 *
 * @throws DomainError `forbidden` (listings of others), `invalid_ids` (room types), `validation` (currency)
 */
export async function acceptRates(
  { db, clock, config }: Store & Pick<Deps, 'config'>,
  hostId: number,
  items: RateItem[],
): Promise<void> {
  const { owned, foreign } = await findOwnedListings(db, hostId, items)
  if (foreign.length > 0) throw foreignListings([])
  const strangers = items.flatMap((item, index) => (hasRoomType(owned, item) ? [] : [strangerAt(index)]))
  if (strangers.length > 0)
    throw new DomainError('invalid_ids', 'Invalid room types', strangers.slice(0, mostProblems))
  const problems = items.flatMap((item, index) => currencyProblem(item, index, owned, config))
  if (problems.length > 0) throw invalidFields(problems.slice(0, mostProblems))
  // In line with the writes of listings, and out of the way of bookings.
  await inTransaction(db, listingLock(hostId), async (session) => {
    const sequence = await takeLock(db, session, listingLock(hostId))
    const accepted_at = clock()
    const waiting = [...Map.groupBy(items, ({ listing_id }) => listing_id)].map(
      ([listing_id, ofListing]): WaitingRates => ({
        ...{ host_id: hostId, listing_id, sequence, accepted_at },
        prices: ofListing.map(({ listing_id: _, currency: __, ...prices }) => prices),
      }),
    )
    await waitingRatesModel(db).collection.insertMany(waiting as never[], { session })
    const payload = { host_id: hostId, sequence }
    await leaveJob(db, session, accepted_at, { topic: applyRatesTopic, host_id: hostId, payload })
  })
}

function strangerAt(index: number): Problem {
  const path = `data.${index}.room_type_id`
  return { path, code: 'invalid', message: `"${path}" is not a room type of the listing` }
}

/** A rate in another currency than the listing's would be charged as if it were the listing's. */
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

/**
 * The rates that wait for a listing, or for several, in the order accepted. Outside of a transaction read them before the listing:
 * what is written into it meanwhile then counts once, and never not at all.
 *
 * @param limit 0 for all of them
 */
export function findWaitingRates(
  db: Db,
  hostId: number,
  listingId: number | number[],
  session: Session | null = null,
  limit = 0,
): Promise<WaitingRates[]> {
  return waitingRatesModel(db)
    .find({ host_id: hostId, listing_id: Array.isArray(listingId) ? { $in: listingId } : listingId })
    .sort({ sequence: 1 })
    .limit(limit)
    .session(session)
    .lean<WaitingRates[]>()
    .exec()
}
