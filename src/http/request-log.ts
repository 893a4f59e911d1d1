import { Elysia } from 'elysia'
import { dropBody } from './body.ts'
import type { Caller } from './caller.ts'
import type { AppContext } from './context.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import { splitRoot } from './paths.ts'
import { toEntry } from './request-entry.ts'

interface LoggedContext {
  request: Request
  route: string
  path: string
  response?: unknown
  responseValue?: unknown
  set: { status?: number | string; headers: Record<string, string | number | undefined> }
  caller?: Caller
}

/**
 * One line and one observation per request: id, host, key, route, status, duration in milliseconds without the time it
 * was held; never a header or body. Beside them, the entry in the journal of the request's key.
 */
export function requestLog({
  log,
  metrics,
  journal,
  clock,
}: Pick<AppContext, 'log' | 'metrics' | 'journal' | 'clock'>) {
  // The line below contains nothing to redact, and searching it costs as much as writing it.
  const lines = log.child({}, { redact: [] })
  return new Elysia({ name: 'request-log' })
    .onRequest(({ request }) => {
      outcomeOf(request).at = clock()
    })
    .mapResponse({ as: 'global' }, ({ request }) => {
      outcomeOf(request).answeredAt = performance.now()
    })
    .onAfterResponse({ as: 'global' }, (raw) => {
      const context = raw as unknown as LoggedContext
      const { request, set, caller, path } = context
      dropBody(request)
      const outcome = outcomeOf(request)
      const status = statusOf(context, outcome)
      outcome.giveBack?.()
      const held = outcome.heldMilliseconds
      const taken = (outcome.answeredAt ?? performance.now()) - outcome.startedAt - held
      const milliseconds = Math.round(taken * 10) / 10
      const requestId = set.headers['x-request-id'] as string | undefined
      // Unknown paths form one series, however many are tried; a path may be anything, even a key.
      const route = context.route || 'none'
      metrics.observeRequest(request.method, route, status, taken / 1000)
      lines.info({
        request_id: requestId,
        host_id: caller?.hostId,
        key_id: caller?.keyId,
        method: request.method,
        route,
        status,
        duration_ms: milliseconds,
        // Of others the address stands in the entries of their key.
        ...(status === 401 ? { address: outcome.address } : {}),
        ...(held > 0 ? { held_ms: Math.round(held) } : {}),
      })
      if (!outcome.key) return
      const isSandbox = splitRoot(route).environment === 'sandbox'
      const answered = { request, route, path, status, requestId, milliseconds, isSandbox }
      journal.record(outcome.key, toEntry(answered, outcome), {
        isListed: status >= 400 || !outcome.isLook,
        isCounted: outcome.isLimited ?? false,
      })
    })
}

/** What was sent, or would have been: of what a fault touched, the response is not the one that was made. */
function statusOf({ responseValue, response, set }: LoggedContext, { fault }: Outcome): number {
  if (fault === 'lost_request') return 0
  const sent = responseValue ?? response
  return sent instanceof Response ? sent.status : Number(set.status ?? 200)
}
