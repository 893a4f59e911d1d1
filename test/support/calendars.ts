import { addDays, toDay } from '../../src/core/clock.ts'
import type { Actor } from './app.ts'
import { readFixture } from './fixtures.ts'

/** A server of calendars, one for each path. */
export interface CalendarServer {
  /** Base address, without a slash at the end. */
  url: string
  requests: { path: string; headers: Record<string, string> }[]
  /** Sets what a path responds with. */
  serve(path: string, respond: string | ((request: Request) => Response | Promise<Response>)): void
}

/** Starts a server of calendars on loopback. A path that was not set responds 404. */
export function startCalendarServer(onEnd: (stop: () => Promise<unknown>) => void): CalendarServer {
  const responses = new Map<string, string | ((request: Request) => Response | Promise<Response>)>()
  const requests: CalendarServer['requests'] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url)
      requests.push({ path: pathname, headers: request.headers.toJSON() as Record<string, string> })
      const respond = responses.get(pathname)
      if (respond === undefined) return new Response('Not here', { status: 404 })
      if (typeof respond === 'string')
        return new Response(respond, { headers: { 'content-type': 'text/calendar' } })
      return respond(request)
    },
  })
  onEnd(() => server.stop(true))
  return {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    serve: (path, respond) => responses.set(path, respond),
  }
}

/** Returns an iCalendar file with one event for each range of nights `[start, end)`. */
export function calendarOf(ranges: [start: string, end: string][]): string {
  const events = ranges.flatMap(([start, end], index) => [
    'BEGIN:VEVENT',
    `UID:${index}@example.com`,
    'SUMMARY:Reserved',
    `DTSTART;VALUE=DATE:${start.replaceAll('-', '')}`,
    `DTEND;VALUE=DATE:${end.replaceAll('-', '')}`,
    'END:VEVENT',
  ])
  return ['BEGIN:VCALENDAR', 'VERSION:2.0', ...events, 'END:VCALENDAR', ''].join('\r\n')
}

/** Returns the date that is `days` days from today. */
export function dayFromNow(days: number, now = new Date()): string {
  return addDays(toDay(now), days)
}

/** A listing with rooms, each with the address of a calendar or without one. */
export interface ListingWithCalendars {
  listing_id: number
  room_type_id: number
  user_id: number
  roomIds: number[]
}

/** Creates a guest, and a listing whose only room type has a room for each address. */
export async function listingWithCalendars(
  actor: Pick<Actor, 'send'>,
  urls: (string | null)[],
  prefix: '/v1' | '/sandbox' = '/v1',
): Promise<ListingWithCalendars> {
  const { password: _, ...guest } = await readFixture('users/maria')
  const user = await actor.send('POST', `${prefix}/users`, {
    body: { ...guest, email: `${crypto.randomUUID()}@example.com` },
  })
  const rooms = urls.map((ical, index) => ({
    id: `r${index}`,
    name: `Room ${index}`,
    availability: { ical },
  }))
  const body = {
    original_id: crypto.randomUUID(),
    name: 'House',
    room_types: [{ id: 'type', name: 'Room', prices: { base_price: 900 }, rooms }],
  }
  const written = await actor.send('POST', `${prefix}/listings`, { body })
  const [roomType] = written.body.data.room_types
  return {
    listing_id: written.body.data.id,
    room_type_id: roomType.id,
    user_id: user.body.data.user_id,
    roomIds: roomType.rooms.map(({ id }: { id: number }) => id),
  }
}
