import { findCalendarsOfRoomTypes } from '../../inventory/calendars/store.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import type { RoomCalendar } from './units.ts'

/**
 * Returns the calendars of room types, by room type id, as nights are counted by them. Asks nothing if there are no room
 * types, so that room types without a calendar cost no round trip.
 */
export async function findRoomCalendars(
  db: Db,
  session: Session,
  ownerId: number,
  roomTypeIds: number[],
): Promise<Map<number, RoomCalendar[]>> {
  const byRoomType = new Map<number, RoomCalendar[]>()
  if (roomTypeIds.length === 0) return byRoomType
  for (const stored of await findCalendarsOfRoomTypes(db, session, ownerId, roomTypeIds)) {
    const calendars = byRoomType.get(stored.room_type_id) ?? []
    byRoomType.set(stored.room_type_id, calendars)
    calendars.push({
      room_id: stored.room_id,
      hasBeenRead: stored.has_been_read,
      blocks: stored.blocks,
      blockedNights: stored.nights,
    })
  }
  return byRoomType
}
