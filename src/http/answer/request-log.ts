import { Elysia } from 'elysia'
import type { AppContext } from '../context.ts'
import { withFacts } from '../facts.ts'
import { releaseBody } from '../input/body.ts'
import { clientNetwork } from '../input/client-address.ts'
import { loggedPath } from '../logged-path.ts'
import type { RequestEntry, RequestFacts, ShownError } from '../request.ts'
import { splitRoot } from '../roots.ts'
import { shownErrorOf } from './error-response.ts'

interface LoggedContext {
  request: Request
  route: string
  path: string
  facts: RequestFacts
  error?: unknown
  response?: unknown
  responseValue?: unknown
  set: { status?: number | string; headers: Record<string, string | number | undefined> }
}

/**
 * Writes one log line per request: id, host, key, route, status and duration in milliseconds, excluding the time for
 * which the request was held. The line never contains headers or a body. Also records metrics and, if the key is known,
 * an entry in the key's journal.
 */
export function requestLog({ log, metrics, journal }: Pick<AppContext, 'log' | 'metrics' | 'journal'>) {
  // The log line contains nothing to redact, and searching it for secrets would cost as much as writing it.
  const lines = log.child({}, { redact: [] })
  return new Elysia({ name: 'request-log' }).onAfterResponse({ as: 'global' }, (raw) => {
    const context: LoggedContext = withFacts(raw)
    const { facts } = context
    const { trace, key, heldMilliseconds } = facts
    releaseBody(facts.incomingBody)
    const entry = toEntry(context)
    const route = routeOf(context)
    const { method, status } = entry
    const ids = { host_id: key?.hostId, key_id: key?.id }
    trace?.note?.({ request: { method, route }, status, ...ids })
    trace?.end?.(status >= 500)
    metrics.observeRequest(method, route, status, entry.duration_ms / 1000)
    lines.info({
      request_id: entry.request_id ?? undefined,
      trace_id: trace?.traceparent.slice(3, 35),
      ...ids,
      method,
      route,
      status,
      duration_ms: entry.duration_ms,
      // The address of a request with a usable key is in the key's journal.
      ...(status === 401 ? { address: facts.address } : {}),
      ...(heldMilliseconds > 0 ? { held_ms: Math.round(heldMilliseconds) } : {}),
    })
    if (facts.isUnauthenticated) journal.countFailure(clientNetwork(entry.address), entry)
    if (!key) return
    facts.noteOutcome?.({ status: entry.status, isReplayed: entry.replayed })
    journal.record(key, entry, {
      isListed: status >= 400 || !facts.readsOwnKey,
      isCounted: facts.isCounted ?? false,
    })
  })
}

/** Maximum number of problems that the log keeps per error. */
export const loggedProblems = 20
/** Maximum number of characters that the log keeps per message. */
export const loggedCharacters = 300

/**
 * Returns the matched route's path pattern; `none` for all unknown paths, because their number is unlimited and a path
 * may contain an API key.
 */
function routeOf({ route }: LoggedContext): string {
  return route || 'none'
}

/** Returns the journal entry for a completed request. */
function toEntry(context: LoggedContext): RequestEntry {
  const { request, path, set, facts } = context
  const route = routeOf(context)
  const { at, startedAt, answeredAt = performance.now(), address = '', visit } = facts
  const failure = shownErrorOf(facts.error ?? context.error)
  const response = context.responseValue ?? context.response
  const isResponse = response instanceof Response
  const status = isResponse ? response.status : Number(set.status ?? 200)
  const taken = answeredAt - startedAt - facts.heldMilliseconds
  return {
    at,
    request_id: (set.headers['x-request-id'] as string | undefined) ?? null,
    method: request.method,
    path: loggedPath(route, path),
    status: visit?.lostStatus ?? status,
    error: failure && shortenFailure(failure),
    duration_ms: Math.round(taken * 10) / 10,
    replayed: isResponse && response.headers.has('idempotent-replayed'),
    sandbox: splitRoot(route).environment === 'sandbox',
    address,
    fault: visit?.shownFault ?? null,
  }
}

/** Shortens a failure to the number of problems and characters that the log keeps. */
export function shortenFailure({ type, message, errors }: ShownError): ShownError {
  const problems = errors.slice(0, loggedProblems)
  return {
    type,
    message: cut(message),
    errors: problems.map((problem) => ({ ...problem, message: cut(problem.message) })),
  }
}

function cut(text: string): string {
  return text.length > loggedCharacters ? `${text.slice(0, loggedCharacters - 1)}…` : text
}
