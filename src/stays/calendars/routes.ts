import { Envelope, ok, PageEnvelope } from '../../http/answer/envelope.ts'
import type { AppContext } from '../../http/context.ts'
import { pagination, toPageRequest } from '../../http/input/pagination.ts'
import { output, responseObject } from '../../http/input/schema/fields.ts'
import { routes } from '../../http/route.ts'
import { findCalendarsPage } from '../../inventory/calendars/store.ts'
import { findListing } from '../../inventory/listings/store.ts'
import { checkFile } from './check.ts'
import { readNow } from './read-now.ts'
import {
  Calendar,
  CalendarCheck,
  CalendarEntry,
  CalendarRead,
  CalendarsQuery,
  CheckedCalendar,
  defaultPerPage,
} from './schema.ts'
import { serializeEntry, showCalendar } from './serialize.ts'

const OneCalendar = Envelope(responseObject({ calendar: Calendar }, 'The calendar'))

/** Defines the routes that show, read and check the calendars of rooms (decisions §31). */
export function calendarRoutes(app: AppContext) {
  return routes(app, { prefix: '/integrations/:provider/calendars', tags: ['Calendars'] })
    .get(
      '',
      {
        access: { permission: 'listings.read', provider: true, errors: ['not_found'] },
        query: CalendarsQuery,
        response: {
          200: PageEnvelope(
            responseObject(
              {
                calendars: output.list(
                  'Calendars of this page, one for each room with an address, by listing, room type and room id',
                  CalendarEntry,
                ),
              },
              'The calendars',
            ),
          ),
        },
        detail: { operationId: 'listCalendars', summary: 'List the calendars of rooms' },
      },
      async (context) => {
        const { ownerId } = context.caller
        const { listing_id: listingId, status: statuses = [] } = context.query
        if (listingId !== undefined) await findListing(app.db, ownerId, listingId)
        const page = toPageRequest(context.query, defaultPerPage)
        const found = await findCalendarsPage(app.db, ownerId, { listingId, statuses }, page)
        return ok(
          context,
          { calendars: found.calendars.map((calendar) => serializeEntry(app, calendar)) },
          { pagination: pagination(page, found.total, found.calendars.length) },
        )
      },
    )
    .get(
      '/:room_id',
      {
        access: { permission: 'listings.read', provider: true, errors: ['not_found'] },
        response: { 200: OneCalendar },
        detail: { operationId: 'getCalendar', summary: 'Read what the calendar of a room blocks' },
      },
      async (context) => {
        const calendar = await showCalendar(app, context.caller.ownerId, context.params.room_id)
        return ok(context, { calendar })
      },
    )
    .post(
      '/:room_id/read',
      {
        access: {
          permission: 'listings.write',
          provider: true,
          body: 'optional',
          errors: ['not_found', 'conflict'],
        },
        body: CalendarRead,
        response: { 200: OneCalendar },
        detail: {
          operationId: 'readCalendar',
          summary: 'Read the calendar of a room now',
          description:
            'Fetches the file, which may take 20 s, and responds with the entry, whatever the outcome. Less than 60 s after the last attempt, it responds 409 with `Retry-After`, unless the address is new or `accept` is true. With `accept`, the file is taken as it is, even if many nights are gone. In the sandbox, a calendar is read only in this way, and the times are on the clock of the sandbox',
        },
      },
      async (context) => {
        const { ownerId } = context.caller
        const roomId = context.params.room_id
        await readNow(app, { ownerId, roomId, accepts: context.body.accept ?? false })
        return ok(context, { calendar: await showCalendar(app, ownerId, roomId) })
      },
    )
    .post(
      '/check',
      {
        access: {
          permission: 'listings.read',
          provider: true,
          body: 'file',
          errors: ['not_found', 'conflict'],
        },
        body: CalendarCheck,
        response: { 200: Envelope(CheckedCalendar) },
        detail: {
          operationId: 'checkCalendar',
          summary: 'Check what a calendar file would block',
          description:
            'Reads the text of a file as if it were fetched, and stores nothing. The body may have up to 2 MiB, because JSON escapes line breaks',
        },
      },
      async (context) => ok(context, await checkFile(app, context.caller.ownerId, context.body)),
    )
}
