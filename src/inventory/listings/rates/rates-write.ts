import type { Config } from '../../../core/config.ts'
import { DomainError, invalidFields, type Problem } from '../../../core/errors.ts'
import type { AppContext } from '../../../http/context.ts'
import { maxProblems } from '../../../http/input/schema/problems.ts'
import { single } from '../../../http/write.ts'
import type { Session } from '../../../platform/mongo/connection.ts'
import { ensureLock, takeLock } from '../../../platform/mongo/turns/locks.ts'
import { listingLock } from '../listing-write.ts'
import { type PriceChange, pushPrices } from '../prices-store.ts'
import { foreignListings, unknownRoomType } from '../problems.ts'
import { findInvalidRoomTypes, findOwnedListings, type OwnedListing } from '../room-types-store.ts'
import type { RateItem } from './schema.ts'
import { insertRateJob } from './store.ts'

/**
 * Writes of a host's rates (decisions §8). They run one at a time per host and do not delay bookings. The result of a
 * write is its job's id.
 */
export const sentRates = single({
  queue: (ownerId) => listingLock(ownerId).name,
  prepare: prepareRates,
  ensure: ({ db }: Pick<AppContext, 'db'>, ownerId) => ensureLock(db, listingLock(ownerId)),
  write: writeRates,
})

/** Rates that are ready to be written, and the id of their job. */
interface SentRates {
  id: number
  items: RateItem[]
}

async function prepareRates(
  { ids }: Pick<AppContext, 'ids'>,
  _ownerId: number,
  items: RateItem[],
): Promise<SentRates> {
  return { id: await ids('rate_job'), items }
}

/** @throws DomainError `forbidden` (another host's listings), `invalid_ids` (room types) or `validation` (currency) */
async function writeRates(
  { db, clock, config }: Pick<AppContext, 'db' | 'clock' | 'config'>,
  session: Session,
  ownerId: number,
  { id, items }: SentRates,
): Promise<number> {
  await takeLock(db, session, listingLock(ownerId))
  await requireOwnRoomTypes({ db, config }, session, ownerId, items)
  const now = clock(ownerId)
  await pushPrices(db, session, ownerId, { changes: toPriceChanges(items), updated_at: now })
  await insertRateJob(db, session, { owner_id: ownerId, id, items: items.length, applied_at: now })
  return id
}

/** Merges the items by room type. If several items set the same field, the last item wins. */
function toPriceChanges(items: RateItem[]): PriceChange[] {
  const changes = new Map<number, PriceChange>()
  for (const { listing_id, room_type_id, currency: _, ...values } of items) {
    const earlier = changes.get(room_type_id)?.values
    changes.set(room_type_id, { listing_id, room_type_id, values: { ...earlier, ...values } })
  }
  return [...changes.values()]
}

async function requireOwnRoomTypes(
  { db, config }: Pick<AppContext, 'db' | 'config'>,
  session: Session,
  ownerId: number,
  items: RateItem[],
): Promise<void> {
  const { owned, foreign } = await findOwnedListings(db, ownerId, items, session)
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
