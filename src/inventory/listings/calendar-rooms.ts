import type { RoomAddress } from '../calendars/addresses.ts'
import type { CalendarRoomType, ListingContent } from './model.ts'

/** Returns the rooms of a listing that have the address of a calendar. */
export function addressesOf({ room_types }: Pick<ListingContent, 'room_types'>): RoomAddress[] {
  const addresses: RoomAddress[] = []
  for (const roomType of room_types)
    for (const room of roomType.rooms) {
      const url = room.availability?.ical
      if (url) addresses.push({ room_id: room.id, room_type_id: roomType.id, url })
    }
  return addresses
}

/** Returns the room types of a listing of which a room has the address of a calendar. */
export function calendarRoomTypesOf({ room_types }: Pick<ListingContent, 'room_types'>): CalendarRoomType[] {
  return room_types
    .filter(({ rooms }) => rooms.some(({ availability }) => availability?.ical))
    .map(({ id, rooms }) => ({ id, rooms: rooms.length }))
}
