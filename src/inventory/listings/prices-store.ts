import { setFields } from '../../platform/mongo/collections.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { listingModel, type StoredRoomType } from './model.ts'

/** Prices to write to a listing, by room type id. Absent fields keep their stored values. */
export interface PriceChange {
  listing_id: number
  /** The listing's currency, which the prices are in; null if the listing has none. */
  currency: string | null
  prices: Map<number, NonNullable<StoredRoomType['prices']>>
}

/**
 * Writes prices for room types in the host's listings and sets these listings' `updated_at`.
 *
 * @returns false if a listing is not as `changes` say, in which case the prices of the others are written nonetheless
 */
export async function pushPrices(
  db: Db,
  session: Session,
  owner_id: number,
  { changes, updated_at }: { changes: PriceChange[]; updated_at: Date },
): Promise<boolean> {
  const updates = changes.map(({ listing_id, currency, prices }) => {
    const set: Record<string, unknown> = { updated_at }
    for (const [id, values] of prices)
      for (const [field, value] of Object.entries(values)) set[`prices.${id}.${field}`] = value
    return { filter: { owner_id, id: listing_id, 'content.prices.currency': currency }, set }
  })
  const matched = await setFields(listingModel(db), session, updates)
  return matched === updates.length
}
