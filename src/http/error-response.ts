import type { Logger } from 'pino'
import { DomainError, type ErrorKind } from '../errors.ts'
import { ClockSkewError } from '../platform/mongo/clock-watch.ts'
import { isUnreachable } from '../platform/mongo/errors.ts'
import { mostProblems } from '../schema/problems.ts'
import { dropBody } from './body.ts'
import { type ResponseContext, requestIdOf } from './envelope.ts'

/** Status and `error.type` of each kind of refusal (contract, Errors). */
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

/** What a failure of our own says, whatever its cause. */
export const unexpected = {
  status: 500,
  type: 'internal_error',
  message: 'An unexpected error occurred',
  errors: [],
}

/** An election is over, or an embedded database started again, after about as long. */
const unreachableSeconds = 5

interface FailureContext {
  set: ResponseContext['set'] & { status?: number | string }
  code: unknown
  error: unknown
  request: Request
}

/**
 * The one place that turns whatever was thrown into `{ error }`. What is not a refusal of ours is logged
 * with its cause and answered with a fixed message, so that nothing of the inside reaches the client.
 */
export function toErrorResponse(context: FailureContext, log: Logger): Response {
  dropBody(context.request)
  const refusal = toRefusal(context)
  if (!refusal) {
    const { method, url } = context.request
    log.error({ err: context.error, request_id: requestIdOf(context), method, path: new URL(url).pathname })
  }
  const { status, type, message, errors } = refusal ? describeError(refusal) : unexpected
  context.set.status = status
  const headers = { ...context.set.headers } as Record<string, string>
  const wait = refusal?.retryAfterSeconds ?? (isPassing(context.error) ? unreachableSeconds : undefined)
  if (wait) headers['retry-after'] = String(wait)
  const requestId = requestIdOf(context)
  const error = { type, message, ...(requestId === undefined ? {} : { request_id: requestId }), errors }
  return Response.json({ error }, { status, headers })
}

/** The same request may work soon, here or in another process. */
function isPassing(error: unknown): boolean {
  return isUnreachable(error) || error instanceof ClockSkewError
}

/** Status and fields of a refusal as the contract writes them. */
export function describeError(refusal: DomainError) {
  return {
    ...responses[refusal.kind],
    message: refusal.message,
    errors: refusal.problems.slice(0, mostProblems),
  }
}

function toRefusal({ code, error }: FailureContext): DomainError | undefined {
  if (error instanceof DomainError) return error
  if (code === 'NOT_FOUND') return new DomainError('not_found', 'No such route')
  return undefined
}
