import { toVersion } from '../../host-clock/format.ts'
import { Confirmation, Envelope, ok } from '../../http/answer/envelope.ts'
import { streamJson } from '../../http/answer/send.ts'
import type { AppContext } from '../../http/context.ts'
import { Writer } from '../../http/idempotency/writer.ts'
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
  const write = new Writer(app, sentAvailability)
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
          idempotent: true,
          errors: ['invalid_ids'],
        },
        body: AvailabilityWrite,
        current: async ({ caller, body }) => ({
          data: await findSentRows(app.db, caller.ownerId, body.data),
        }),
        response: { 200: Envelope(Confirmation, availabilityMeta) },
        detail: { operationId: 'updateAvailability', summary: 'Write availability in bulk' },
      },
      async (context) => {
        let isCompactionDue = false
        const response = await write.answer(context, context.body.data, (written) => {
          isCompactionDue = written.isCompactionDue
          const newest_version = written.newestVersion && toVersion(written.newestVersion)
          return {
            status: 200,
            envelope: ok(context, { message: 'Availability updated' }, { newest_version }),
          }
        })
        if (isCompactionDue) app.outbox.wake()
        return response
      },
    )
}
