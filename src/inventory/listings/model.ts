import { Schema } from 'mongoose'
import { modelOf } from '../../platform/mongo/collections.ts'
import { indexKey, indexPrefix } from '../../platform/mongo/index-key.ts'
import type { ListingPatch } from './fields.ts'
import type { ListingStatus } from './schema.ts'

type SentRoomType = NonNullable<ListingPatch['room_types']>[number]
type SentRoom = NonNullable<SentRoomType['rooms']>[number]

/** A room as stored: our id, and the partner's own where one was sent. */
export type StoredRoom = Omit<SentRoom, 'id'> & { id: number; partner_id: string | null }
export type StoredRoomType = Omit<SentRoomType, 'id' | 'rooms'> & {
  id: number
  partner_id: string | null
  rooms: StoredRoom[]
}

/** The content of a listing as partners sent it; fields that were never sent are absent. */
export type ListingContent = Omit<ListingPatch, 'room_types' | 'name'> & {
  name: string
  room_types: StoredRoomType[]
}

export interface StoredListing {
  id: number
  host_id: number
  unique_id: string
  listing_status: ListingStatus
  /** Position of the status in the default order. */
  status_rank: number
  /** The name for comparisons: in lower case, and cut to what fits into an index key. */
  name_key: string
  /** Stand in the indexes for the fields that a listing is recognized by. */
  original_id_key: string | null
  original_url_key: string | null
  /** Without the prices of its room types, which `prices-store.ts` keeps. */
  content: ListingContent
  /** How often the content was written: whoever changes it names the one that was read. */
  revision: number
  /** Sequence number of the last write of each room type's prices; absent before the first. */
  price_sequences?: Record<string, number>
  created_at: Date
  updated_at: Date
}

/** The index that keeps `original_id` unique within a host. */
export const originalIdIndex = 'listing_original_id_key'

const schema = new Schema<StoredListing>({
  id: { type: Number, required: true },
  host_id: { type: Number, required: true },
  unique_id: { type: String, required: true },
  listing_status: { type: String, required: true },
  status_rank: { type: Number, required: true },
  name_key: { type: String, required: true },
  original_id_key: { type: String, default: null },
  original_url_key: { type: String, default: null },
  content: { type: Schema.Types.Mixed, required: true },
  revision: { type: Number, required: true },
  price_sequences: Schema.Types.Mixed,
  created_at: { type: Date, required: true },
  updated_at: { type: Date, required: true },
})
schema.index({ host_id: 1, id: 1 }, { unique: true, name: 'listing_id' })
schema.index(
  { host_id: 1, original_id_key: 1 },
  {
    unique: true,
    name: originalIdIndex,
    partialFilterExpression: { original_id_key: { $type: 'string' } },
  },
)
schema.index({ host_id: 1, original_url_key: 1 }, { name: 'listing_original_url_key' })
schema.index(
  { host_id: 1, status_rank: 1, name_key: 1, updated_at: -1, id: 1 },
  { name: 'listing_default_order' },
)
schema.index({ host_id: 1, name_key: 1, id: 1 }, { name: 'listing_by_name' })
schema.index({ host_id: 1, updated_at: 1, id: 1 }, { name: 'listing_by_update' })
schema.index({ host_id: 1, status_rank: 1, id: 1 }, { name: 'listing_by_status' })
schema.index({ id: 1 }, { name: 'listing_number' })
schema.index({ host_id: 1, 'content.room_types.id': 1 }, { name: 'listing_room_type' })

/** The fields derived from the content, for the indexes. */
export function indexFieldsOf({ name, original_id, original_url }: ListingContent) {
  return {
    name_key: indexPrefix(name.toLowerCase()),
    original_id_key: indexKey(original_id),
    original_url_key: indexKey(original_url),
  }
}

export const listingModel = modelOf<StoredListing>('listings', schema)
