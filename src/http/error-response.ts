import type { Logger } from 'pino'
import { DomainError, type ErrorKind } from '../core/errors.ts'
import { ClockSkewError } from '../platform/mongo/clock-watch.ts'
import { isUnreachable } from '../platform/mongo/errors.ts'
import { dropBody } from './body.ts'
import { type ResponseContext, requestIdOf } from './envelope.ts'
import { FaultResponse, PlayedFailure } from './fault.ts'
import { outcomeOf } from './outcome.ts'
import { maxProblems } from './schema/problems.ts'

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
}

/** The response to any failure of our own, whatever its cause. */
export const unexpected = {
  status: 500,
  type: 'internal_error',
  message: 'An unexpected error occurred',
  errors: [],
}

/** `Retry-After` of a temporary failure, about the time that an election or an embedded database's restart takes. */
const unreachableSeconds = 5

interface FailureContext {
  set: ResponseContext['set'] & { status?: number | string }
  code: unknown
  error: unknown
  request: Request
}

/**
 * Turns any thrown error into an `{ error }` response; no other code does this. Unexpected errors are logged with their
 * cause and reported with a fixed message, so that nothing internal reaches the client.
 */
export function toErrorResponse(context: FailureContext, log: Logger): Response {
  dropBody(context.request)
  const { error: thrown } = context
  if (thrown instanceof FaultResponse)
    return thrown.make({ ...context.set.headers } as Record<string, string>)
  const known = toDomainError(context)
  if (!known && !(thrown instanceof PlayedFailure)) {
    const { method, url } = context.request
    log.error({ err: context.error, request_id: requestIdOf(context), method, path: new URL(url).pathname })
  }
  const { status, type, message, errors } = known ? describeError(known) : unexpected
  outcomeOf(context.request).failure = { type, message, errors }
  context.set.status = status
  const headers = { ...context.set.headers } as Record<string, string>
  const wait = known?.retryAfterSeconds ?? (isTemporary(context.error) ? unreachableSeconds : undefined)
  if (wait) headers['retry-after'] = String(wait)
  const requestId = requestIdOf(context)
  const error = { type, message, ...(requestId === undefined ? {} : { request_id: requestId }), errors }
  return Response.json({ error }, { status, headers })
}

/** Returns true if the same request may soon succeed, in this process or another. */
function isTemporary(error: unknown): boolean {
  return isUnreachable(error) || error instanceof ClockSkewError
}

/** Returns an error's status and fields as the contract specifies. */
export function describeError(error: DomainError) {
  return {
    ...responses[error.kind],
    message: error.message,
    errors: error.problems.slice(0, maxProblems),
  }
}

function toDomainError({ code, error }: FailureContext): DomainError | undefined {
  if (error instanceof DomainError) return error
  if (code === 'NOT_FOUND') return new DomainError('not_found', 'No such route')
  return undefined
}
