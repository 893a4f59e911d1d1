import { Elysia } from 'elysia'
import type { OpenContext } from './compose.ts'
import { consoleRoutes } from './console/routes.ts'
import { docsRoutes } from './docs/routes.ts'
import { isBodyToRefuse } from './http/body.ts'
import { toErrorResponse } from './http/error-response.ts'
import { chooseRequestId } from './http/request-id.ts'
import { requestLog } from './http/request-log.ts'
import { roots } from './http/roots.ts'
import { securityHeaders } from './http/security-headers.ts'
import { sandboxRoutes } from './sandbox/routes.ts'
import { healthRoutes } from './server/health.ts'
import { metricsRoutes } from './server/metrics.ts'
import { v1Routes } from './v1.ts'

/** The whole service as a function from `Request` to `Response`; listens to nothing by itself. */
export function createApp(
  { live, sandbox, metrics }: Pick<OpenContext, 'live' | 'sandbox' | 'metrics'>,
  drain?: AbortSignal,
) {
  const { log, config } = live
  drain?.addEventListener('abort', () => live.heldRequests.end())
  // Elysia's normalizing runs before validation and would make `{}` of a null or a list; `normalize()` runs after.
  const app = new Elysia({
    systemRouter: false,
    normalize: false,
    // Host names may be as short as `api`.
    handler: { standardHostname: false },
  })
    .onRequest(({ request, set }) => {
      // Close the connection unless the guard reads the body (see guard.ts).
      if (drain?.aborted || isBodyToRefuse(request)) set.headers.connection = 'close'
      Object.assign(set.headers, securityHeaders)
      if (config.requestIds) set.headers['x-request-id'] = chooseRequestId(request.headers)
    })
    .onError((context) => toErrorResponse(context, log))
    .use(requestLog(live))
    .use(healthRoutes(live, drain))
    .use(metricsRoutes(live, metrics))
    .group(roots.live, (v1) => v1.use(v1Routes(live)))
    .group(roots.sandbox, (environment) => environment.use(v1Routes(sandbox)).use(sandboxRoutes(sandbox)))
  return app.use(consoleRoutes()).use(docsRoutes(config, () => app))
}
