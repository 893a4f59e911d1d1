import { Elysia } from 'elysia'
import type { Logger } from 'pino'
import type { RequestMetrics } from '../context.ts'
import { dropBody } from './body.ts'
import type { Caller } from './caller.ts'
import { heldMilliseconds } from './held-requests.ts'

interface LoggedContext {
  request: Request
  route: string
  response?: unknown
  responseValue?: unknown
  set: { status?: number | string; headers: Record<string, string | number | undefined> }
  caller?: Caller
}

/** One line and one observation per request: id, host, key, route, status, duration in milliseconds without the time it was held; never a header or body. */
export function requestLog(log: Logger, metrics: RequestMetrics) {
  const startedAt = new WeakMap<Request, number>()
  // The line below contains nothing to redact, and searching it costs as much as writing it.
  const lines = log.child({}, { redact: [] })
  return new Elysia({ name: 'request-log' })
    .onRequest(({ request }) => {
      startedAt.set(request, performance.now())
    })
    .onAfterResponse({ as: 'global' }, (raw) => {
      const context = raw as unknown as LoggedContext
      const { request, set, caller } = context
      dropBody(request)
      const response = context.responseValue ?? context.response
      const status = response instanceof Response ? response.status : Number(set.status ?? 200)
      const held = heldMilliseconds(request)
      const milliseconds = performance.now() - (startedAt.get(request) ?? performance.now()) - held
      // Unknown paths form one series, however many are tried; a path may be anything, even a key.
      const route = context.route || 'none'
      metrics.observeRequest(request.method, route, status, milliseconds / 1000)
      lines.info({
        request_id: set.headers['x-request-id'],
        host_id: caller?.hostId,
        key_id: caller?.keyId,
        method: request.method,
        route,
        status,
        duration_ms: Math.round(milliseconds * 10) / 10,
        ...(held > 0 ? { held_ms: Math.round(held) } : {}),
      })
    })
}
