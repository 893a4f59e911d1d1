import type { Db, Session } from '../../platform/mongo/connection.ts'
import { type CalendarRoomType, listingModel, type StoredListing } from './model.ts'

/** Returns the number of rooms of those room types of which a room has a calendar, by room type id. */
export async function findCalendarRoomTypes(
  db: Db,
  owner_id: number,
  roomTypeIds: number[],
  session: Session | null = null,
): Promise<Map<number, number>> {
  const filter = { owner_id, 'content.room_types.id': { $in: roomTypeIds } }
  const projection = { _id: 0, calendar_room_types: 1 }
  const options = { projection, batchSize: 1000, ...(session ? { session } : {}) }
  const listings = await listingModel(db)
    .collection.find<Partial<Pick<StoredListing, 'calendar_room_types'>>>(filter, options)
    .toArray()
  return roomsByType(listings.flatMap(({ calendar_room_types = [] }) => calendar_room_types))
}

/** Returns the number of rooms of room types with a calendar, by room type id. */
export function roomsByType(roomTypes: CalendarRoomType[]): Map<number, number> {
  return new Map(roomTypes.map(({ id, rooms }) => [id, rooms]))
}

/** The country of a listing, as it was sent, and the number of rooms of a room type; null for an unknown one. */
export interface CalendarPlace {
  country: string | null
  rooms: number
}

/** Returns what a reading of a room's calendar needs to know of the room's listing. */
export async function findCalendarPlace(
  db: Db,
  { owner_id, listing_id, room_type_id }: { owner_id: number; listing_id: number; room_type_id: number },
): Promise<CalendarPlace> {
  const projection = { _id: 0, calendar_room_types: 1, 'content.location.country': 1 }
  const found = await listingModel(db).collection.findOne<
    Partial<Pick<StoredListing, 'calendar_room_types'>> & {
      content?: Pick<StoredListing['content'], 'location'>
    }
  >({ owner_id, id: listing_id }, { projection })
  return {
    country: found?.content?.location?.country ?? null,
    rooms: roomsByType(found?.calendar_room_types ?? []).get(room_type_id) ?? 0,
  }
}

/** Returns the country of the listing that has a room, as it was sent; undefined if the host has no such room. */
export async function findCountryOfRoom(
  db: Db,
  owner_id: number,
  room_id: number,
): Promise<string | null | undefined> {
  const found = await listingModel(db).collection.findOne<{
    content?: Pick<StoredListing['content'], 'location'>
  }>(
    { owner_id, 'content.room_types.rooms.id': room_id },
    { projection: { _id: 0, 'content.location.country': 1 } },
  )
  return found ? (found.content?.location?.country ?? null) : undefined
}
