import { Elysia } from 'elysia'
import { hook } from '../arrival.ts'
import type { AppContext } from '../context.ts'
import { releaseBody } from '../input/body.ts'
import { clientNetwork } from '../input/client-address.ts'
import { loggedPath } from '../logged-path.ts'
import type { RequestEntry, RequestFacts, ShownError } from '../request.ts'
import { splitRoot } from '../roots.ts'
import { shownErrorOf } from './error-response.ts'

interface AnsweredContext {
  request: Request
  route: string
  path: string
  facts: RequestFacts
  error?: unknown
  response?: unknown
  responseValue?: unknown
  set: { status?: number | string; headers: Record<string, string | number | undefined> }
}

/** Both environments. Live data's context holds what they share: log, metrics and journal. */
interface Recording {
  live: Pick<AppContext, 'log' | 'metrics' | 'journal' | 'activity' | 'clock'>
  sandbox: Pick<AppContext, 'activity' | 'clock'>
}

/**
 * The last step of every request, once its response has been sent, whether a route has taken it or not:
 *
 * 1. One line in the log: id, host, key, route, status and duration in milliseconds, excluding the time for which the
 *    request was held. The line never contains headers or a body. The metrics count the request too.
 * 2. If its key is known, how a write has ended (decisions §29), and an entry in the key's journal (decisions §18); if
 *    authentication failed, a count for the client's network.
 */
export function recordRequests({ live, sandbox }: Recording) {
  const { metrics, journal } = live
  // The log line contains nothing to redact, and searching it for secrets would cost as much as writing it.
  const lines = live.log.child({}, { redact: [] })
  const record = (context: AnsweredContext) => {
    const { trace, served, visit, at, incomingBody, heldMilliseconds } = context.facts
    releaseBody(incomingBody)
    const entry = toEntry(context)
    const route = routeOf(context)
    const { method, status } = entry
    const ids = { host_id: served?.key?.hostId, key_id: served?.key?.id }
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
      ...(status === 401 ? { address: served?.address } : {}),
      ...(heldMilliseconds > 0 ? { held_ms: Math.round(heldMilliseconds) } : {}),
    })
    if (!served) return
    const { key, operationId, readsOwnKey, isCounted, isUnauthenticated } = served
    if (isUnauthenticated) journal.countFailure(clientNetwork(entry.address), entry)
    if (!key) return
    const ownerId = entry.sandbox ? visit?.ownerId : key.hostId
    // A write to a sandbox that does not exist yet is not noted.
    if (ownerId !== undefined)
      noteOutcome(entry.sandbox ? sandbox : live, { keyId: key.id, ownerId, operationId, at }, entry)
    journal.record(key, entry, { isListed: status >= 400 || !readsOwnKey, isCounted })
  }
  return new Elysia({ name: 'record' }).onAfterResponse(
    { as: 'global' },
    hook(({ request, route, path, facts, error, response, responseValue, set }: AnsweredContext) =>
      record({ request, route, path, facts, error, response, responseValue, set }),
    ),
  )
}

/** Refusals that say nothing about what was sent: they depend on the key's state, on other writers, or on the pace. */
const passingRefusals = [401, 409, 429]

/** Notes how a write ended, for `writes_refused` (decisions §29). */
function noteOutcome(
  { activity, clock }: Pick<AppContext, 'activity' | 'clock'>,
  { keyId, ownerId, operationId, at }: { keyId: number; ownerId: number; operationId: string; at: Date },
  { method, status, replayed }: RequestEntry,
): void {
  if (method === 'GET' || method === 'HEAD') return
  const hasSucceeded = replayed || (status >= 200 && status < 400)
  const isRefused = !hasSucceeded && status >= 400 && status < 500 && !passingRefusals.includes(status)
  if (!hasSucceeded && !isRefused) return
  // A sandbox's clock may be ahead.
  const lead = clock(ownerId).getTime() - clock().getTime()
  activity.noteWrite({ keyId, ownerId }, operationId, {
    isRefused,
    at: new Date(at.getTime() + lead),
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
function routeOf({ route }: AnsweredContext): string {
  return route || 'none'
}

/** Returns the journal entry for a completed request. */
function toEntry(context: AnsweredContext): RequestEntry {
  const { request, path, set, facts } = context
  const route = routeOf(context)
  const { at, startedAt, answeredAt = performance.now(), served, visit } = facts
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
    address: served?.address ?? '',
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
