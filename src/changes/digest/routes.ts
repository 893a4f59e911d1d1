import { DomainError } from '../../core/errors.ts'
import { Envelope, ok } from '../../http/answer/envelope.ts'
import type { AppContext } from '../../http/context.ts'
import { responseObject } from '../../http/input/schema/fields.ts'
import { routes } from '../../http/route.ts'
import { findListing } from '../../inventory/listings/store.ts'
import { KeyedQueue } from '../../platform/keyed-queue.ts'
import { Digests } from './answer.ts'
import { DigestQuery, DigestView } from './schema.ts'

/**
 * Maximum time that a request waits for another request with the same key, and then again for another request for the
 * same host.
 */
const patienceMilliseconds = 15_000

const occupied = () =>
  new DomainError('conflict', 'Another digest is being read with this key; try again', [], 1)

/** Route for comparing a partner's bookings with the host's in one request (decisions §23). */
export function digestRoutes(app: AppContext) {
  const digests = new Digests(app.db, patienceMilliseconds)
  // Only one digest per key is computed at a time, so that a partner with many requests does not crowd out others.
  const turns = new KeyedQueue(patienceMilliseconds, occupied)
  return routes(app, { prefix: '/integrations/:provider' }).get(
    '/bookings/digest',
    {
      access: {
        permission: 'bookings.read',
        provider: true,
        conditional: true,
        errors: ['not_found', 'conflict'],
      },
      query: DigestQuery,
      response: { 200: Envelope(responseObject({ digest: DigestView }, 'The digest')) },
      detail: {
        tags: ['Booking feed'],
        operationId: 'digestBookings',
        summary: "Compare your bookings with the host's",
      },
    },
    async (context) => {
      const { caller, query } = context
      if (query.listing_id !== undefined) await findListing(app.db, caller.ownerId, query.listing_id)
      const digest = await turns.run(String(caller.keyId), () => digests.answer(caller.ownerId, query))
      return ok(context, { digest })
    },
  )
}
