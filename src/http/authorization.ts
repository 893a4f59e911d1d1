import { DomainError, rateLimited, UnusableKeyError } from '../core/errors.ts'
import { minuteMilliseconds } from '../platform/rate-limiter.ts'
import type { LimitState } from './access.ts'
import type { AppContext, Authorization, CountedAs } from './context.ts'
import { clientNetwork, requireNetwork } from './input/client-address.ts'
import { repeatedValues } from './input/repeated-headers.ts'
import { type Permission, requirePermission } from './permissions.ts'
import type { ServedRequest } from './request.ts'

/**
 * Returns the API key sent in `X-API-Key` or `Authorization`. Either header may be sent several times with the same key.
 *
 * @throws DomainError `auth` if there is no key, or if the headers contain different keys
 */
export function readApiKey(headers: Headers): string {
  const authorizations = repeatedValues(headers, 'authorization').filter(Boolean)
  const bearers = authorizations.map(bearerOf).filter((key) => key !== undefined)
  const keys = new Set([...repeatedValues(headers, 'x-api-key').filter(Boolean), ...bearers])
  const [key] = keys
  if (key === undefined) throw new DomainError('auth', 'API key is required')
  const hasOtherScheme = bearers.length > 0 && bearers.length < authorizations.length
  if (keys.size > 1 || hasOtherScheme) throw new DomainError('auth', 'API key is invalid')
  return key
}

function bearerOf(authorization: string): string | undefined {
  return /^bearer\s+(.+)$/i.exec(authorization)?.[1]
}

/** A request whose key is to be checked. */
interface Unauthorized extends CountedAs {
  headers: Headers
  /** Receives the key once it is known, and whether authentication failed. */
  served: ServedRequest
}

/**
 * Identifies the key of a request and counts the request. A failed authentication counts against the client's address.
 *
 * @throws DomainError `auth`, or `rate_limit` if too many requests from the address have failed
 */
export async function identifyKey(
  { rateLimiter, config, authorizer, keyLookUps, clock }: AppContext,
  { headers, served, window = 'default', foresee }: Unauthorized,
): Promise<Authorization> {
  const limit = config.authFailuresPerMinute
  // Most requests neither fail nor look their key up, and need no name.
  const nameOfFailures = () => `failures:${clientNetwork(served.address)}`
  let isLookingUp = false
  const mayLookUp = async () => {
    const name = nameOfFailures()
    const { remaining } = await rateLimiter.peek(name, limit, minuteMilliseconds)
    isLookingUp = keyLookUps.begin(name, remaining)
    return isLookingUp
  }
  try {
    const authorization = await authorizer.authorize(readApiKey(headers), clock(), mayLookUp, {
      window,
      foresee,
    })
    const { key, host } = authorization
    served.key = { id: key.id, hostId: host.id }
    served.isCounted = window === 'default'
    return authorization
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    served.isUnauthenticated = true
    // The request was counted, and administrators want to see it in the key's log.
    if (error instanceof UnusableKeyError) {
      served.key = error.key
      served.isCounted = window === 'default'
    }
    // A key that was not looked up does not count as a failure.
    if (error.kind === 'rate_limit') throw error
    const failures = await rateLimiter.hit(nameOfFailures(), limit, minuteMilliseconds)
    if (!failures.allowed) throw rateLimited(failures.waitMilliseconds)
    throw error
  } finally {
    if (isLookingUp) keyLookUps.end(nameOfFailures())
  }
}

/**
 * Checks a request's key again before a long-delayed response is sent.
 *
 * @returns the current rate limit headers
 * @throws DomainError `auth` if the key is no longer usable; `forbidden` if it is not accepted from this address, or no
 * longer has the permission
 */
export async function confirmKey(
  { authorizer, clock }: AppContext,
  { headers, address }: { headers: Headers; address: string },
  permission: Permission | 'any',
) {
  const { key, ...limits } = await authorizer.confirm(readApiKey(headers), clock())
  requireNetwork(address, key.allowed_from)
  requirePermission(permission, key.permissions)
  return rateLimitHeaders(limits)
}

/** Returns the headers `RateLimit-Policy` and `RateLimit` of the IETF draft. */
export function rateLimitHeaders({ window, limit, remaining, waitMilliseconds }: LimitState) {
  return {
    'ratelimit-policy': `"${window}";q=${limit};w=${minuteMilliseconds / 1000}`,
    ratelimit: `"${window}";r=${remaining};t=${Math.ceil(waitMilliseconds / 1000)}`,
  }
}
