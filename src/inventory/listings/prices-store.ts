import type { Db, Session } from '../../platform/mongo/connection.ts'
import { listingModel, type StoredListing, type StoredRoomType } from './model.ts'
import { pricesModel, type StoredPrices } from './prices-model.ts'

/** Prices to be written; fields that are absent stay as they are. */
export type PriceChange = Pick<StoredPrices, 'listing_id' | 'room_type_id' | 'values'>

/** The part of a listing that its prices belong to. */
export type Priced = Pick<StoredListing, 'prices_sequence'> & {
  content: { room_types: Pick<StoredRoomType, 'id' | 'prices'>[] }
}

/** The prices of all room types of a listing. */
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

/**
 * A listing together with its prices, outside of a transaction: both as one and the same write left them, so that no
 * price is read beside the currency of another moment.
 *
 * @param find finds the listing, or null
 */
export async function findWithPrices<L extends Priced>(
  db: Db,
  hostId: number,
  listingId: number,
  find: () => Promise<L | null>,
): Promise<L | null> {
  for (;;) {
    const [listing, prices] = await Promise.all([find(), findPrices(db, hostId, listingId)])
    if (!listing) return null
    const last = Math.max(0, ...prices.map(({ sequence }) => sequence))
    if (last === (listing.prices_sequence ?? 0)) return withPrices(listing, prices)
  }
}

/** The listing with its prices in it. */
export function withPrices<L extends Priced>(listing: L, prices: StoredPrices[]): L {
  const values = new Map(prices.map((one) => [one.room_type_id, one.values]))
  const room_types = listing.content.room_types.map((roomType) => {
    const own = values.get(roomType.id)
    return own ? { ...roomType, prices: own } : roomType
  })
  return { ...listing, content: { ...listing.content, room_types } }
}

/**
 * Writes prices of room types, and moves their listings' `updated_at`.
 *
 * @param sequence of this write among all writes to the host's listings
 */
export async function savePrices(
  db: Db,
  session: Session,
  host_id: number,
  changes: PriceChange[],
  { sequence, updated_at }: Pick<StoredPrices, 'sequence'> & Pick<StoredListing, 'updated_at'>,
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
  const listings = { host_id, id: { $in: [...new Set(changes.map(({ listing_id }) => listing_id))] } }
  const moved = { $set: { prices_sequence: sequence, updated_at } }
  await listingModel(db).collection.updateMany(listings, moved, { session })
}

function fieldsOf(values: StoredPrices['values']): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([field, value]) => [`values.${field}`, value]))
}
