import type { AppContext } from '../context.ts'
import type { Db, Session } from '../platform/mongo/connection.ts'
import { failedWrites } from '../platform/mongo/errors.ts'
import { listingModel, type StoredListing } from './model.ts'
import { ratesSequenceOf, type WaitingRates } from './waiting-rates.ts'
import { waitingRatesModel } from './waiting-rates-model.ts'

/** Stores accepted rates, in the transaction that gave them their place. */
export async function insertWaitingRates(db: Db, session: Session, waiting: WaitingRates[]): Promise<void> {
  await waitingRatesModel(db).collection.insertMany(waiting as never[], { session })
}

/**
 * The rates that are waiting for a listing, or for several, in the order accepted. Outside of a transaction, read
 * them before the listing: what is written into it meanwhile then counts once, and is never missed.
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
  const which = { host_id: hostId, listing_id: Array.isArray(listingId) ? { $in: listingId } : listingId }
  return waitingRatesModel(db)
    .collection.find<WaitingRates>(which, session ? { session } : {})
    .sort({ sequence: 1 })
    .limit(limit)
    .toArray()
}

/** The listings that the host's oldest waiting rates are for. */
export async function findListingsWithRates(
  db: Db,
  hostId: number,
  { upTo, except, limit }: { upTo: number | undefined; except: number[]; limit: number },
): Promise<number[]> {
  const sequence = upTo === undefined ? {} : { sequence: { $lte: upTo } }
  const found = await waitingRatesModel(db)
    .find({ host_id: hostId, ...sequence, listing_id: { $nin: except } }, { listing_id: 1 })
    .sort({ sequence: 1 })
    .limit(limit)
    .lean()
  return [...new Set(found.map(({ listing_id }) => listing_id))]
}

/** Deletes what has become part of its listing, or whose listing is gone. */
export async function deleteAppliedRates(db: Db, hostId: number, listingIds: number[]): Promise<void> {
  const listings = await findPricedListings(db, hostId, listingIds)
  const applied = listings.map((listing) => ({
    listing_id: listing.id,
    sequence: { $lte: ratesSequenceOf(listing) },
  }))
  const known = new Set(listings.map(({ id }) => id))
  const gone = listingIds.filter((id) => !known.has(id)).map((listing_id) => ({ listing_id }))
  await waitingRatesModel(db).deleteMany({ host_id: hostId, $or: [...applied, ...gone] })
}

/** Deletes the rates of one write that are still waiting. */
export async function deleteWaitingRates(
  db: Db,
  hostId: number,
  sequence: number,
  session: Session | null = null,
): Promise<void> {
  await waitingRatesModel(db).deleteMany({ host_id: hostId, sequence }, session ? { session } : {})
}

/** What one rates write names, in its order, as far as it is still waiting. */
export async function findRatesOfWrite(
  db: Db,
  session: Session,
  hostId: number,
  sequence: number,
): Promise<{ listing_id: number; room_type_id: number; index: number }[]> {
  const waiting = await waitingRatesModel(db).find({ host_id: hostId, sequence }).session(session).lean()
  return waiting
    .flatMap(({ listing_id, prices }) =>
      prices.map(({ room_type_id, index = 0 }) => ({ listing_id, room_type_id, index })),
    )
    .sort((one, other) => one.index - other.index)
}

/** Stores waiting rates unless there are some at the same place already. */
export async function ensureWaitingRates(
  db: Db,
  { host_id, listing_id, sequence, ...values }: WaitingRates,
): Promise<void> {
  const place = { host_id, listing_id, sequence }
  const change = { $setOnInsert: values } as never
  await waitingRatesModel(db).collection.updateOne(place, change, { upsert: true })
}

/** The part of a listing that {@link writePrices} needs. */
export type PricedListing = Pick<StoredListing, 'id' | 'host_id' | 'rates_sequence'> & {
  content: { room_types: { id: number }[] }
}

/** The listings of this host with these ids, reduced to what {@link writePrices} needs. */
export function findPricedListings(db: Db, hostId: number, ids: number[]): Promise<PricedListing[]> {
  const columns = { id: 1, host_id: 1, rates_sequence: 1, 'content.room_types.id': 1 }
  return listingModel(db)
    .find({ host_id: hostId, id: { $in: ids } }, columns)
    .lean<PricedListing[]>()
    .exec()
}

/** Prices to be written into one listing. */
export interface PriceChange {
  listing: PricedListing
  /** By room type id. */
  prices: Map<number, object>
  /** The place of the last rates among them. */
  sequence: number
}

/**
 * Writes prices into listings and nothing else; a listing into which rates have been written since it was read is
 * left alone.
 *
 * @returns the errors of those that could not be written, by listing id
 */
export async function writePrices(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  changes: PriceChange[],
): Promise<Map<number, unknown>> {
  const updated_at = clock()
  const writes = changes.map(({ listing, prices, sequence }) => ({
    updateOne: {
      filter: {
        ...{ host_id: listing.host_id, id: listing.id },
        rates_sequence: listing.rates_sequence ?? { $exists: false },
      },
      update: { $set: { ...pricePaths(listing, prices), rates_sequence: sequence, updated_at } },
    },
  }))
  try {
    if (writes.length > 0) await listingModel(db).collection.bulkWrite(writes, { ordered: false })
    return new Map()
  } catch (error) {
    return failedWrites(error).reduce(
      (failed, { index, message }) => failed.set(changes[index]?.listing.id as number, message),
      new Map<number, unknown>(),
    )
  }
}

function pricePaths({ content }: PricedListing, prices: Map<number, object>): Record<string, unknown> {
  return Object.fromEntries(
    content.room_types.flatMap((roomType, index) =>
      Object.entries(prices.get(roomType.id) ?? {}).map(([month, price]) => [
        `content.room_types.${index}.prices.${month}`,
        price,
      ]),
    ),
  )
}
