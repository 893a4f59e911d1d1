import type { Failure } from './answer.ts'

/** Longest `Retry-After` that the client waits out; a failure with a longer `Retry-After` is thrown to the caller. */
const maxRetryAfterSeconds = 300
/** Upper limit for a feed, which otherwise waits as long as `Retry-After` asks. */
const maxPatienceSeconds = 3600
const maxPauseSeconds = 30
/** The window of the service's own limit. A proxy may send `RateLimit` headers with a window of its own. */
const windowSeconds = 60

/** Returns the seconds to wait before the next try; undefined if the request must not be retried. */
export function pauseOf({ error, again }: Failure, attempt: number, isPatient: boolean, isHarmless: boolean) {
  if (again === 'never' || (again === 'if harmless' && !isHarmless)) return undefined
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
 * Returns the seconds to wait before the next page of a long sync. The wait is derived from the last response's
 * `RateLimit` headers to keep the sync below the limit. There is no wait while more than half of the limit remains;
 * below that, the wait grows as the remainder shrinks.
 */
export function pauseFor(headers: Headers): number {
  const [, quota, window] = /q=(\d+);w=(\d+)/.exec(headers.get('ratelimit-policy') ?? '') ?? []
  const [, remaining] = /r=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? []
  if (quota === undefined || window === undefined || remaining === undefined) return 0
  if (Number(remaining) > Number(quota) / 2) return 0
  return Math.min(windowSeconds, Number(window) / (Number(remaining) + 1))
}
