import { Schema } from 'mongoose'
import { modelOf } from '../../platform/mongo/collections.ts'
import type { StoredRoomType } from './model.ts'

/**
 * The monthly prices and discounts of one room type. They are no part of its listing's document, so that a push of
 * rates writes little, however large its listings are.
 */
export interface StoredPrices {
  host_id: number
  listing_id: number
  room_type_id: number
  values: NonNullable<StoredRoomType['prices']>
  /** Sequence number of the last write of these, among all writes to the host's listings. */
  sequence: number
}

const schema = new Schema<StoredPrices>({
  host_id: { type: Number, required: true },
  listing_id: { type: Number, required: true },
  room_type_id: { type: Number, required: true },
  values: { type: Schema.Types.Mixed, required: true } as never,
  sequence: { type: Number, required: true },
})
schema.index({ host_id: 1, listing_id: 1, room_type_id: 1 }, { unique: true, name: 'prices_of_room_type' })

export const pricesModel = modelOf<StoredPrices>('prices', schema)
