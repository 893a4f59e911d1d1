import { Schema } from 'mongoose'
import { modelOf } from '../infra/mongo.ts'
import type { ListingStatus } from './schema.ts'
import type { ListingPatch } from './shape.ts'

type SentRoomType = NonNullable<ListingPatch['room_types']>[number]
type SentRoom = NonNullable<SentRoomType['rooms']>[number]

/** A room as stored: our id, and the partner's own where one was sent. */
export type StoredRoom = Omit<SentRoom, 'id'> & { id: number; partner_id: string | null }
export type StoredRoomType = Omit<SentRoomType, 'id' | 'rooms'> & {
  id: number
  partner_id: string | null
  rooms: StoredRoom[]
}

/** What partners wrote of a listing; fields never sent are not there. */
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
  /** The name as it is compared: without case. */
  name_key: string
  content: ListingContent
  created_at: Date
  updated_at: Date
}

const schema = new Schema<StoredListing>({
  id: { type: Number, required: true },
  host_id: { type: Number, required: true },
  unique_id: { type: String, required: true },
  listing_status: { type: String, required: true },
  status_rank: { type: Number, required: true },
  name_key: { type: String, required: true },
  content: { type: Schema.Types.Mixed, required: true },
  created_at: { type: Date, required: true },
  updated_at: { type: Date, required: true },
})
schema.index({ host_id: 1, id: 1 }, { unique: true, name: 'listing_id' })
schema.index(
  { host_id: 1, 'content.original_id': 1 },
  {
    unique: true,
    name: 'listing_original_id',
    partialFilterExpression: { 'content.original_id': { $type: 'string' } },
  },
)
schema.index({ host_id: 1, 'content.original_url': 1 }, { name: 'listing_original_url' })
schema.index(
  { host_id: 1, status_rank: 1, name_key: 1, updated_at: -1, id: 1 },
  { name: 'listing_default_order' },
)
schema.index({ host_id: 1, name_key: 1, id: 1 }, { name: 'listing_by_name' })
schema.index({ host_id: 1, updated_at: 1, id: 1 }, { name: 'listing_by_update' })
schema.index({ host_id: 1, status_rank: 1, id: 1 }, { name: 'listing_by_status' })
schema.index({ id: 1 }, { name: 'listing_number' })
schema.index({ host_id: 1, 'content.room_types.id': 1 }, { name: 'listing_room_type' })

export const listingModel = modelOf<StoredListing>('listings', schema)
