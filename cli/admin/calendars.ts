import { findHost } from '../../src/access/hosts/store.ts'
import { findCalendarsPage } from '../../src/inventory/calendars/store.ts'
import { serializeEntry } from '../../src/stays/calendars/serialize.ts'
import type { ListOfHost } from '../shared/calendars.ts'
import { withDatabase } from './administer.ts'

/**
 * Reads the calendars of a host from the database.
 *
 * @throws DomainError `not_found` for an unknown host
 */
export const listOfHost: ListOfHost = (host, { listingId, statuses = [] }, limit) =>
  withDatabase(async ({ db, clock }) => {
    const { id } = await findHost(db, host)
    const page = { page: 1, perPage: limit }
    const { calendars } = await findCalendarsPage(db, id, { listingId, statuses }, page)
    return calendars.map((calendar) => {
      const { url: _, ...entry } = serializeEntry({ clock, environment: { name: 'live' } }, calendar)
      return { host_id: id, ...entry, origin: calendar.origin }
    })
  })
