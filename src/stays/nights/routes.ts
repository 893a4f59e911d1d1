import { Envelope, ok } from '../../http/answer/envelope.ts'
import type { AppContext } from '../../http/context.ts'
import { routes } from '../../http/route.ts'
import { findNights } from './nights.ts'
import { NightsByRoomType, NightsQuery } from './schema.ts'

/** Defines the route that reads how many units are left on each night (decisions §20). */
export function nightRoutes(app: AppContext) {
  return routes(app, { prefix: '/integrations/:provider/availability', tags: ['Availability'] }).get(
    '/nights',
    {
      access: { permission: 'listings.read', provider: true, errors: ['not_found'] },
      query: NightsQuery,
      response: { 200: Envelope(NightsByRoomType) },
      detail: { operationId: 'getNights', summary: 'Read the number of units left on each night' },
    },
    async (context) => ok(context, { nights: await findNights(app, context.caller.ownerId, context.query) }),
  )
}
