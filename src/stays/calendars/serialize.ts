import { addDays, daysBetween, toDay, toTimestamp, toTimestampOrNull } from '../../core/clock.ts'
import type { AppContext } from '../../http/context.ts'
import { daysAhead, holdMilliseconds } from '../../inventory/calendars/decide.ts'
import type { StoredCalendar } from '../../inventory/calendars/model.ts'
import { findCalendar, type ListedCalendar } from '../../inventory/calendars/store.ts'
import type { Session } from '../../platform/mongo/connection.ts'
import { inSnapshot } from '../../platform/mongo/turns/transactions.ts'
import { findActiveStays } from '../bookings/store.ts'
import { findRoomCalendars } from '../capacity/calendars.ts'
import { recognizeBookings } from '../capacity/own-blocks.ts'
import { nightsToCompare } from '../capacity/units.ts'
import type { Calendar, CalendarEntry } from './schema.ts'

type ShowingContext = Pick<AppContext, 'db' | 'clock' | 'environment'>

/** Serializes a calendar as an entry of the list. */
export function serializeEntry(
  { clock, environment }: Pick<ShowingContext, 'clock' | 'environment'>,
  calendar: ListedCalendar,
): CalendarEntry {
  const today = toDay(clock(calendar.owner_id))
  const isRead = environment.name === 'live'
  return {
    listing_id: calendar.listing_id,
    room_type_id: calendar.room_type_id,
    room_id: calendar.room_id,
    url: calendar.url,
    status: calendar.status,
    error: calendar.error,
    response_status: calendar.response_status,
    read_at: toTimestampOrNull(calendar.read_at),
    changed_at: toTimestampOrNull(calendar.changed_at),
    attempted_at: toTimestampOrNull(calendar.attempted_at),
    next_read_at: isRead ? toTimestampOrNull(calendar.next_read_at) : null,
    held_until: toTimestampOrNull(heldUntil(calendar)),
    events: calendar.events,
    nights: nightsFrom(today, calendar),
    conflicts: calendar.conflicts.filter((night) => night >= today),
  }
}

function heldUntil({ hold_since }: Pick<StoredCalendar, 'hold_since'>): Date | null {
  return hold_since === null ? null : new Date(hold_since.getTime() + holdMilliseconds)
}

function nightsFrom(today: string, { nights }: Pick<ListedCalendar, 'nights'>): number {
  let count = 0
  for (const { from, to } of nights)
    if (to >= today) count += daysBetween(from > today ? from : today, to) + 1
  return count
}

/**
 * Returns a room's calendar with its blocks, each with the booking that it is.
 *
 * @throws DomainError `not_found`
 */
export function showCalendar(
  app: ShowingContext,
  ownerId: number,
  roomId: number | undefined,
): Promise<Calendar> {
  return inSnapshot(app.db, async (session) => {
    const calendar = await findCalendar(app.db, ownerId, roomId, session)
    const bookings = await bookingsOfBlocks(app, session, calendar)
    return {
      ...serializeEntry(app, calendar),
      blocks: calendar.blocks.map((block) => ({
        start_date: block.start_date,
        end_date: block.end_date,
        seen_at: toTimestamp(block.seen_at),
        booking_id: bookings.get(`${block.start_date}/${block.end_date}`) ?? null,
      })),
      skipped: calendar.skipped,
    }
  })
}

/** Returns the ids of the bookings that a room's blocks are, by first night and end. */
async function bookingsOfBlocks(
  { db, clock }: ShowingContext,
  session: Session,
  { owner_id, room_type_id, room_id, blocks }: StoredCalendar,
): Promise<Map<string, number>> {
  if (blocks.length === 0) return new Map()
  const today = toDay(clock(owner_id))
  const calendars = (await findRoomCalendars(db, session, owner_id, [room_type_id])).get(room_type_id) ?? []
  const nights = nightsToCompare({ from: today, to: addDays(today, daysAhead) }, calendars)
  const wanted = [{ roomTypeIds: [room_type_id], days: nights }]
  const stays = await findActiveStays(db, session, owner_id, wanted)
  const recognized = recognizeBookings(stays, calendars, today)
  const own = calendars.find((one) => one.room_id === room_id)?.blocks ?? []
  const found = new Map<string, number>()
  for (const block of own) {
    const booking = recognized.get(block)
    if (booking !== undefined) found.set(`${block.start_date}/${block.end_date}`, booking)
  }
  return found
}
