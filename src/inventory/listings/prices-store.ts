import type { Db, Session } from '../../platform/mongo/connection.ts'
import { busy } from '../../platform/mongo/errors.ts'
import { listingModel, type StoredListing, type StoredRoomType } from './model.ts'
import { pricesModel, type StoredPrices } from './prices-model.ts'

/** Prices to be written. Absent fields stay as they are. */
export type PriceChange = Pick<StoredPrices, 'listing_id' | 'room_type_id' | 'values'>

/** The part of a listing that is combined with its prices. */
export type Priced = Pick<StoredListing, 'price_sequences'> & {
  content: { room_types: Pick<StoredRoomType, 'id' | 'prices'>[] }
}

/** Returns the prices of all room types of a listing. */
export function findPrices(
  db: Db,
  hostId: number,
  listingId: number,
  session: Session | null = null,
): Promise<StoredPrices[]> {
  const filter = { host_id: hostId, listing_id: listingId }
  return pricesModel(db)
    .collection.find<StoredPrices>(filter, session ? { session } : {})
    .toArray()
}

/** Maximum number of attempts to read a listing with its prices. Any of the host's writes can invalidate an attempt. */
const maxReads = 50

/**
 * Returns a listing together with its prices as of one moment, without a transaction. No price is shown with a currency
 * or other prices from another moment, because the listing names the last write of each room type's prices.
 *
 * @param find finds the listing, or null
 * @throws DomainError `conflict` with a retry time if writes interfere with every attempt
 */
export async function findWithPrices<L extends Priced>(
  db: Db,
  hostId: number,
  listingId: number,
  find: () => Promise<L | null>,
): Promise<L | null> {
  for (let read = 0; read < maxReads; read += 1) {
    const [listing, prices] = await Promise.all([find(), findPrices(db, hostId, listingId)])
    if (!listing) return null
    if (areOfOneMoment(listing, prices)) return withPrices(listing, prices)
  }
  throw busy()
}

function areOfOneMoment({ price_sequences = {} }: Priced, prices: StoredPrices[]): boolean {
  const isNamed = ({ room_type_id, sequence }: StoredPrices) => price_sequences[room_type_id] === sequence
  return prices.length === Object.keys(price_sequences).length && prices.every(isNamed)
}

/** Returns the listing with its prices filled in. */
export function withPrices<L extends Priced>(listing: L, prices: StoredPrices[]): L {
  const values = new Map(prices.map((one) => [one.room_type_id, one.values]))
  const room_types = listing.content.room_types.map((roomType) => {
    const own = values.get(roomType.id)
    return own ? { ...roomType, prices: own } : roomType
  })
  return { ...listing, content: { ...listing.content, room_types } }
}

/**
 * Writes room types' prices. The listing must name this write in the same transaction. See {@link namedSequences}.
 *
 * @param sequence position of this write among all writes to the host's listings
 */
export async function writePrices(
  db: Db,
  session: Session,
  host_id: number,
  changes: PriceChange[],
  sequence: number,
): Promise<void> {
  if (changes.length === 0) return
  const writes = changes.map(({ listing_id, room_type_id, values }) => ({
    updateOne: {
      filter: { host_id, listing_id, room_type_id },
      update: { $set: { ...fieldsOf(values), sequence } },
      upsert: true,
    },
  }))
  await pricesModel(db).collection.bulkWrite(writes as never[], { session, ordered: false })
}

/** Returns the fields of a listing that name the last write of its prices. */
export function namedSequences(changes: PriceChange[], sequence: number): Record<string, number> {
  return Object.fromEntries(changes.map(({ room_type_id }) => [`price_sequences.${room_type_id}`, sequence]))
}

function fieldsOf(values: StoredPrices['values']): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([field, value]) => [`values.${field}`, value]))
}

/** Writes prices of room types in any of the host's listings and advances the listings' `updated_at`. */
export async function pushPrices(
  db: Db,
  session: Session,
  host_id: number,
  changes: PriceChange[],
  { sequence, updated_at }: Pick<StoredPrices, 'sequence'> & Pick<StoredListing, 'updated_at'>,
): Promise<void> {
  await writePrices(db, session, host_id, changes, sequence)
  const moves = [...Map.groupBy(changes, ({ listing_id }) => listing_id)].map(([id, ofListing]) => ({
    updateOne: {
      filter: { host_id, id },
      update: { $set: { ...namedSequences(ofListing, sequence), updated_at } },
    },
  }))
  await listingModel(db).collection.bulkWrite(moves as never[], { session, ordered: false })
}
