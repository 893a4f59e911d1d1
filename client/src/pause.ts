import type { Failure } from './answer.ts'

/** Whoever asks for a longer pause is thrown to the caller. */
const maxRetryAfterSeconds = 300
/** A feed waits as long as it is asked to, and not for ever. */
const maxPatienceSeconds = 3600
const maxPauseSeconds = 30

/** Seconds before the next try; undefined where there is none. */
export function pauseOf({ error, again }: Failure, attempt: number, isPatient: boolean, isHarmless: boolean) {
  if (again === 'never' || (again === 'if harmless' && !isHarmless)) return undefined
  const { retryAfterSeconds } = error
  if (retryAfterSeconds !== undefined && isPatient) return Math.min(retryAfterSeconds, maxPatienceSeconds)
  if (retryAfterSeconds !== undefined)
    return retryAfterSeconds <= maxRetryAfterSeconds ? retryAfterSeconds : undefined
  return Math.min(maxPauseSeconds, 2 ** (attempt - 1)) * (0.5 + Math.random() / 2)
}

/** @throws the reason of the signal */
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
 * Seconds to wait before the next page of a long sync, from the `RateLimit` headers of the last response, so that the
 * limit is never reached: none while half of it remains, then more the less remains.
 */
export function pauseFor(headers: Headers): number {
  const [, quota, window] = /q=(\d+);w=(\d+)/.exec(headers.get('ratelimit-policy') ?? '') ?? []
  const [, remaining] = /r=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? []
  if (quota === undefined || window === undefined || remaining === undefined) return 0
  if (Number(remaining) > Number(quota) / 2) return 0
  return Number(window) / (Number(remaining) + 1)
}
