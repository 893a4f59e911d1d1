import type { Config } from '../../../core/config.ts'
import { DomainError, invalidFields, type Problem } from '../../../core/errors.ts'
import type { AppContext } from '../../../http/context.ts'
import { maxProblems } from '../../../http/input/schema/problems.ts'
import { single } from '../../../http/write.ts'
import type { Session } from '../../../platform/mongo/connection.ts'
import { busy } from '../../../platform/mongo/errors.ts'
import { listingLock } from '../listing-write.ts'
import { type PriceChange, pushPrices } from '../prices-store.ts'
import { foreignListings, unknownRoomType } from '../problems.ts'
import {
  findInvalidRoomTypes,
  findOwnedListings,
  type OwnedListing,
  type OwnedListings,
} from '../room-types-store.ts'
import type { RateItem } from './schema.ts'
import { insertRateJob } from './store.ts'

/**
 * Writes of a host's rates (decisions §8). They do not delay bookings. The result of a write is its job's id.
 *
 * The listings are checked before the transaction, whose updates then apply only to listings that still have the currency
 * which was checked. All else that was checked never changes: a host's listings and their room types stay. Two writes of
 * one listing, in any process, update the same document, so one of them comes later as a whole.
 */
export const sentRates = single({
  queue: (ownerId) => listingLock(ownerId).name,
  prepare: prepareRates,
  write: writeRates,
})

/** Rates that are ready to be written, and the id of their job. */
interface SentRates {
  id: number
  items: RateItem[]
  /** What the items change in the listings as they were before the write's turn. */
  changes: PriceChange[]
}

/** @throws DomainError `forbidden` (another host's listings), `invalid_ids` (room types) or `validation` (currency) */
async function prepareRates(
  { db, ids, config }: Pick<AppContext, 'db' | 'ids' | 'config'>,
  ownerId: number,
  items: RateItem[],
): Promise<SentRates> {
  const [id, listings] = await Promise.all([ids('rate_job'), findOwnedListings(db, ownerId, items)])
  return { id, items, changes: priceChanges(config, items, listings) }
}

/** @throws DomainError `validation` if a listing's currency has changed meanwhile */
async function writeRates(
  { db, clock, config }: Pick<AppContext, 'db' | 'clock' | 'config'>,
  session: Session,
  ownerId: number,
  { id, items, changes }: SentRates,
): Promise<number> {
  const updated_at = clock(ownerId)
  if (!(await pushPrices(db, session, ownerId, { changes, updated_at }))) {
    const listings = await findOwnedListings(db, ownerId, items, session)
    const current = priceChanges(config, items, listings)
    // A transaction sees the same listings again, so nothing can have changed once more.
    if (!(await pushPrices(db, session, ownerId, { changes: current, updated_at }))) throw busy()
  }
  await insertRateJob(db, session, { owner_id: ownerId, id, items: items.length, applied_at: updated_at })
  return id
}

/**
 * Returns what the items change in their listings.
 *
 * @throws DomainError `forbidden`, `invalid_ids` or `validation` if an item does not fit its listing
 */
function priceChanges(config: Config, items: RateItem[], listings: OwnedListings): PriceChange[] {
  requireOwnRoomTypes(config, items, listings)
  return items.map(({ listing_id, room_type_id, currency: _, ...values }) => {
    const currency = listings.owned.get(listing_id)?.content.prices?.currency ?? null
    return { listing_id, room_type_id, currency, values }
  })
}

function requireOwnRoomTypes(config: Config, items: RateItem[], { owned, foreign }: OwnedListings): void {
  if (foreign.length > 0) throw foreignListings([])
  const invalid = findInvalidRoomTypes(owned, items)
  if (invalid.length > 0) {
    const problems = invalid.slice(0, maxProblems).map(({ index }) => unknownRoomType(index))
    throw new DomainError('invalid_ids', 'Invalid room types', problems)
  }
  const problems: Problem[] = []
  for (const [index, item] of items.entries()) {
    const problem = currencyProblem(item, index, owned, config)
    if (problem) problems.push(problem)
  }
  if (problems.length > 0) throw invalidFields(problems.slice(0, maxProblems))
}

/**
 * Returns a problem if a rate's currency is not the one that the listing's bookings are charged in: the listing's, or
 * else the default currency. The rate would be charged as if it were in that currency. Otherwise returns null.
 */
function currencyProblem(
  { listing_id, currency }: RateItem,
  index: number,
  owned: Map<number, OwnedListing>,
  { defaultCurrency }: Config,
): Problem | null {
  const own = owned.get(listing_id)?.content.prices?.currency
  const charged = (own ?? defaultCurrency).toUpperCase()
  if (!currency || currency.toUpperCase() === charged) return null
  const path = `data.${index}.currency`
  const allowed = own
    ? `the currency of the listing, ${charged}`
    : `the default currency, ${charged}, because the listing has none`
  return { path, code: 'invalid', message: `"${path}" must be ${allowed}` }
}
