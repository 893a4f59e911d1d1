import { setFields } from '../../platform/mongo/collections.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { listingModel, type StoredRoomType } from './model.ts'

/** Prices to write to a room type. Absent fields keep their stored values. */
export interface PriceChange {
  listing_id: number
  room_type_id: number
  values: NonNullable<StoredRoomType['prices']>
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
