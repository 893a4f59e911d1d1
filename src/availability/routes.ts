import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { door } from '../http/door.ts'
import { Envelope, ok, PageEnvelope } from '../http/envelope.ts'
import { pageQuery, pagination, toPageRequest } from '../http/pagination.ts'
import { respondInPieces } from '../http/pieces.ts'
import { normalize } from '../schema/normalize.ts'
import { requestObject } from '../schema/types.ts'
import { findAvailabilityPage } from './read.ts'
import {
  Accepted,
  Availabilities,
  AvailabilityPagination,
  AvailabilityWrite,
  availabilityFilters,
} from './schema.ts'
import { serializeAvailability } from './serialize.ts'
import { writeAvailability } from './write.ts'

const defaultPerPage = 100

/** Reads and writes the availability of room types (contract, Endpoints; decisions §8). */
export function availabilityRoutes(deps: Deps) {
  return new Elysia({ prefix: '/integrations/:provider/availability', tags: ['Availability'] })
    .use(door(deps))
    .get(
      '',
      async (context) => {
        const page = toPageRequest(context.query, defaultPerPage)
        const { listings, total } = await findAvailabilityPage(
          deps,
          context.caller.hostId,
          context.query,
          page,
        )
        const { from: _, to: __, ...pages } = pagination(page, total, 0)
        const { meta } = ok(context, null, { pagination: pages })
        const pieces = serializeAvailability(deps.db, context.caller.hostId, listings, context.query, meta)
        return respondInPieces(context, pieces, deps.log)
      },
      {
        access: { permission: 'listings.read', provider: true },
        query: requestObject({ ...pageQuery(defaultPerPage, 500), ...availabilityFilters }),
        response: { 200: PageEnvelope(Availabilities, AvailabilityPagination) },
        detail: { summary: 'Read availability' },
      },
    )
    .post(
      '',
      async (context) => {
        const { data } = normalize(AvailabilityWrite, context.body)
        await writeAvailability(deps, context.caller.hostId, data)
        return ok(context, { message: 'Availability updated' })
      },
      {
        access: { permission: 'listings.write', provider: true, body: 'bulk' },
        body: AvailabilityWrite,
        response: { 200: Envelope(Accepted) },
        detail: { summary: 'Write availability in bulk' },
      },
    )
}
