import { PartnerError } from '../../client/src/index.ts'
import { UnreachableError } from '../client/client.ts'
import { noteRetry } from '../output.ts'

const maxPauseSeconds = 60
/** A foreign server may ask for any. */
const maxRetryAfterSeconds = 3600

/** Stops a poll between two changes. */
export interface StopSignal {
  requested: boolean
  /** Aborted by the signal: what is only waiting need not wait any more. */
  signal: AbortSignal
  /** Sleeps, at most until the signal. */
  sleep(seconds: number): Promise<void>
}

/** The first SIGINT or SIGTERM stops the poll after the current change. */
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
 * Repeats a request until the service responds: waits out rate limits, network faults, 5xx, and whatever else does not
 * come from the service. Null when stopped meanwhile.
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

/** Seconds to wait before the next attempt, or null for an error that waiting cannot resolve. */
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
