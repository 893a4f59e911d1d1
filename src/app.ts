import { Elysia, NotFoundError } from 'elysia'
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
import { DomainError } from './core/errors.ts'
import { traceOfRequest, withTrace } from './core/trace.ts'
import { chooseRequestId } from './http/answer/envelope.ts'
import { toErrorResponse } from './http/answer/error-response.ts'
import { methodsByPath } from './http/answer/other-methods.ts'
import { requestLog } from './http/answer/request-log.ts'
import { secureTransport, securityHeaders } from './http/answer/security-headers.ts'
import type { AppContext } from './http/context.ts'
import { addFacts, factsOfUnread, withFacts } from './http/facts.ts'
import { clientAddress, isTrustedProxy } from './http/input/client-address.ts'
import { mayStayUnread, UnreadBodies } from './http/input/unread-body.ts'
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

/** Index from which Elysia searches an `https:` URL for the start of its path. */
const shortestTlsPath = 11

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
  const unreadBodies = new UnreadBodies()
  // Elysia neither parses nor checks the pipeline's routes, and its normalization would turn null or a list into `{}`.
  const app = new Elysia({
    systemRouter: false,
    normalize: false,
    // Elysia searches for the start of a URL's path from the 8th character onwards, or from the 12th with
    // `standardHostname`. Over HTTP, a host name may be as short as `api`. Over HTTPS, the 8th character is still part
    // of `//`.
    handler: { standardHostname: config.tls !== null },
  })
    .onError((context) => toErrorResponse(withFacts(context), log, methodsAt))
    .use(requestLog(live))
    .onRequest((context) => {
      const { request, set } = context
      addFacts(context, live)
      const peer = app.server?.requestIP(request)
      const isOld = peer ? ages.isOld(peer) : false
      if (drain?.aborted || isOld) set.headers.connection = 'close'
      Object.assign(set.headers, securityHeaders, config.tls && secureTransport)
      if (config.requestIds) set.headers['x-request-id'] = chooseRequestId(request.headers)
      requireReadablePath(request, config.tls !== null)
    })
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
  app.wrap((handle, request) => {
    const isTrusted = () => {
      const socketAddress = app.server?.requestIP(request)?.address ?? ''
      const client = clientAddress(socketAddress, request.headers, config.trustedProxies)
      return isTrustedProxy(client, config.trustedProxies)
    }
    const trace = traceOfRequest(request.headers.get('traceparent'), isTrusted)
    return trace ? (arrived: Request) => withTrace(trace, () => handle(arrived)) : handle
  })
  app.wrap((handle, request) => {
    if (!mayStayUnread(request)) return handle
    return async (arrived: Request) => {
      const response: unknown = await handle(arrived)
      const body = factsOfUnread(arrived)?.incomingBody
      if (!body || !(response instanceof Response)) return response
      return unreadBodies.respond(body, response, app.server)
    }
  })
  return app
    .use(guideRoutes(config))
    .use(consoleRoutes(config))
    .use(downloadRoutes(live))
    .use(docsRoutes(config, () => app))
}

/**
 * Refuses the requests whose path Elysia would take for another one.
 *
 * @throws DomainError `not_found` if the host name is so short that Elysia looks for the path in the wrong place;
 * NotFoundError for a deletion at a slash
 */
function requireReadablePath(request: Request, isTls: boolean): void {
  if (isTls && request.url.indexOf('/', 'https://'.length) < shortestTlsPath)
    throw new DomainError('not_found', 'This host name is not served')
  if (isDeletionAtSlash(request)) throw new NotFoundError()
}

/**
 * Returns true for a `DELETE` whose path ends in a slash. The runtime resolves dot segments before we see a path, and
 * Elysia ignores a slash at the end, so `DELETE /sandbox/webhooks/..`, with a wrong id, would clear the sandbox.
 */
function isDeletionAtSlash({ method, url }: Request): boolean {
  return method === 'DELETE' && new URL(url).pathname.endsWith('/')
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
