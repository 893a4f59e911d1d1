import { toTimestamp } from '../../core/clock.ts'
import { complete } from '../../http/schema/normalize.ts'
import { ListingPatch } from './fields.ts'
import type { StoredListing } from './model.ts'
import type { Listing, ListingListItem } from './schema.ts'

/** Serializes a listing with all its fields (contract, Listing). */
export function serializeListing(listing: StoredListing): Listing {
  return {
    id: listing.id,
    unique_id: listing.unique_id,
    listing_status: listing.listing_status,
    ...complete(ListingPatch, listing.content),
    created_at: toTimestamp(listing.created_at),
    updated_at: toTimestamp(listing.updated_at),
  }
}

/** Serializes a listing as a row of the list. */
export function serializeListItem({ content, ...listing }: StoredListing): ListingListItem {
  return {
    id: listing.id,
    unique_id: listing.unique_id,
    original_id: content.original_id ?? null,
    name: content.name,
    listing_status: listing.listing_status,
    updated_at: toTimestamp(listing.updated_at),
    room_types: content.room_types.map(({ id, name, rooms }) => ({
      id,
      name: name ?? null,
      rooms: rooms.map((room) => ({ id: room.id, name: room.name ?? null })),
    })),
  }
}
