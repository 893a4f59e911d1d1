import type { Logger } from 'pino'
import { DomainError, type ErrorKind } from '../../core/errors.ts'
import { ClockSkewError } from '../../platform/mongo/clock-watch.ts'
import { busy, isPoolFull, isUnreachable } from '../../platform/mongo/errors.ts'
import { releaseBody } from '../input/body.ts'
import { maxProblems } from '../input/schema/problems.ts'
import { loggedPath } from '../logged-path.ts'
import type { RequestFacts, ResponseSettings, ShownError } from '../request.ts'
import { jsonContentType, requestIdOf } from './envelope.ts'
import { wrongMethod } from './other-methods.ts'
import { agentsLink } from './security-headers.ts'

/** Status and `error.type` of each kind of error (contract, Errors). */
const responses: Record<ErrorKind, { status: number; type: string }> = {
  validation: { status: 422, type: 'validation_error' },
  invalid_ids: { status: 400, type: 'validation_error' },
  body_too_large: { status: 413, type: 'validation_error' },
  body_too_slow: { status: 408, type: 'validation_error' },
  auth: { status: 401, type: 'auth_error' },
  forbidden: { status: 403, type: 'forbidden' },
  not_found: { status: 404, type: 'not_found' },
  unsupported_provider: { status: 404, type: 'unsupported_provider' },
  conflict: { status: 409, type: 'conflict' },
  listing_conflict: { status: 409, type: 'conflict_error' },
  idempotency_mismatch: { status: 409, type: 'idempotency_key_mismatch' },
  rate_limit: { status: 429, type: 'rate_limit_error' },
  internal: { status: 500, type: 'internal_error' },
}

/** The error that clients get for any internal failure, whatever its cause. */
export const unexpected = new DomainError('internal', 'An unexpected error occurred')

/** An error that carries a complete response, which an environment sends instead of the route's own. */
export class ReadyResponse extends Error {
  override readonly name = 'ReadyResponse'

  /** @param make builds the response from the headers that every response has */
  constructor(readonly make: (headers: Record<string, string>) => Response) {
    super('Response from the environment')
  }
}

/**
 * `Retry-After` for a temporary failure: about the time that an election or a restart of the embedded database takes.
 */
const unreachableSeconds = 5

/** The parts of a failed request's context that its error response is made of. */
export interface FailureContext {
  set: ResponseSettings
  /** Elysia's code of an error that it threw itself. */
  code?: unknown
  error: unknown
  request: Request
  facts: Pick<RequestFacts, 'incomingBody'>
  /** Path pattern of the matched route. */
  route?: string | undefined
}

/**
 * Converts any thrown error to an `{ error }` response; no other code does this. Unexpected errors are logged with
 * their cause and reported with a fixed message, so that no internal details reach the client.
 *
 * @param methodsAt returns the methods of the routes at a path
 */
export function toErrorResponse(
  context: FailureContext,
  log: Logger,
  methodsAt: (path: string) => string[] = () => [],
): Response {
  const { error: thrown, set, request } = context
  releaseBody(context.facts.incomingBody)
  if (thrown instanceof ReadyResponse) return thrown.make({ ...set.headers } as Record<string, string>)
  const methods = isUnrouted(context) ? methodsAt(new URL(request.url).pathname) : []
  const isWrongMethod = methods.length > 0 && !methods.includes(request.method)
  const known = isWrongMethod ? wrongMethod(request, methods) : toDomainError(context)
  if (!known) {
    // A malformed path parameter may contain an API key.
    const path = loggedPath(context.route ?? '', new URL(request.url).pathname)
    const where = { request_id: requestIdOf(context), method: request.method, path }
    // Without a message here, the line would repeat the error's own message, which may quote a stored value.
    log.error({ err: thrown, ...where }, 'An unexpected error')
  }
  const { status, type, message, errors } = describeError(known ?? unexpected)
  set.status = status
  const headers = { ...set.headers, ...(isUnrouted(context) ? agentsLink : {}) } as Record<string, string>
  const wait = known?.retryAfterSeconds ?? (isTemporary(thrown) ? unreachableSeconds : undefined)
  headers['content-type'] = jsonContentType
  if (isWrongMethod && known?.kind === 'not_found') headers.allow = methods.join(', ')
  if (wait) headers['retry-after'] = String(wait)
  const requestId = requestIdOf(context)
  const error = { type, message, ...(requestId === undefined ? {} : { request_id: requestId }), errors }
  return Response.json({ error }, { status, headers })
}

/** Returns a thrown error as its response reports it; null if there is no error or it is a {@link ReadyResponse}. */
export function shownErrorOf(error: unknown): ShownError | null {
  if (!(error instanceof Error) || error instanceof ReadyResponse) return null
  const { type, message, errors } = describeError(toDomainError({ error }) ?? unexpected)
  return { type, message, errors }
}

/** Returns true if no route has taken the request, or the route that did has no such page. */
function isUnrouted({ code }: { code?: unknown }): boolean {
  return code === 'NOT_FOUND'
}

/** Returns true if the same request may soon succeed, in this process or another. */
function isTemporary(error: unknown): boolean {
  return isUnreachable(error) || error instanceof ClockSkewError
}

/** Returns the status and the fields of an error's response, as the contract specifies them. */
export function describeError(error: DomainError) {
  return {
    ...responses[error.kind],
    message: error.message,
    errors: error.problems.slice(0, maxProblems),
  }
}

function toDomainError({
  code,
  error,
}: Pick<FailureContext, 'error'> & { code?: unknown }): DomainError | undefined {
  if (error instanceof DomainError) return error
  // One key's load can cause this, so it must not count as an error of the service (decisions §1).
  if (isPoolFull(error)) return busy()
  if (isUnrouted({ code })) return new DomainError('not_found', 'No such route; see /llms.txt')
  return undefined
}
