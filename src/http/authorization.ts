import { DomainError, rateLimited, UnusableKeyError } from '../core/errors.ts'
import { MemoryRateLimiter, minuteMilliseconds } from '../platform/rate-limiter.ts'
import { clientNetwork } from './client-address.ts'
import type { AppContext, Authorization, LimitState, RateWindow } from './context.ts'
import type { Outcome } from './outcome.ts'

/**
 * The API key sent in either header.
 *
 * @throws DomainError `auth` when there is none, or two different ones
 */
export function readApiKey(headers: Headers): string {
  const plain = headers.get('x-api-key')?.trim()
  const bearer = /^bearer\s+(.+)$/i.exec(headers.get('authorization')?.trim() ?? '')?.[1]?.trim()
  const key = plain || bearer
  if (!key) throw new DomainError('auth', 'API key is required')
  if (plain && bearer && plain !== bearer) throw new DomainError('auth', 'API key is invalid')
  return key
}

/**
 * Clients behind one address share its failure count. Beyond their limit, keys that this process does not know yet are
 * looked up, but rarely: a neighbour locks nobody out, and no flood of wrong keys reaches the database.
 */
const lookUps = new MemoryRateLimiter()
const lookUpsPerSecondBeyondLimit = 10
/** Keys that are being looked up in this process, by the name of the failure count. */
const lookingUp = new Map<string, number>()

/**
 * Authorizes a request by its headers and counts it; a failed check counts against the client's address.
 *
 * @param outcome told which key it was, once that is known
 * @throws DomainError `auth`, or `rate_limit` when the address has failed too often
 */
export async function authorize(
  { rateLimiter, config, authorizer, clock }: AppContext,
  headers: Headers,
  address: string,
  outcome: Outcome,
  window: RateWindow = 'default',
): Promise<Authorization> {
  const name = `failures:${clientNetwork(address)}`
  const limit = config.authFailuresPerMinute
  let isLookingUp = false
  const mayLookUp = async () => {
    const { remaining } = await rateLimiter.look(name, limit, minuteMilliseconds)
    // Those that are being looked up may fail, too: however many come at once, no more of them reach the database.
    const others = lookingUp.get(name) ?? 0
    if (remaining <= others && !lookUps.take('beyond', lookUpsPerSecondBeyondLimit, 1000).allowed)
      return false
    lookingUp.set(name, others + 1)
    isLookingUp = true
    return true
  }
  try {
    const authorization = await authorizer.authorize(readApiKey(headers), clock(), mayLookUp, window)
    const { key, host } = authorization
    Object.assign(outcome, { key: { id: key.id, hostId: host.id }, isLimited: window === 'default' })
    return authorization
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    // It has been counted, and its holder's administrator wants to know.
    if (error instanceof UnusableKeyError)
      Object.assign(outcome, { key: error.key, isLimited: window === 'default' })
    // A key that was not looked up has not failed.
    if (error.kind === 'rate_limit') throw error
    const failures = await rateLimiter.hit(name, limit, minuteMilliseconds)
    if (!failures.allowed) throw rateLimited(failures.waitMilliseconds)
    throw error
  } finally {
    if (isLookingUp) endLookUp(name)
  }
}

function endLookUp(name: string): void {
  const left = (lookingUp.get(name) ?? 0) - 1
  if (left > 0) lookingUp.set(name, left)
  else lookingUp.delete(name)
}

/**
 * Looks at a request's key again, before a response that was long in coming.
 *
 * @returns the rate limit headers as they are now
 * @throws DomainError `auth` when the key is no longer usable
 */
export async function confirmKey({ authorizer, clock }: AppContext, headers: Headers) {
  return rateLimitHeaders(await authorizer.confirm(readApiKey(headers), clock()))
}

/** `RateLimit-Policy` and `RateLimit` of the IETF draft. */
export function rateLimitHeaders({ window, limit, remaining, waitMilliseconds }: LimitState) {
  return {
    'ratelimit-policy': `"${window}";q=${limit};w=${minuteMilliseconds / 1000}`,
    ratelimit: `"${window}";r=${remaining};t=${Math.ceil(waitMilliseconds / 1000)}`,
  }
}
