import { Elysia } from 'elysia'
import type { Deps } from './deps.ts'
import { docsRoutes } from './docs/routes.ts'
import { healthRoutes } from './health.ts'
import { isBodyToRefuse } from './http/body.ts'
import { toErrorAnswer } from './http/error-mapping.ts'
import { chooseRequestId } from './http/request-id.ts'
import { requestLog } from './http/request-log.ts'
import { securityHeaders } from './http/security-headers.ts'
import { metricsRoutes } from './metrics.ts'
import { sandboxRoutes } from './sandbox/routes.ts'
import { v1Routes } from './v1.ts'

/** The whole service as a function from `Request` to `Response`; listens to nothing by itself. */
export function createApp(deps: Deps, sandbox: Deps, drain?: AbortSignal) {
  const { log, config } = deps
  // Elysia's normalizing runs before validation and would make `{}` of a null or a list; `normalize()` runs after.
  const app = new Elysia({
    systemRouter: false,
    normalize: false,
    // Hosts may have names as short as `api`.
    handler: { standardHostname: false },
  })
    .onRequest(({ request, set }) => {
      // Until somebody has read it: what is not asked for must not be read to its end.
      if (drain?.aborted || isBodyToRefuse(request)) set.headers.connection = 'close'
      Object.assign(set.headers, securityHeaders)
      if (config.requestIds) set.headers['x-request-id'] = chooseRequestId(request.headers)
    })
    .onError((context) => toErrorAnswer(context, log))
    .use(requestLog(log, deps.metrics))
    .use(healthRoutes(deps, drain))
    .use(metricsRoutes(deps))
    .group('/v1', (v1) => v1.use(v1Routes(deps)))
    .group('/sandbox', (plot) => plot.use(v1Routes(sandbox)).use(sandboxRoutes(sandbox)))
  return app.use(docsRoutes(config, () => app))
}
