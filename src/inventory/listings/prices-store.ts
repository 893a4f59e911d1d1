import { updateEach } from '../../platform/mongo/collections.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { listingModel, type StoredRoomType } from './model.ts'

/** Prices to write to a room type. Absent fields keep their stored values. */
export interface PriceChange {
  listing_id: number
  room_type_id: number
  /** The listing's currency, which the prices are in; null if the listing has none. */
  currency: string | null
  values: NonNullable<StoredRoomType['prices']>
}

/**
 * Writes prices for room types in the host's listings, with one update for each listing, and sets these listings'
 * `updated_at`. If several changes set the same field, the last one wins.
 *
 * @returns false if a listing is not as `changes` say, in which case the prices of the others are written nonetheless
 */
export async function pushPrices(
  db: Db,
  session: Session,
  owner_id: number,
  { changes, updated_at }: { changes: PriceChange[]; updated_at: Date },
): Promise<boolean> {
  const updates = new Map<number, { filter: object; set: Record<string, unknown> }>()
  for (const { listing_id, room_type_id, currency, values } of changes) {
    const filter = { owner_id, id: listing_id, 'content.prices.currency': currency }
    const update = updates.get(listing_id) ?? { filter, set: { updated_at } }
    for (const [field, value] of Object.entries(values)) update.set[`prices.${room_type_id}.${field}`] = value
    updates.set(listing_id, update)
  }
  // In the same millisecond as another write of the listing, `updated_at` would not show that its size is unknown now.
  const changed = [...updates.values()].map(({ filter, set }) => ({
    filter,
    update: { $set: set, $unset: { measured: '' } },
  }))
  const matched = await updateEach(listingModel(db), session, changed)
  return matched === updates.size
}
