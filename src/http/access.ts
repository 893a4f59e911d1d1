import type { ErrorKind } from '../core/errors.ts'
import type { Permission } from './permissions.ts'

/**
 * The rate limit that a request counts against. `insight` requests, such as requests for information about the key
 * itself, do not count against the main limit.
 */
export type RateWindow = 'default' | 'insight'

/** The values of the rate limit headers. */
export interface LimitState {
  window: RateWindow
  /** Requests per minute. */
  limit: number
  remaining: number
  waitMilliseconds: number
}

/** A route's requirements, which are checked before its handler runs. */
export interface Access {
  /** Permission that the key must have; `any` if none is required. */
  permission: Permission | 'any'
  /**
   * Kind of JSON object that the route expects as its body: `bulk` and `bookings` have the larger size limit, `file` has
   * one of 2 MiB, `bookings` also accepts one booking per line, and `optional` reads a missing body as `{}`.
   */
  body?: 'json' | 'bulk' | 'optional' | 'bookings' | 'file'
  /** The path contains the name of an integration provider. */
  provider?: true
  /** The route accepts an `Idempotency-Key`. Follows from its handler: it declares a write that has no rule of its own for repetitions. */
  idempotent?: true
  /** The route sends an entity tag and responds 304 if the client already has that tag; see `sendEnvelope()`. */
  conditional?: true
  /** Rate limit that the request counts against; the main one by default. */
  window?: RateWindow
  /** The route only reads information about the caller's key. The key's log lists such a request only if it fails. */
  readsOwnKey?: true
  /** The route is a feed: a page counts as read by the key, unless the request prefers to peek; see `prefer.ts`. */
  feed?: true
  /** The route will be removed. Every response and the documentation announce the removal. */
  deprecated?: Deprecation
  /**
   * `skips` if none of the environment's own steps run for the route; `steers` if the route controls how the
   * environment behaves; `spared` if the environment injects no faults into the route.
   */
  environment?: 'skips' | 'steers' | 'spared'
  /** Errors specific to this route. The documentation adds the errors that the fields above imply. */
  errors?: ErrorKind[]
}

/** The date of a route's deprecation and the earliest date of its removal. */
export interface Deprecation {
  since: Date
  sunset: Date
}

/** Returns the headers `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link`. */
export function deprecationHeaders({ since, sunset }: Deprecation) {
  return {
    deprecation: `@${Math.floor(since.getTime() / 1000)}`,
    sunset: sunset.toUTCString(),
    link: '</docs/changelog>; rel="deprecation"; type="text/html"',
  }
}
