import type { PipelineStage } from 'mongoose'
import { notFound } from '../../core/errors.ts'
import { type PageRequest, skipOf } from '../../http/input/pagination.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { ofOwner } from '../../platform/mongo/look-up.ts'
import { roomsByType } from './calendar-rooms-store.ts'
import { type ListingContent, listingModel, type StoredListing, type StoredRoomType } from './model.ts'
import { findListing } from './store.ts'

/** A bulk write's reference to a room type and its listing. */
export interface RoomTypeReference {
  listing_id: number
  room_type_id: number
}

/** The fields of a listing that a bulk write is checked against. */
export type OwnedListing = Pick<StoredListing, 'id'> & {
  content: Pick<ListingContent, 'prices'> & { room_types: Pick<StoredRoomType, 'id'>[] }
}

/**
 * The listings in a bulk write that belong to the host, by id, and the ids of all others, in order of first appearance.
 */
export interface OwnedListings {
  owned: Map<number, OwnedListing>
  foreign: number[]
}

/** Looks up all listings referenced in a bulk write with a single query. */
export async function findOwnedListings(
  db: Db,
  ownerId: number,
  references: RoomTypeReference[],
  session: Session | null = null,
): Promise<OwnedListings> {
  const ids = [...new Set(references.map(({ listing_id }) => listing_id))]
  // By default, the server's first batch has only 101 listings, so the rest would take a second round trip.
  const columns = { _id: 0, id: 1, 'content.prices.currency': 1, 'content.room_types.id': 1 }
  const listings = await listingModel(db)
    .collection.find<OwnedListing>(
      { owner_id: ownerId, id: { $in: ids } },
      { projection: columns, batchSize: ids.length + 1, ...(session ? { session } : {}) },
    )
    .toArray()
  const owned = new Map(listings.map((listing) => [listing.id, listing]))
  return { owned, foreign: ids.filter((id) => !owned.has(id)) }
}

/** Returns the current names of room types by room type id; null for a room type without a name. */
export async function findRoomTypeNames(
  db: Db,
  ownerId: number,
  references: RoomTypeReference[],
): Promise<Map<number, string | null>> {
  const idsOf = (field: keyof RoomTypeReference) => [...new Set(references.map((one) => one[field]))]
  // Only the requested room types are read, because a listing may have hundreds of others.
  const wanted = {
    input: '$content.room_types',
    as: 'one',
    cond: { $in: ['$$one.id', idsOf('room_type_id')] },
  }
  const listings = await listingModel(db)
    .collection.aggregate<{ found: Pick<StoredRoomType, 'id' | 'name'>[] }>([
      { $match: { owner_id: ownerId, id: { $in: idsOf('listing_id') } } },
      { $project: { found: { $filter: wanted } } },
      { $project: { 'found.id': 1, 'found.name': 1 } },
    ])
    .toArray()
  return new Map(listings.flatMap(({ found }) => found).map(({ id, name }) => [id, name ?? null]))
}

/**
 * Returns the stage that adds the name of its room type to each booking: a list with at most one item, whose `names` has at
 * most one name. Only this name is sent, because a listing may have hundreds of room types.
 */
export function joinRoomTypeNames(db: Db, as: string): PipelineStage.Lookup {
  const wanted = { input: '$content.room_types', as: 'one', cond: { $eq: ['$$one.id', '$$room_type'] } }
  const names = { $map: { input: { $filter: wanted }, as: 'found', in: '$$found.name' } }
  return {
    $lookup: {
      from: listingModel(db).collection.name,
      let: { owner: '$owner_id', listing: '$listing_id', room_type: '$room_type_id' },
      pipeline: [{ $match: ofOwner('$$listing') }, { $project: { _id: 0, names } }],
      as,
    },
  }
}

/** A reference to a room type that its listing does not have, and the index of the first item that makes it. */
export interface InvalidRoomType extends RoomTypeReference {
  index: number
}

/**
 * Returns the pairs of a bulk write whose room type does not belong to the listing, each once, so that a thousand
 * ranges of one wrong room type do not hide a second one (decisions §8).
 */
export function findInvalidRoomTypes(
  owned: Map<number, OwnedListing>,
  references: RoomTypeReference[],
): InvalidRoomType[] {
  const invalid = new Map<string, InvalidRoomType>()
  for (const [index, { listing_id, room_type_id }] of references.entries()) {
    if (hasRoomType(owned, { listing_id, room_type_id })) continue
    const pair = `${listing_id} ${room_type_id}`
    if (!invalid.has(pair)) invalid.set(pair, { listing_id, room_type_id, index })
  }
  return [...invalid.values()]
}

function hasRoomType(
  owned: Map<number, OwnedListing>,
  { listing_id, room_type_id }: RoomTypeReference,
): boolean {
  return owned.get(listing_id)?.content.room_types.some(({ id }) => id === room_type_id) ?? false
}

/** A listing's room type ids, in ascending order. */
export interface ListingRoomTypes {
  listingId: number
  roomTypeIds: number[]
  /** Number of rooms of those room types of which a room has a calendar, by room type id. */
  calendarRooms: Map<number, number>
}

type RoomTypesOnly = Pick<StoredListing, 'id'> &
  Partial<Pick<StoredListing, 'calendar_room_types'>> & {
    content: { room_types: Pick<StoredRoomType, 'id'>[] }
  }

const roomTypeColumns = { _id: 0, id: 1, 'content.room_types.id': 1, calendar_room_types: 1 } as const

/** The listing and the room type that a read is limited to; undefined for all of them. */
export interface WantedRoomTypes {
  listingId: number | undefined
  roomTypeId: number | undefined
}

/**
 * Returns one page of the host's listings with their room type ids, ordered by listing id, and the total number of
 * matching listings.
 *
 * @throws DomainError `not_found` if the host has no such listing or room type
 */
export async function findRoomTypesPage(
  db: Db,
  ownerId: number,
  wanted: WantedRoomTypes,
  page: PageRequest,
): Promise<{ listings: ListingRoomTypes[]; total: number }> {
  const { listingId, roomTypeId } = wanted
  const filter = {
    owner_id: ownerId,
    ...(listingId === undefined ? {} : { id: listingId }),
    ...(roomTypeId === undefined ? {} : { 'content.room_types.id': roomTypeId }),
  }
  const { collection } = listingModel(db)
  const [total, listings] = await Promise.all([
    collection.countDocuments(filter),
    // By default, the server's first batch has only 101 listings, so the rest would take a second round trip.
    collection
      .find<RoomTypesOnly>(filter, { projection: roomTypeColumns, batchSize: page.perPage })
      .sort({ id: 1 })
      .skip(skipOf(page))
      .limit(page.perPage)
      .toArray(),
  ])
  if (total === 0) await refuseUnknown(db, ownerId, wanted)
  return { total, listings: listings.map((listing) => roomTypesOf(listing, roomTypeId)) }
}

/**
 * Returns the room type ids of one of the host's listings, or the one that is wanted.
 *
 * @throws DomainError `not_found` if the host has no such listing or room type
 */
export async function findRoomTypesOfListing(
  db: Db,
  ownerId: number,
  listingId: number,
  roomTypeId: number | undefined,
): Promise<ListingRoomTypes> {
  const listing = await listingModel(db).collection.findOne<RoomTypesOnly>(
    { owner_id: ownerId, id: listingId },
    { projection: roomTypeColumns },
  )
  if (!listing) throw notFound('Listing')
  const found = roomTypesOf(listing, roomTypeId)
  if (roomTypeId !== undefined && found.roomTypeIds.length === 0) throw notFound('Room type')
  return found
}

function roomTypesOf(
  { id, content, calendar_room_types = [] }: RoomTypesOnly,
  wanted: number | undefined,
): ListingRoomTypes {
  const roomTypeIds = content.room_types.map((roomType) => roomType.id)
  return {
    listingId: id,
    roomTypeIds: roomTypeIds
      .filter((one) => wanted === undefined || one === wanted)
      .sort((one, other) => one - other),
    calendarRooms: roomsByType(calendar_room_types),
  }
}

/** Says which of the wanted the host does not have. Asked only if nothing was found, so that what exists costs nothing. */
async function refuseUnknown(
  db: Db,
  ownerId: number,
  { listingId, roomTypeId }: WantedRoomTypes,
): Promise<void> {
  if (listingId !== undefined) await findListing(db, ownerId, listingId)
  if (roomTypeId !== undefined) throw notFound('Room type')
}
