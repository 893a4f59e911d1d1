import { daysBetween, toDay } from '../../core/clock.ts'
import { invalidField } from '../../core/errors.ts'
import type { AppContext } from '../../http/context.ts'
import { findRowsCovering } from '../../inventory/availability/store.ts'
import { findCalendarRoomTypes } from '../../inventory/listings/calendar-rooms-store.ts'
import { findRoomTypesOfListing, type ListingRoomTypes } from '../../inventory/listings/room-types-store.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { inSnapshot } from '../../platform/mongo/turns/transactions.ts'
import { findActiveStays } from '../bookings/store.ts'
import { findRoomCalendars } from '../capacity/calendars.ts'
import { type Nights, nightsToCompare, type UnitNight, unitsByNight } from '../capacity/units.ts'
import type { NightsQuery } from './schema.ts'

/** Maximum number of room types read per snapshot, so that the transaction does not grow with the listing. */
const roomTypesPerSnapshot = 20

/**
 * Returns the units on each night, keyed by room type id and counted by the same rule as for bookings (decisions §20).
 */
export async function readNights(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  ownerId: number,
  roomTypeIds: number[],
  nights: Nights,
): Promise<Map<number, UnitNight[]>> {
  const calendarRooms = await findCalendarRoomTypes(db, ownerId, roomTypeIds)
  return countNights({ db, clock }, ownerId, { roomTypeIds, calendarRooms }, nights)
}

/** Room types, and the number of rooms of those of which a room has a calendar. */
type CountedRoomTypes = Pick<ListingRoomTypes, 'roomTypeIds' | 'calendarRooms'>

async function countNights(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  ownerId: number,
  { roomTypeIds, calendarRooms }: CountedRoomTypes,
  nights: Nights,
): Promise<Map<number, UnitNight[]>> {
  const found = new Map<number, UnitNight[]>()
  const today = toDay(clock(ownerId))
  for (let start = 0; start < roomTypeIds.length; start += roomTypesPerSnapshot) {
    const ids = roomTypeIds.slice(start, start + roomTypesPerSnapshot)
    const wanted = { roomTypeIds: ids, calendarRooms, days: nights, today }
    const units = await inSnapshot(db, (session) => readUnits(db, session, ownerId, wanted))
    for (const [id, ofRoomType] of units) found.set(id, ofRoomType)
  }
  return found
}

async function readUnits(
  db: Db,
  session: Session,
  ownerId: number,
  wanted: CountedRoomTypes & { days: Nights; today: string },
): Promise<Map<number, UnitNight[]>> {
  const rows = await findRowsCovering(db, session, ownerId, [wanted])
  const withCalendar = wanted.roomTypeIds.filter((id) => wanted.calendarRooms.has(id))
  const calendars = await findRoomCalendars(db, session, ownerId, withCalendar)
  const others = wanted.roomTypeIds.filter((id) => !calendars.has(id))
  const compared = [...calendars].map(([id, ofRoomType]) => ({
    roomTypeIds: [id],
    days: nightsToCompare(wanted.days, ofRoomType),
  }))
  if (others.length > 0) compared.push({ roomTypeIds: others, days: wanted.days })
  const stays = await findActiveStays(db, session, ownerId, compared)
  const active = Map.groupBy(stays, ({ room_type_id }) => room_type_id)
  const units = new Map<number, UnitNight[]>()
  for (const id of wanted.roomTypeIds)
    units.set(
      id,
      unitsByNight(wanted.days, {
        rows: rows.get(id) ?? [],
        stays: active.get(id) ?? [],
        calendars: calendars.get(id) ?? [],
        rooms: wanted.calendarRooms.get(id) ?? 0,
        today: wanted.today,
      }),
    )
  return units
}

/** Maximum number of nights in one request, summed over all room types (decisions §20). */
const maxNights = 20_000

/**
 * Returns the units on each night for one or all of a listing's room types, keyed by listing id, then by room type id.
 *
 * @throws DomainError `not_found` if the host has no such listing or room type; `validation` at `end_date` for too many
 * nights
 */
export async function findNights(
  app: Pick<AppContext, 'db' | 'clock'>,
  ownerId: number,
  { listing_id, room_type_id, start_date, end_date }: NightsQuery,
): Promise<Record<string, Record<string, UnitNight[]>>> {
  const { roomTypeIds, calendarRooms } = await findRoomTypesOfListing(
    app.db,
    ownerId,
    listing_id,
    room_type_id,
  )
  if (roomTypeIds.length * (daysBetween(start_date, end_date) + 1) > maxNights) {
    const message = `"end_date" must include at most ${maxNights} nights over all room types`
    throw invalidField('end_date', message, 'max')
  }
  const nights = { from: start_date, to: end_date }
  const units = await countNights(app, ownerId, { roomTypeIds, calendarRooms }, nights)
  return { [listing_id]: Object.fromEntries(units) }
}
