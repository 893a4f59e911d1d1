import type { Schemas } from '../../client/src/index.ts'

/** The statuses that the calendar of a room can have (decisions §31). */
export const calendarStatuses = ['waiting', 'ok', 'holding', 'failing'] as const

/** A calendar as an administrator sees it: its address is the host's secret, so only the origin is shown (§31). */
export type CalendarOfHost = Omit<Schemas['CalendarEntry'], 'url'> & { host_id: number; origin: string }

/** Which calendars to list. */
export interface CalendarSearch {
  listingId?: number | undefined
  statuses?: (typeof calendarStatuses)[number][] | undefined
}

/**
 * Returns at most `limit` calendars of a host, by listing, room type and room, for an administrator.
 *
 * @param host id or e-mail address of the host
 */
export type ListOfHost = (host: string, search: CalendarSearch, limit: number) => Promise<CalendarOfHost[]>

/** What `calendars` does in the service's installation only. */
export interface CalendarAdministration {
  listOfHost(): Promise<ListOfHost>
}
