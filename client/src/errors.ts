/** One offending field of a request. */
export interface Problem {
  /** Such as `data.0.base_price`. */
  path: string
  message: string
  code: string
}

const knownTypes = [
  'validation_error',
  'auth_error',
  'forbidden',
  'not_found',
  'unsupported_provider',
  'conflict',
  'conflict_error',
  'idempotency_key_mismatch',
  'rate_limit_error',
  'internal_error',
] as const
type KnownType = (typeof knownTypes)[number]
/** A type that this version of the client does not know is `unknown_error`. */
export type ErrorType = KnownType | 'unknown_error'

interface ErrorFacts {
  /** As the service sent it; the message of the error has the first problem beside it. */
  message: string
  status: number
  /** For questions to support, and for `GET /v1/requests`. */
  requestId: string | undefined
  errors: Problem[]
  /** After so many seconds the request may be sent again. */
  retryAfterSeconds: number | undefined
}

class ServiceError extends Error implements Omit<ErrorFacts, 'message'> {
  override readonly name = 'PartnerError'
  readonly type: ErrorType
  readonly rawType: string
  /** The message without the first problem. */
  readonly reason: string
  declare readonly status: number
  declare readonly requestId: string | undefined
  declare readonly errors: Problem[]
  declare readonly retryAfterSeconds: number | undefined

  constructor(rawType: string, { message, ...facts }: ErrorFacts) {
    const [first] = facts.errors
    super(first ? `${message}: ${first.message}` : message)
    this.reason = message
    this.type = knownTypes.find((known) => known === rawType) ?? 'unknown_error'
    this.rawType = rawType
    Object.assign(this, facts)
  }
}

type OfType<T extends ErrorType, More = unknown> = T extends ErrorType
  ? ServiceError & { readonly type: T } & More
  : never

/** The service refused a request; `type` says why, and narrows what is known. */
export type PartnerError =
  | OfType<Exclude<ErrorType, 'rate_limit_error' | 'unknown_error'>>
  | OfType<'rate_limit_error', { readonly retryAfterSeconds: number }>
  | OfType<'unknown_error', { /** As the service sent it. */ readonly rawType: string }>

/** The class of {@link PartnerError}, for `instanceof`. */
export const PartnerError = ServiceError as unknown as {
  new (rawType: string, facts: ErrorFacts): PartnerError
  prototype: PartnerError
}

/** No answer came, or none of the service: HTML of a proxy, half a body, a redirect. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  constructor(
    message: string,
    /** Of the answer, where there was one. */
    readonly status?: number,
    readonly retryAfterSeconds?: number,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}
