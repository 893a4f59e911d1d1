import { toDay } from '../../core/clock.ts'
import { invalidField, notFound } from '../../core/errors.ts'
import type { AppContext } from '../../http/context.ts'
import { readCalendarFile } from '../../inventory/calendars/file/read.ts'
import { findCountryOfRoom } from '../../inventory/listings/calendar-rooms-store.ts'
import { toCountryCode } from '../bookings/country.ts'
import { Places } from './places.ts'
import { type CalendarCheck, type CheckedCalendar, maxCheckedBytes } from './schema.ts'

/** Large files are read one after another, so each check holds up all that come later, and the readings of calendars. */
const checks = new Places({ total: 2, perHost: 1 })

/**
 * Says what a file would block, and stores nothing (decisions §31).
 *
 * @throws DomainError `not_found` if the host has no such room; `validation` at `text`: `invalid` if it is not a calendar,
 * `max` beyond the bounds; `conflict` with a retry time while other files are checked
 */
export async function checkFile(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  ownerId: number,
  { text, room_id }: CalendarCheck,
): Promise<CheckedCalendar> {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length > maxCheckedBytes) throw tooLarge(`"text" must be at most ${maxCheckedBytes} bytes`)
  const country = room_id ? await findCountryOfRoom(db, ownerId, room_id) : null
  if (country === undefined) throw notFound('Room')
  const place = { today: toDay(clock(ownerId)), country: toCountryCode(country) }
  const read = await checks.with(ownerId, 'Other files are being checked; try again', () =>
    readCalendarFile(bytes, place),
  )
  if (read.kind === 'too_large')
    throw tooLarge('"text" must contain at most 10,000 events, which block at most 2,000 ranges of nights')
  if (read.kind === 'not_a_calendar')
    throw invalidField('text', '"text" must be an iCalendar file, from BEGIN:VCALENDAR to END:VCALENDAR')
  const { blocks, skipped, events } = read.file
  return { blocks, skipped, events }
}

function tooLarge(message: string) {
  return invalidField('text', message, 'max')
}
