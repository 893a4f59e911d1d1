import { Envelope, ok, type ResponseContext } from '../../../http/answer/envelope.ts'
import type { AppContext } from '../../../http/context.ts'
import { routes } from '../../../http/route.ts'
import { sentRates } from './rates-write.ts'
import { RateJobView, RatesAccepted, RatesWrite } from './schema.ts'
import { serializeRateJob } from './serialize.ts'
import { findRateJob } from './store.ts'

/**
 * Defines the routes that write rates (contract, Endpoints; decisions §8) and read a write's status (decisions §20).
 */
export function rateRoutes(app: AppContext) {
  return routes(app, { prefix: '/integrations/:provider/rates', tags: ['Rates'] })
    .post(
      '',
      {
        access: {
          permission: 'listings.write',
          provider: true,
          body: 'bulk',
          errors: ['invalid_ids'],
        },
        body: RatesWrite,
        response: { 200: RatesAccepted },
        detail: { operationId: 'updateRates', summary: 'Write rates in bulk' },
      },
      {
        write: sentRates,
        input: ({ body }) => body.data,
        respond: (request, jobId) => ({ status: 200, envelope: acceptance(request, jobId) }),
      },
    )
    .get(
      '/jobs/:id',
      {
        access: { permission: 'listings.write', provider: true, errors: ['not_found'] },
        response: { 200: Envelope(RateJobView) },
        detail: { operationId: 'getRateJob', summary: 'Read the status of a rates write' },
      },
      async (context) => {
        const id = context.params.id
        return ok(
          context,
          serializeRateJob(
            await findRateJob(app.db, context.caller.ownerId, id, app.clock(context.caller.ownerId)),
          ),
        )
      },
    )
}

function acceptance(context: ResponseContext, jobId: number) {
  return ok(context, { message: 'Rates update accepted for background processing' }, { job_id: jobId })
}
