import type { Config } from '../config.ts'
import type { Deps } from '../deps.ts'
import { DomainError, invalidFields, type Problem } from '../errors.ts'
import { hostQueue, nextSequence } from '../infra/host-clock.ts'
import { takeLock } from '../infra/locks.ts'
import { inTransaction, type Session } from '../infra/mongo.ts'
import { type JobHandler, leaveJob } from '../infra/outbox.ts'
import type { StoredListing } from '../listings/model.ts'
import { findOwnedListings, foreignListings, hasRoomType } from '../listings/ownership.ts'
import { findListing, listingLock, replaceContent } from '../listings/store.ts'
import { acceptedRatesModel } from './model.ts'
import type { RateItem } from './schema.ts'

type Store = Pick<Deps, 'db' | 'clock'>

/** Topic of the job that applies a host's accepted rates. */
export const applyRatesTopic = 'ApplyRates'

/**
 * Accepts rates of a host: from here on they survive a crash, and are applied in the order accepted.
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
  if (strangers.length > 0) throw new DomainError('invalid_ids', 'Invalid room types', strangers)
  const problems = items.flatMap((item, index) => currencyProblem(item, index, owned, config))
  if (problems.length > 0) throw invalidFields(problems)
  await inTransaction(db, hostQueue(hostId), async (session) => {
    const sequence = await nextSequence(db, session, hostId)
    const accepted_at = clock()
    await acceptedRatesModel(db).create([{ host_id: hostId, sequence, items, accepted_at }], { session })
    const job = { topic: applyRatesTopic, host_id: hostId, payload: { host_id: hostId } }
    await leaveJob(db, session, accepted_at, job)
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
 * Applies all accepted rates of a host, oldest first. Each is applied and forgotten in one transaction under
 * the lock of the host's listings, so that a killed worker leaves it to the next one, whole, and several
 * workers apply no rate twice and none out of order.
 */
export async function applyAcceptedRates({ db, clock }: Store, hostId: number): Promise<void> {
  while (await acceptedRatesModel(db).exists({ host_id: hostId })) {
    await inTransaction(db, listingLock(hostId), async (session) => {
      await takeLock(db, session, listingLock(hostId))
      await applyOldestRates({ db, clock }, hostId, session)
    })
  }
}

/** Does the jobs that {@link acceptRates} leaves. */
export function ratesWorker(store: Store): JobHandler {
  return ({ host_id }) => applyAcceptedRates(store, host_id as number)
}

/** True when there was one to apply. The caller's transaction holds the lock of the host's listings. */
export async function applyOldestRates(
  { db, clock }: Store,
  hostId: number,
  session: Session,
): Promise<boolean> {
  const oldest = await acceptedRatesModel(db)
    .findOne({ host_id: hostId })
    .sort({ sequence: 1 })
    .session(session)
    .lean()
  if (!oldest) return false
  for (const [listingId, items] of Map.groupBy(oldest.items, ({ listing_id }) => listing_id)) {
    const listing = await findListing({ db }, hostId, listingId, session)
    await replaceContent({ db, clock }, listing, withRates(listing.content, items), session)
  }
  await acceptedRatesModel(db).deleteOne({ _id: oldest._id }).session(session)
  return true
}

/** The content with the prices of the items: a month sent as null is cleared, a month not sent is kept. */
export function withRates(content: StoredListing['content'], items: RateItem[]): StoredListing['content'] {
  const room_types = content.room_types.map((roomType) => {
    const sent = items.filter(({ room_type_id }) => room_type_id === roomType.id).map(pricesOf)
    return sent.length === 0 ? roomType : { ...roomType, prices: Object.assign({}, roomType.prices, ...sent) }
  })
  return { ...content, room_types }
}

function pricesOf({ listing_id: _, room_type_id: __, currency: ___, ...prices }: RateItem) {
  return prices
}
