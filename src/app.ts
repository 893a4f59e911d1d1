import { Elysia } from 'elysia'
import { hostRoutes } from './access/hosts/routes.ts'
import { keyRoutes } from './access/keys/routes.ts'
import { providerKeyRoutes } from './access/provider-keys/routes.ts'
import { requestRoutes } from './access/requests/routes.ts'
import { jwksRoutes } from './certification/report.ts'
import { certificationRoutes } from './certification/routes.ts'
import { consumerRoutes } from './changes/consumers/routes.ts'
import { digestRoutes } from './changes/digest/routes.ts'
import { feedRoutes } from './changes/feed/routes.ts'
import { integrationHealthRoutes } from './changes/health/routes.ts'
import { webhookRoutes } from './changes/webhooks/manage/routes.ts'
import { type FailureContext, toErrorResponse } from './http/answer/error-response.ts'
import { methodsByPath } from './http/answer/other-methods.ts'
import { recordRequests } from './http/answer/record.ts'
import { answeringUnread, arrive, factsOnArrival, hook, inTrace } from './http/arrival.ts'
import type { AppContext } from './http/context.ts'
import type { RequestFacts, ResponseSettings } from './http/request.ts'
import { roots } from './http/roots.ts'
import { mount, type Routes } from './http/route.ts'
import { availabilityRoutes } from './inventory/availability/routes.ts'
import { rateRoutes } from './inventory/listings/rates/routes.ts'
import { listingRoutes } from './inventory/listings/routes.ts'
import { consoleRoutes } from './pages/console/routes.ts'
import { docsRoutes } from './pages/docs/routes.ts'
import { downloadRoutes } from './pages/downloads/routes.ts'
import { guideRoutes } from './pages/guide/routes.ts'
import { securityTextRoutes } from './pages/security-txt.ts'
import { ConnectionAges } from './process/connection-ages.ts'
import { healthRoutes } from './process/health.ts'
import { metricsRoutes } from './process/scrape.ts'
import type { OpenContext } from './process/wiring.ts'
import { clockRoutes } from './sandbox/clock/routes.ts'
import { operationsOf } from './sandbox/faults/operations.ts'
import { faultRoutes } from './sandbox/faults/routes.ts'
import { sandboxRoutes } from './sandbox/routes.ts'
import { scenarioRoutes } from './sandbox/scenarios/routes.ts'
import { bookingRoutes } from './stays/bookings/routes.ts'
import { findBooking } from './stays/bookings/store.ts'
import { calendarRoutes } from './stays/calendars/routes.ts'
import { messageRoutes } from './stays/messages/routes.ts'
import { nightRoutes } from './stays/nights/routes.ts'
import { userRoutes } from './stays/users/routes.ts'

/**
 * Creates the whole service as an Elysia app; the caller decides where it listens.
 *
 * @param drain aborted when the process starts to shut down
 */
export function createApp(
  { live, sandbox, metrics }: Pick<OpenContext, 'live' | 'sandbox' | 'metrics'>,
  drain?: AbortSignal,
  ages = new ConnectionAges(),
) {
  const { log, config } = live
  drain?.addEventListener('abort', () => live.heldRequests.end())
  const methodsAt = methodsByPath(() => app.routes)
  // Elysia neither parses nor checks the pipeline's routes, and its normalization would turn null or a list into `{}`.
  const app = new Elysia({
    systemRouter: false,
    normalize: false,
    // Elysia searches for the start of a URL's path from the 8th character onwards, or from the 12th with
    // `standardHostname`. Over HTTP, a host name may be as short as `api`. Over HTTPS, the 8th character is still part
    // of `//`.
    handler: { standardHostname: config.tls !== null },
  })
    .onError(
      hook(({ request, route, set, code, error, facts }: FailureContext) =>
        toErrorResponse({ request, route, set, code, error, facts }, log, methodsAt),
      ),
    )
    .use(recordRequests({ live, sandbox }))
    .onRequest(
      hook((context: ArrivingContext) => {
        const { request, set } = context
        context.facts = factsOnArrival(request, live)
        const peer = app.server?.requestIP(request)
        const isOld = peer ? ages.isOld(peer) : false
        arrive({ request, set }, live, isOld || (drain?.aborted ?? false))
      }),
    )
    .use(healthRoutes(live, drain))
    .use(metricsRoutes(live, metrics))
    .use(jwksRoutes(live))
    .use(securityTextRoutes(live))
    .use(mount(roots.live, sharedRoutes(live)))
    .use(
      mount(roots.sandbox, [
        ...sharedRoutes(sandbox),
        sandboxRoutes(sandbox),
        scenarioRoutes(sandbox),
        clockRoutes(sandbox),
        certificationRoutes(sandbox),
        faultRoutes(sandbox, () => operations),
      ]),
    )
  const operations = operationsOf(app.routes)
  const findServer = () => app.server
  app.wrap(inTrace(live, findServer))
  app.wrap(answeringUnread(findServer))
  return app
    .use(guideRoutes(config))
    .use(consoleRoutes(config))
    .use(downloadRoutes(live))
    .use(docsRoutes(config, () => app))
}

/** The context of a request that has just arrived, and has no facts yet. */
interface ArrivingContext {
  request: Request
  set: ResponseSettings
  facts: RequestFacts | undefined
}

/** The routes that live data and the sandbox share, a list for each feature. */
function sharedRoutes(app: AppContext): Pick<Routes, 'declared'>[] {
  return [
    hostRoutes(app),
    keyRoutes(app),
    requestRoutes(app),
    userRoutes(app),
    listingRoutes(app),
    bookingRoutes(app),
    messageRoutes(app, findBooking),
    providerKeyRoutes(app),
    availabilityRoutes(app),
    nightRoutes(app),
    rateRoutes(app),
    calendarRoutes(app),
    feedRoutes(app),
    digestRoutes(app),
    consumerRoutes(app, 'bookings'),
    consumerRoutes(app, 'messages'),
    integrationHealthRoutes(app),
    webhookRoutes(app),
  ]
}
