import { Elysia } from 'elysia'
import { Accepted } from '../availability/schema.ts'
import type { Deps } from '../deps.ts'
import { door } from '../http/door.ts'
import { Envelope, ok } from '../http/envelope.ts'
import { normalize } from '../schema/normalize.ts'
import { RatesWrite } from './schema.ts'
import { acceptRates } from './store.ts'

/** Accepts rates of room types for background processing (contract, Endpoints; decisions §8). */
export function rateRoutes(deps: Deps) {
  return new Elysia({ prefix: '/integrations/:provider/rates', tags: ['Rates'] }).use(door(deps)).post(
    '',
    async (context) => {
      await acceptRates(deps, context.caller.hostId, normalize(RatesWrite, context.body).data)
      deps.outbox.wake()
      return ok(context, { message: 'Rates update accepted for background processing' })
    },
    {
      access: { permission: 'listings.write', provider: true, body: 'bulk' },
      body: RatesWrite,
      response: { 200: Envelope(Accepted) },
      detail: { summary: 'Write rates in bulk' },
    },
  )
}
