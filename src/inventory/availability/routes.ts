import { toVersion } from '../../host-clock/format.ts'
import { Confirmation, Envelope, ok } from '../../http/answer/envelope.ts'
import { streamJson } from '../../http/answer/send.ts'
import type { AppContext } from '../../http/context.ts'
import { pagination, toPageRequest } from '../../http/input/pagination.ts'
import { routes } from '../../http/route.ts'
import { sentAvailability } from './availability-write.ts'
import { findAvailabilityPage, streamAvailability } from './read.ts'
import { findSentRows } from './rows.ts'
import {
  Availabilities,
  AvailabilityPagination,
  AvailabilityQuery,
  AvailabilityWrite,
  availabilityMeta,
  defaultPerPage,
} from './schema.ts'

/** Defines the routes that read and write the availability of room types (contract, Endpoints; decisions §8). */
export function availabilityRoutes(app: AppContext) {
  return routes(app, { prefix: '/integrations/:provider/availability', tags: ['Availability'] })
    .get(
      '',
      {
        access: { permission: 'listings.read', provider: true, errors: ['not_found'] },
        query: AvailabilityQuery,
        response: { 200: Envelope(Availabilities, { pagination: AvailabilityPagination }) },
        detail: { operationId: 'getAvailability', summary: 'Read availability' },
      },
      async (context) => {
        const page = toPageRequest(context.query, defaultPerPage)
        const { listings, total } = await findAvailabilityPage(
          app.db,
          context.caller.ownerId,
          context.query,
          page,
        )
        const { from: _, to: __, ...pages } = pagination(page, total, 0)
        const { meta } = ok(context, null, { pagination: pages })
        const chunks = streamAvailability(app.db, context.caller.ownerId, context.query, { listings, meta })
        return streamJson(app, context, chunks)
      },
    )
    .post(
      '',
      {
        access: {
          permission: 'listings.write',
          provider: true,
          body: 'bulk',
          errors: ['invalid_ids'],
        },
        body: AvailabilityWrite,
        current: async ({ caller, body }) => ({
          data: await findSentRows(app.db, caller.ownerId, body.data),
        }),
        response: { 200: Envelope(Confirmation, availabilityMeta) },
        detail: { operationId: 'updateAvailability', summary: 'Write availability in bulk' },
      },
      {
        write: sentAvailability,
        input: ({ body }) => body.data,
        respond: (request, { newestVersion }) => ({
          status: 200,
          envelope: ok(
            request,
            { message: 'Availability updated' },
            { newest_version: newestVersion && toVersion(newestVersion) },
          ),
        }),
        afterCommit(_, { isCompactionDue }) {
          if (isCompactionDue) app.outbox.wake()
        },
      },
    )
}
