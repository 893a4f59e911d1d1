import { isDeepStrictEqual } from 'node:util'
import { setFields } from '../../platform/mongo/collections.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { type ListingContent, listingModel, type StoredListing, type StoredRoomType } from './model.ts'

/** Prices to write to a room type. Absent fields keep their stored values. */
export interface PriceChange {
  listing_id: number
  room_type_id: number
  values: NonNullable<StoredRoomType['prices']>
}

/** Returns a listing's room types with its prices, which are stored by room type id. */
export function withPrices<RoomType extends Pick<StoredRoomType, 'id'>>(
  roomTypes: RoomType[],
  stored: StoredListing['prices'],
) {
  return roomTypes.map((roomType) => {
    const prices = stored?.[roomType.id]
    return prices ? { ...roomType, prices } : roomType
  })
}

/** Returns the prices of a listing's room types in their stored form, by room type id. */
export function pricesOf({ room_types }: ListingContent): Record<string, PriceChange['values']> {
  const known: Record<string, PriceChange['values']> = {}
  for (const { id, prices } of room_types) if (prices && Object.keys(prices).length > 0) known[id] = prices
  return known
}

/** Returns the database fields to set for the room types whose prices have changed. */
export function changedPrices(before: ListingContent, after: ListingContent): Record<string, unknown> {
  const known = pricesOf(before)
  const changed = Object.entries(pricesOf(after)).filter(
    ([id, prices]) => !isDeepStrictEqual(prices, known[id]),
  )
  return Object.fromEntries(changed.map(([id, prices]) => [`prices.${id}`, prices]))
}

/** Writes prices for room types in any of the host's listings and sets these listings' `updated_at`. */
export async function pushPrices(
  db: Db,
  session: Session,
  owner_id: number,
  { changes, updated_at }: { changes: PriceChange[]; updated_at: Date },
): Promise<void> {
  const changed = [...Map.groupBy(changes, ({ listing_id }) => listing_id)].map(([id, ofListing]) => {
    const prices = ofListing.flatMap(({ room_type_id, values }) =>
      Object.entries(values).map(([field, value]) => [`prices.${room_type_id}.${field}`, value]),
    )
    return { filter: { owner_id, id }, set: { ...Object.fromEntries(prices), updated_at } }
  })
  await setFields(listingModel(db), session, changed)
}
