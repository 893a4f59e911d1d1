/** Code of an entry in `errors[]` (decisions §1). */
export type ProblemCode =
  | 'required'
  | 'invalid'
  | 'max'
  | 'min'
  | 'unavailable'
  | 'conflict'
  | 'forbidden'
  | 'rate_limited'

/** An entry in `errors[]`: a path, a code, and a sentence for a human reader (contract, Errors). */
export interface Problem {
  path: string
  code: ProblemCode
  message: string
}

/** Kinds of errors in domain terms. Only `http/answer/error-response.ts` maps them to HTTP statuses. */
export type ErrorKind =
  | 'validation'
  | 'invalid_ids'
  | 'body_too_large'
  | 'body_too_slow'
  | 'auth'
  | 'forbidden'
  | 'not_found'
  | 'unsupported_provider'
  | 'conflict'
  | 'listing_conflict'
  | 'idempotency_mismatch'
  | 'rate_limit'
  | 'internal'

/** An error that the caller can act on. Any other thrown error is a failure of the service and becomes a 500. */
export class DomainError extends Error {
  override readonly name = 'DomainError'

  /**
   * @param kind kind of error, which determines the HTTP status
   * @param message text for a human reader: capital first letter, no full stop, no input that may be secret
   * @param problems entries of `errors[]`
   * @param retryAfterSeconds whole seconds after which the same request is worth retrying
   */
  constructor(
    readonly kind: ErrorKind,
    message: string,
    readonly problems: Problem[] = [],
    readonly retryAfterSeconds?: number,
  ) {
    super(message)
  }
}

/** The 401 for a known key that is inactive or expired. */
export class UnusableKeyError extends DomainError {
  constructor(
    message: string,
    readonly key: { id: number; hostId: number },
  ) {
    super('auth', message)
  }
}

/** Returns a 422 for one field, the usual error when a request violates a domain rule. */
export function invalidField(path: string, message: string, code: ProblemCode = 'invalid'): DomainError {
  return invalidFields([{ path, code, message }])
}

/** Returns a 422 for several fields. */
export function invalidFields(problems: Problem[]): DomainError {
  return new DomainError('validation', 'The request is not valid', problems)
}

/** The 404 for a resource that was not found. */
export class NotFoundError extends DomainError {
  constructor(
    readonly thing: string,
    readonly soughtBy: string,
  ) {
    super('not_found', `${thing} not found or unauthorized`)
  }

  /** The message for an administrator, who may see the data of all hosts and is never unauthorized. */
  get administratorMessage(): string {
    return `No ${this.thing.toLowerCase()} with this ${this.soughtBy}`
  }
}

/**
 * Returns a 404. Its message names the kind of resource and does not reveal whether another host has the resource.
 *
 * @param soughtBy the value that the resource was looked up by, for the message to administrators
 */
export function notFound(thing: string, soughtBy = 'id'): NotFoundError {
  return new NotFoundError(thing, soughtBy)
}

/**
 * Returns a 429 with the time until the next request is allowed, rounded up to whole seconds (contract, Rate limits).
 *
 * @param what first part of the message, which names the limit that was exceeded
 */
export function rateLimited(waitMilliseconds: number, what = 'Too many requests'): DomainError {
  const seconds = Math.max(1, Math.ceil(waitMilliseconds / 1000))
  const problem = { path: 'retry_after', code: 'rate_limited', message: String(seconds) } as const
  return new DomainError('rate_limit', `${what}; try again in ${seconds} s`, [problem], seconds)
}
