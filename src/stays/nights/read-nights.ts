import { findRowsCovering } from '../../inventory/availability/store.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { inSnapshot } from '../../platform/mongo/transactions.ts'
import { findActiveStays } from '../bookings/store.ts'
import { type Nights, type UnitNight, unitsByNight } from '../bookings/units.ts'

/** Number of room types read in one snapshot. This bound keeps the transaction from growing with the listing. */
const roomTypesAtOnce = 20

/** Returns the nightly units of a host's room types, by the same rule that refuses bookings (decisions §20). */
export async function readNights(
  db: Db,
  hostId: number,
  roomTypeIds: number[],
  nights: Nights,
): Promise<Map<number, UnitNight[]>> {
  const found = new Map<number, UnitNight[]>()
  for (let start = 0; start < roomTypeIds.length; start += roomTypesAtOnce) {
    const ids = roomTypeIds.slice(start, start + roomTypesAtOnce)
    const units = await inSnapshot(db, (session) => readUnits(db, session, hostId, ids, nights))
    for (const [id, ofRoomType] of units) found.set(id, ofRoomType)
  }
  return found
}

async function readUnits(db: Db, session: Session, hostId: number, roomTypeIds: number[], nights: Nights) {
  const wanted = [{ roomTypeIds, days: nights }]
  const rows = await findRowsCovering(db, session, hostId, wanted)
  const stays = await findActiveStays(db, session, hostId, wanted, null)
  const active = Map.groupBy(stays, ({ room_type_id }) => room_type_id)
  return roomTypeIds.map(
    (id) => [id, unitsByNight(nights, rows.get(id) ?? [], active.get(id) ?? [])] as const,
  )
}
