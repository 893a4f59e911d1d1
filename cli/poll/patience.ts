import { PartnerError } from '../../client/src/index.ts'
import { UnreachableError } from '../client/client.ts'
import { noteRetry } from '../output.ts'

const maxPauseSeconds = 60
/** Upper limit for `Retry-After`. Without it, another server such as a proxy could ask for any pause. */
const maxRetryAfterSeconds = 3600

/** Signal to stop a poll between two changes. */
export interface StopSignal {
  requested: boolean
  /** Aborted when a stop is requested, which ends a request that is still waiting. */
  signal: AbortSignal
  /** Sleeps, waking early if a stop is requested. */
  sleep(seconds: number): Promise<void>
}

/** Returns a stop signal that the first SIGINT or SIGTERM triggers; the poll then stops after the current change. */
export function stopOnSignal(): StopSignal {
  const { promise, resolve } = Promise.withResolvers<void>()
  const controller = new AbortController()
  const stop: StopSignal = {
    requested: false,
    signal: controller.signal,
    sleep: (seconds) => Promise.race([Bun.sleep(seconds * 1000), promise]),
  }
  const request = () => {
    stop.requested = true
    controller.abort()
    resolve()
  }
  process.once('SIGINT', request)
  process.once('SIGTERM', request)
  return stop
}

/**
 * Repeats a request until the service responds. Waits out rate limits, network faults, 5xx, and responses that come
 * from something other than the service, except 401 and 403. Returns null if a stop is requested first.
 *
 * @throws errors that waiting cannot resolve
 */
export async function withRetries<T>(request: () => Promise<T>, stop: StopSignal): Promise<T | null> {
  for (let attempt = 0; !stop.requested; attempt += 1) {
    try {
      return await request()
    } catch (error) {
      if (stop.requested) return null
      const pause = pauseAfter(error, attempt)
      if (pause === null) throw error
      noteRetry(error, pause)
      await stop.sleep(pause)
    }
  }
  return null
}

/** Returns the seconds to wait before the next attempt, or null for an error that waiting cannot resolve. */
function pauseAfter(error: unknown, attempt: number): number | null {
  const isTemporary =
    error instanceof UnreachableError ||
    (error instanceof PartnerError &&
      (error.status >= 500 || error.status === 429 || error.retryAfterSeconds))
  if (!isTemporary) return null
  const { retryAfterSeconds } = error as UnreachableError | PartnerError
  if (retryAfterSeconds !== undefined) return Math.min(maxRetryAfterSeconds, retryAfterSeconds)
  return Math.random() * Math.min(maxPauseSeconds, 2 ** attempt)
}
