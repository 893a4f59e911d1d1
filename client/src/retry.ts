import type { Failure } from './answer.ts'
import { keyedOperations } from './api.ts'

/** Longest `Retry-After` that the client waits out; a failure with a longer `Retry-After` is thrown to the caller. */
const maxRetryAfterSeconds = 300
/** Longest pause if retries are unlimited, as in a feed, even if `Retry-After` is longer. */
const maxPatienceSeconds = 3600
const maxPauseSeconds = 30
/** Window of the service's rate limit, and the longest {@link rateLimitPause}. A proxy may report a longer window. */
const windowSeconds = 60

/** Returns the seconds to wait before the next attempt; undefined if the request must not be retried. */
export function retryPause(
  { error, retryPolicy }: Failure,
  attempt: number,
  isPatient: boolean,
  isHarmless: boolean,
) {
  if (retryPolicy === 'never' || (retryPolicy !== 'always' && !isHarmless)) return undefined
  if (retryPolicy === 'if patient' && !isPatient) return undefined
  const { retryAfterSeconds } = error
  if (retryAfterSeconds !== undefined && isPatient) return Math.min(retryAfterSeconds, maxPatienceSeconds)
  if (retryAfterSeconds !== undefined)
    return retryAfterSeconds <= maxRetryAfterSeconds ? retryAfterSeconds : undefined
  return Math.min(maxPauseSeconds, 2 ** (attempt - 1)) * (0.5 + Math.random() / 2)
}

/** @throws the reason of `signal` once it is aborted */
export function sleep(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, seconds * 1000)
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/**
 * Returns the seconds to wait before requesting the next page of a long sync. The wait is derived from the last
 * response's `RateLimit` headers to keep the sync below the limit. There is no wait while more than half of the limit
 * remains; below that, the wait grows as the remainder shrinks.
 */
export function rateLimitPause(headers: Headers): number {
  const [, quota, window] = /q=(\d+);w=(\d+)/.exec(headers.get('ratelimit-policy') ?? '') ?? []
  const [, remaining] = /r=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? []
  if (quota === undefined || window === undefined || remaining === undefined) return 0
  if (Number(remaining) > Number(quota) / 2) return 0
  return Math.min(windowSeconds, Number(window) / (Number(remaining) + 1))
}

/** The parts of a request that determine whether it may be sent again if its response was lost. */
export interface Repeatable {
  method: string
  /** Path below the root, such as `/bookings/5002/confirm`. */
  path: string
  body?: unknown
  idempotencyKey?: string | undefined
}

const keyed = keyedOperations.map((operation) => new RegExp(`^${operation.replaceAll(/\{\w+\}/g, '[^/]+')}$`))

/** True for operations that take an `Idempotency-Key`. */
export function takesKey({ method, path }: Repeatable): boolean {
  return keyed.some((pattern) => pattern.test(`${method} ${path}`))
}

/**
 * How long after the first attempt the client relies on the service to treat identical text as the same message. The
 * service does so for a minute by default.
 */
const sameMessageMilliseconds = 50_000

/**
 * Returns true if a request may be sent again even though the service may have acted on the previous attempt.
 *
 * @param sinceFirstTry milliseconds since the first attempt
 */
export function mayRepeat(
  { method, path, body, idempotencyKey }: Repeatable,
  sinceFirstTry: number,
): boolean {
  if (idempotencyKey !== undefined || method === 'GET' || method === 'DELETE') return true
  if (method === 'PUT') return !(body as { seek?: unknown } | undefined)?.seek
  // A body that the caller has already serialized may add elements.
  if (method === 'PATCH') return typeof body !== 'string' && !addsElements(body)
  if (/^\/bookings\/[^/]+\/messages$/.test(path)) return sinceFirstTry < sameMessageMilliseconds
  return /^\/integrations\/[^/]+\/(provider-key|rates|calendars\/check)$/.test(path)
}

interface Elements {
  id?: unknown
  room_types?: Elements[]
  rooms?: Elements[]
}

/** True if the body has a room type or room without an id, which a repeat would add again. */
function addsElements(body: unknown): boolean {
  const isNew = ({ id, ...more }: Elements) => id === undefined || id === null || addsElements(more)
  const { room_types, rooms } = (body ?? {}) as Elements
  return [room_types, rooms].some((list) => Array.isArray(list) && list.some(isNew))
}
