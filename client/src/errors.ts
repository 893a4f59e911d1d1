import { type NetworkCause, networkCauseOf } from './network-cause.ts'

/** One invalid field of a request. */
export interface Problem {
  /** Path of the field, such as `data.0.base_price`. */
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
/** The type of an error; `unknown_error` if this version of the client does not know the type. */
export type ErrorType = KnownType | 'unknown_error'

interface ErrorFacts {
  /** The message that the service sent; the error's own message also contains the first problem. */
  message: string
  status: number
  /** Id of the request, to give to support or to look up with `GET /v1/requests`. */
  requestId: string | undefined
  errors: Problem[]
  /** Seconds to wait before sending the request again. */
  retryAfterSeconds: number | undefined
  /** URL of the guide's section on this type of error. */
  guide: string
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
  declare readonly guide: string

  constructor(rawType: string, { message, ...facts }: ErrorFacts) {
    const [first] = facts.errors
    super(first ? `${message}: ${first.message}` : message)
    this.reason = message
    this.type = knownTypes.find((known) => known === rawType) ?? 'unknown_error'
    this.rawType = rawType
    Object.assign(this, facts)
  }

  /**
   * Returns those of the sent items that a bulk write was refused for: at a path `data.<index>`, or because their listing
   * or room type is not the host's. Leave them out to send the rest. Empty if the error is about something else, such as a
   * newer count that is stored (`conflict`).
   *
   * @param items `data` as it was sent
   */
  refusedItems<T extends BulkItem>(items: readonly T[]): T[] {
    const indexes = new Set<number>()
    const listings = new Set<string>()
    const roomTypes = new Set<string>()
    for (const { path, code, message } of this.errors) {
      if (code === 'conflict') continue
      const index = /^data\.(\d+)(?:\.|$)/.exec(path)?.[1]
      if (index !== undefined) indexes.add(Number(index))
      if (/^unauthorized_listing_ids\.\d+$/.test(path)) listings.add(message)
      if (path === 'invalid_room_types') for (const pair of pairsIn(message)) roomTypes.add(pair)
    }
    return items.filter(
      (item, index) =>
        indexes.has(index) || listings.has(String(item.listing_id)) || roomTypes.has(pairOf(item)),
    )
  }
}

/** An item of a bulk write of availability or prices. */
export interface BulkItem {
  listing_id: number | string
  room_type_id: number | string
}

function pairOf({ listing_id, room_type_id }: BulkItem): string {
  return `${listing_id}/${room_type_id}`
}

/** Returns the pairs of listing and room type that the service lists as JSON in one message. */
function pairsIn(message: string): string[] {
  try {
    const listed = JSON.parse(message)
    return Array.isArray(listed) ? listed.map(pairOf) : []
  } catch {
    return []
  }
}

type OfType<T extends ErrorType, More = unknown> = T extends ErrorType
  ? ServiceError & { readonly type: T } & More
  : never

/** Error thrown if the service refuses a request. Its `type` gives the reason, and narrows the type of the error. */
export type PartnerError =
  | OfType<Exclude<ErrorType, 'rate_limit_error' | 'unknown_error'>>
  | OfType<'rate_limit_error', { readonly retryAfterSeconds: number }>
  | OfType<'unknown_error', { /** The type that the service sent. */ readonly rawType: string }>

/** The class of {@link PartnerError}, for `instanceof`. */
export const PartnerError = ServiceError as {
  new (rawType: string, facts: ErrorFacts): PartnerError
  prototype: PartnerError
}

/** Error thrown before anything is sent, if a value cannot be part of a request. */
export class ArgumentError extends TypeError {}

/** Error thrown if no complete response arrives, or a proxy's HTML or a redirect instead of the service's response. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  /** Address that the request was sent to, with `/v1` or `/sandbox`. */
  readonly root: string | undefined
  /** Why no complete response arrived; undefined if the runtime does not say, or if there was a response. */
  readonly networkCause: NetworkCause | undefined
  constructor(
    message: string,
    /** Status of the response; undefined if there was none. */
    readonly status?: number,
    readonly retryAfterSeconds?: number,
    { root, ...options }: ErrorOptions & { root?: string } = {},
  ) {
    super(message, options)
    this.root = root
    this.networkCause = networkCauseOf(options.cause)
  }
}
