import { DomainError } from '../errors.ts'
import type { Db } from '../infra/mongo.ts'
import { listingModel, type StoredListing } from './model.ts'

/** One entry of a bulk write: a room type, named with its listing. */
export interface RoomTypeReference {
  listing_id: number
  room_type_id: number
}

/** The listings of a bulk that are the host's, by id, and the ids that are not, in order of appearance. */
export interface OwnedListings {
  owned: Map<number, StoredListing>
  foreign: number[]
}

/** Looks up every listing that a bulk names, in one query. */
export async function findOwnedListings(
  db: Db,
  hostId: number,
  references: RoomTypeReference[],
): Promise<OwnedListings> {
  const ids = [...new Set(references.map(({ listing_id }) => listing_id))]
  const columns = { id: 1, 'content.prices.currency': 1, 'content.room_types.id': 1 }
  const listings = await listingModel(db)
    .find({ host_id: hostId, id: { $in: ids } }, columns)
    .lean<StoredListing[]>()
  const owned = new Map(listings.map((listing) => [listing.id, listing]))
  return { owned, foreign: ids.filter((id) => !owned.has(id)) }
}

/** True when the room type belongs to the listing that the entry names. */
export function hasRoomType(
  owned: Map<number, StoredListing>,
  { listing_id, room_type_id }: RoomTypeReference,
): boolean {
  return owned.get(listing_id)?.content.room_types.some(({ id }) => id === room_type_id) ?? false
}

/** 403 of a bulk write that names listings of somebody else. */
export function foreignListings(paths: { path: string; message: string }[]): DomainError {
  const problems = paths.map((entry) => ({ ...entry, code: 'forbidden' as const }))
  return new DomainError('forbidden', 'Unauthorized access to listings', problems)
}
