import { modelOf } from '../../platform/mongo/collections.ts'
import { mixed, number, type Stored, schemaOf } from '../../platform/mongo/fields.ts'
import type { StoredRoomType } from './model.ts'

const fields = {
  host_id: number,
  listing_id: number,
  room_type_id: number,
  values: mixed<NonNullable<StoredRoomType['prices']>>(),
  /** Sequence number of the last write to these prices, among all writes to the host's listings. */
  sequence: number,
}

/**
 * The monthly prices and discounts of one room type. They are stored outside the listing's document, so that a bulk
 * rates write stays small however large the listings are.
 */
export type StoredPrices = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ host_id: 1, listing_id: 1, room_type_id: 1 }, { unique: true, name: 'prices_of_room_type' })

export const pricesModel = modelOf<StoredPrices>('prices', schema)
