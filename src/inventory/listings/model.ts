import { Schema } from 'mongoose'
import { modelOf } from '../../platform/mongo/collections.ts'
import { indexKey, indexPrefix } from '../../platform/mongo/index-key.ts'
import type { ListingPatch } from './fields.ts'
import type { ListingStatus } from './schema.ts'

type SentRoomType = NonNullable<ListingPatch['room_types']>[number]
type SentRoom = NonNullable<SentRoomType['rooms']>[number]

/** A stored room, with our id and, if the partner sent one, the partner's own id. */
export type StoredRoom = Omit<SentRoom, 'id'> & { id: number; partner_id: string | null }
export type StoredRoomType = Omit<SentRoomType, 'id' | 'rooms'> & {
  id: number
  partner_id: string | null
  rooms: StoredRoom[]
}

/** A listing's content as sent by partners. Fields that were never sent are absent. */
export type ListingContent = Omit<ListingPatch, 'room_types' | 'name'> & {
  name: string
  room_types: StoredRoomType[]
}

/** A listing's content as it is stored. */
export type StoredContent = Omit<ListingContent, 'room_types'> & {
  room_types: Omit<StoredRoomType, 'prices'>[]
}

/** A listing's document. Only the stores see it; they return whole listings as a {@link ListingWithPrices}. */
export interface StoredListing {
  id: number
  owner_id: number
  unique_id: string
  listing_status: ListingStatus
  /** Position of the status in the default order. */
  status_rank: number
  /** The name as {@link comparableName} returns it, truncated to fit into an index key; used for sorting and searching. */
  name_key: string
  /** Hashes of the fields by which a listing is recognized, as they are compared; null for an absent field. */
  original_id_key: string | null
  original_url_key: string | null
  /** The listing's content except its room types' prices. */
  content: StoredContent
  /** Number of writes to the content. `changeFields` writes only if the revision has not changed since it was read. */
  revision: number
  /**
   * A size that the content does not exceed, in bytes as JSON, when the listing was written at this time. Absent if it is
   * unknown, as after a write of prices; meaningless if `updated_at` is another time.
   */
  measured?: { at: Date; bytes: number }
  /**
   * Prices by room type id. They are stored outside the content so that a bulk rates write can set them without reading
   * the content and without conflicting with a `PATCH` of other fields.
   */
  prices?: Record<string, NonNullable<StoredRoomType['prices']>>
  /**
   * The room types of which a room has a calendar, derived from the content, so that a booking need not read all rooms.
   */
  calendar_room_types: CalendarRoomType[]
  created_at: Date
  updated_at: Date
}

/** A room type of which at least one room has a calendar. */
export interface CalendarRoomType {
  id: number
  /** Number of all of its rooms. */
  rooms: number
}

/** A listing with its prices in its room types, as the stores return it. */
export type ListingWithPrices = Omit<
  StoredListing,
  'content' | 'prices' | 'calendar_room_types' | 'measured'
> & {
  content: ListingContent
  /** Never set, so that a document whose prices are still outside its content does not have this type. */
  prices?: never
}

/** The parts of a listing that the answer to a write shows. */
export type WrittenListing = Pick<StoredListing, 'id'> & {
  content: Pick<ListingContent, 'original_id'> & {
    room_types: (Ids & { rooms: Ids[] })[]
  }
}

type Ids = Pick<StoredRoom, 'id' | 'partner_id'>

/** Name of the index that enforces a unique `original_id` within a host. */
export const originalIdIndex = 'listing_original_id_key'

const schema = new Schema<StoredListing>({
  id: { type: Number, required: true },
  owner_id: { type: Number, required: true },
  unique_id: { type: String, required: true },
  listing_status: { type: String, required: true },
  status_rank: { type: Number, required: true },
  name_key: { type: String, required: true },
  original_id_key: { type: String, default: null },
  original_url_key: { type: String, default: null },
  content: { type: Schema.Types.Mixed, required: true },
  revision: { type: Number, required: true },
  measured: { type: { _id: false, at: Date, bytes: Number }, required: false },
  prices: Schema.Types.Mixed,
  calendar_room_types: { type: [{ _id: false, id: Number, rooms: Number }], default: [] },
  created_at: { type: Date, required: true },
  updated_at: { type: Date, required: true },
})
schema.index({ owner_id: 1, id: 1 }, { unique: true, name: 'listing_id' })
schema.index(
  { owner_id: 1, original_id_key: 1 },
  {
    unique: true,
    name: originalIdIndex,
    partialFilterExpression: { original_id_key: { $type: 'string' } },
  },
)
schema.index({ owner_id: 1, original_url_key: 1 }, { name: 'listing_original_url_key' })
schema.index(
  { owner_id: 1, status_rank: 1, name_key: 1, updated_at: -1, id: 1 },
  { name: 'listing_default_order' },
)
schema.index({ owner_id: 1, name_key: 1, id: 1 }, { name: 'listing_by_name' })
schema.index({ owner_id: 1, updated_at: 1, id: 1 }, { name: 'listing_by_update' })
schema.index({ owner_id: 1, status_rank: 1, id: 1 }, { name: 'listing_by_status' })
schema.index({ id: 1 }, { name: 'listing_number' })
schema.index({ owner_id: 1, 'content.room_types.id': 1 }, { name: 'listing_room_type' })
schema.index({ owner_id: 1, 'content.room_types.rooms.id': 1 }, { name: 'listing_room' })

/**
 * Returns the form in which names of listings are compared: composed (NFC) and without case. The name is upper-cased
 * first, because some letters have two lower-case forms, such as `ß` and `ss`; `ς` is the form of `σ` at the end of a
 * word.
 */
export function comparableName(name: string): string {
  return name.normalize('NFC').toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC')
}

/**
 * Returns the form in which addresses of listings are compared: as a browser would read them, with the host in lower case
 * and in ASCII, and without the default port. A text that is not an address stays as it is, and null stays null.
 */
export function comparableUrl(url: string | null | undefined): string | null {
  return url ? (URL.parse(url)?.href ?? url) : null
}

/** Returns the field by which listings are sorted and searched. */
export function nameKeyOf(name: string): string {
  return indexPrefix(comparableName(name))
}

/** Returns the fields that are derived from the content for use in indexes. */
export function indexFieldsOf({
  name,
  original_id,
  original_url,
}: Pick<ListingContent, 'name' | 'original_id' | 'original_url'>) {
  return {
    name_key: nameKeyOf(name),
    original_id_key: indexKey(original_id),
    original_url_key: indexKey(comparableUrl(original_url)),
  }
}

export const listingModel = modelOf<StoredListing>('listings', schema, { owner: 'owner_id' })
