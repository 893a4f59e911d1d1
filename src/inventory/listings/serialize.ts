import { toTimestamp } from '../../core/clock.ts'
import { complete } from '../../http/input/schema/complete.ts'
import { ListingPatch, RoomTypeWrite, RoomWrite } from './fields.ts'
import type { ListedListing } from './list-store.ts'
import type { ListingWithPrices, StoredRoom, WrittenListing } from './model.ts'
import type { Listing, ListingListItem } from './schema.ts'

/** Serializes a listing with all of its fields (contract, Listing). */
export function serializeListing(listing: ListingWithPrices): Listing {
  const { room_types } = listing.content
  return {
    id: listing.id,
    unique_id: listing.unique_id,
    listing_status: listing.listing_status,
    ...complete(ListingPatch, { ...listing.content, room_types: [] }),
    room_types: room_types.map((roomType) => ({
      ...idsOf(roomType),
      ...complete(RoomTypeWrite, roomType),
      rooms: roomType.rooms.map((room) => ({ ...idsOf(room), ...complete(RoomWrite, room) })),
    })),
    created_at: toTimestamp(listing.created_at),
    updated_at: toTimestamp(listing.updated_at),
  }
}

/** Serializes a listing as an item of `GET /v1/listings`. */
export function serializeListItem({ content, ...listing }: ListedListing): ListingListItem {
  return {
    id: listing.id,
    unique_id: listing.unique_id,
    original_id: content.original_id ?? null,
    name: content.name,
    listing_status: listing.listing_status,
    updated_at: toTimestamp(listing.updated_at),
    room_types: content.room_types.map((roomType) => ({
      ...idsOf(roomType),
      name: roomType.name ?? null,
      rooms: roomType.rooms.map((room) => ({ ...idsOf(room), name: room.name ?? null })),
    })),
  }
}

/** Serializes the ids of a listing's room types and rooms, both ours and the partner's own (decisions §27). */
export function serializeIds({ content }: Pick<WrittenListing, 'content'>) {
  return content.room_types.map((roomType) => ({ ...idsOf(roomType), rooms: roomType.rooms.map(idsOf) }))
}

function idsOf({ id, partner_id }: Pick<StoredRoom, 'id' | 'partner_id'>) {
  return { id, original_id: partner_id }
}
