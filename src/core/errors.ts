/** The code of one entry of `errors[]` (decisions §1). */
export type ProblemCode =
  | 'required'
  | 'invalid'
  | 'max'
  | 'min'
  | 'unavailable'
  | 'conflict'
  | 'forbidden'
  | 'rate_limited'

/** One entry of `errors[]`: where it is, what kind it is, and a sentence for a human reader (contract, Errors). */
export interface Problem {
  path: string
  code: ProblemCode
  message: string
}

/** The kinds of errors, in domain terms; only `http/error-response.ts` knows the HTTP status of each. */
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

/** An error that the caller can act on. Anything else that is thrown is our own failure: a 500. */
export class DomainError extends Error {
  override readonly name = 'DomainError'

  /**
   * @param kind what went wrong
   * @param message for a person: capital first letter, no full stop, never input that may be secret
   * @param problems the entries of `errors[]`
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

/** 401 of a key that is known but inactive or expired. */
export class UnusableKeyError extends DomainError {
  constructor(
    message: string,
    readonly key: { id: number; hostId: number },
  ) {
    super('auth', message)
  }
}

/** 422 for one field: the usual error of a domain rule. */
export function invalidField(path: string, message: string, code: ProblemCode = 'invalid'): DomainError {
  return invalidFields([{ path, code, message }])
}

/** 422 for several fields at once. */
export function invalidFields(problems: Problem[]): DomainError {
  return new DomainError('validation', 'The request is not valid', problems)
}

/** 404; the message names the kind of thing and does not reveal whether it exists for another host. */
export function notFound(thing: string): DomainError {
  return new DomainError('not_found', `${thing} not found or unauthorized`)
}

/**
 * 429 with the whole seconds after which the next request is allowed (contract, Rate limits).
 *
 * @param what there is too much of
 */
export function rateLimited(waitMilliseconds: number, what = 'Too many requests'): DomainError {
  const seconds = Math.max(1, Math.ceil(waitMilliseconds / 1000))
  const problem = { path: 'retry_after', code: 'rate_limited', message: String(seconds) } as const
  return new DomainError('rate_limit', `${what}; try again in ${seconds} s`, [problem], seconds)
}
