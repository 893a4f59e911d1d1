import { toDay } from '../../core/clock.ts'
import { invalidField, notFound } from '../../core/errors.ts'
import type { AppContext } from '../../http/context.ts'
import { readCalendarFile } from '../../inventory/calendars/file/read.ts'
import { findCountryOfRoom } from '../../inventory/listings/calendar-rooms-store.ts'
import { toCountryCode } from '../bookings/country.ts'
import { inPlace } from './places.ts'
import { type CalendarCheck, type CheckedCalendar, maxCheckedBytes } from './schema.ts'

/**
 * Says what a file would block, and stores nothing (decisions §31).
 *
 * @throws DomainError `not_found` if the host has no such room; `validation` at `text`: `invalid` if it is not a calendar,
 * `max` beyond the bounds; `conflict` with a retry time while too many files are read
 */
export async function checkFile(
  app: Pick<AppContext, 'db' | 'clock' | 'checkPlaces'>,
  ownerId: number,
  { text, room_id }: CalendarCheck,
): Promise<CheckedCalendar> {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length > maxCheckedBytes) throw tooLarge(`"text" must be at most ${maxCheckedBytes} bytes`)
  const country = room_id ? await findCountryOfRoom(app.db, ownerId, room_id) : null
  if (country === undefined) throw notFound('Room')
  const whereAndWhen = { today: toDay(app.clock(ownerId)), country: toCountryCode(country) }
  const read = await inPlace(app.checkPlaces, { owner_id: ownerId, origin: '' }, () =>
    readCalendarFile([bytes], whereAndWhen),
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
