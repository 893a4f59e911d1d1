import type { ErrorKind, Problem } from '../core/errors.ts'
import type { RateWindow } from './context.ts'
import type { Permission } from './permissions.ts'

/** The requirements of a route, checked before its handler runs. */
/** What problems can lie in besides the fields of the body: a part of the path that is not an id, or the day. */
export interface ToCheck {
  params: Record<string, string | undefined>
  /** As it was sent. */
  body: Record<string, unknown>
  /** The time in the environment of the caller. */
  now: Date
}

export interface Access {
  /** Permission that the key must have; `any` for none. */
  permission: Permission | 'any'
  /**
   * The request carries a JSON object; `bulk` for the larger size limit, `optional` where no body means `{}`, `bookings` for
   * as large a one whose `bookings` may be sent as lines as well.
   */
  body?: 'json' | 'bulk' | 'optional' | 'bookings'
  /** Problems that the schema of the body cannot know of; reported together with its own. */
  check?: (request: ToCheck) => Problem[]
  /** The path names an integration provider. */
  provider?: true
  /** The route takes an `Idempotency-Key`. */
  idempotent?: true
  /** The response has an entity tag, and is 304 to a client that has it, see `withEntityTag()`. */
  conditional?: true
  /** The rate limit that the request counts against, unless it is the main one. */
  window?: RateWindow
  /** The key looks at itself: its log does not show that it did, unless it failed. */
  looksAtKey?: true
  /** The route will be taken away: announced in every response and in the documentation. */
  deprecated?: Deprecation
  /** The route steers the sandbox: no fault of it is met there. */
  steers?: true
  /** False for a route that works without an open sandbox; no fault is met there. */
  opensSandbox?: false
  /** Errors specific to this route, for the documentation; those implied by the fields above are added. */
  errors?: ErrorKind[]
}

/** When a route was announced to go, and until when at least it stays. */
export interface Deprecation {
  since: Date
  sunset: Date
}

/** `Deprecation` (RFC 9745) and `Sunset` (RFC 8594). */
export function deprecationHeaders({ since, sunset }: Deprecation) {
  return {
    deprecation: `@${Math.floor(since.getTime() / 1000)}`,
    sunset: sunset.toUTCString(),
    link: '</docs/changelog>; rel="deprecation"; type="text/html"',
  }
}
