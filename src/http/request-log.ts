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
 * Writes one log line per request with id, host, key, route, status, and duration in milliseconds excluding the time it
 * was held, but never a header or body. Also records one metric and an entry in the key's journal.
 */
export function requestLog({
  log,
  metrics,
  journal,
  clock,
}: Pick<AppContext, 'log' | 'metrics' | 'journal' | 'clock'>) {
  // The line below contains nothing to redact, and searching it would cost as much as writing it.
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
      // All unknown paths share one series. They may be numerous and contain anything, even a key.
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
        // For other requests, the address is in their key's journal.
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

/** Returns the status that was sent, or that a lost response would have had; 0 for a lost request. */
function statusOf({ responseValue, response, set }: LoggedContext, { fault }: Outcome): number {
  if (fault === 'lost_request') return 0
  const sent = responseValue ?? response
  return sent instanceof Response ? sent.status : Number(set.status ?? 200)
}
