import { Elysia } from 'elysia'
import type { AppContext } from '../context.ts'
import { Confirmation, Envelope, ok } from '../http/envelope.ts'
import { guard } from '../http/guard.ts'
import { normalize } from '../schema/normalize.ts'
import { acceptRates } from './accept.ts'
import { RatesWrite } from './schema.ts'

/** Accepts rates of room types for background processing (contract, Endpoints; decisions §8). */
export function rateRoutes(app: AppContext) {
  return new Elysia({ prefix: '/integrations/:provider/rates', tags: ['Rates'] }).use(guard(app)).post(
    '',
    async (context) => {
      await acceptRates(app, context.caller.hostId, normalize(RatesWrite, context.body).data)
      app.outbox.wake()
      return ok(context, { message: 'Rates update accepted for background processing' })
    },
    {
      access: { permission: 'listings.write', provider: true, body: 'bulk', errors: ['invalid_ids'] },
      body: RatesWrite,
      response: { 200: Envelope(Confirmation) },
      detail: { operationId: 'updateRates', summary: 'Write rates in bulk' },
    },
  )
}
