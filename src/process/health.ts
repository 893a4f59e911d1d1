import { Elysia } from 'elysia'
import { jsonContentType } from '../http/answer/envelope.ts'
import type { AppContext } from '../http/context.ts'
import { cacheFor, withTimeoutOrNull } from '../platform/time-limits.ts'
import type { StopReason } from './shutdown.ts'

const timeoutMilliseconds = 2000

/**
 * True while this process is shutting down. A replaced process does not count, because its successor serves the same
 * port and a proxy that received "not ready" would stop using both.
 */
function isShuttingDown(drain?: AbortSignal): boolean {
  return drain?.aborted === true && (drain.reason as StopReason) !== 'replaced'
}

/** A check that readiness depends on. */
interface Check {
  name: string
  /** If an essential check fails, the service is not ready; if any other check fails, the service is degraded. */
  isEssential: boolean
  holds(): Promise<boolean>
}

function checksOf({ db, rateLimiter, clockWatch }: AppContext, drain?: AbortSignal): Check[] {
  return [
    { name: 'shutdown', isEssential: true, holds: async () => !isShuttingDown(drain) },
    {
      name: 'database',
      isEssential: true,
      holds: cacheFor(sharedMilliseconds, async () => Boolean(await db.db?.command({ ping: 1 }))),
    },
    { name: 'clock', isEssential: true, holds: async () => clockWatch.isSound() },
    { name: 'redis', isEssential: false, holds: () => rateLimiter.ready() },
  ]
}

/** Period in which readiness checks share one database ping, because anyone can request them without a key. */
const sharedMilliseconds = 250

/**
 * Routes for health checks. `/healthz` responds 200 while the process is up. `/readyz` responds 200 `ready`, 200
 * `degraded` if only a non-essential check fails, or 503 `not ready`. `failing` lists the names of the failed checks.
 *
 * @param drain aborted with a {@link StopReason} when the process starts to shut down
 */
export function healthRoutes(app: AppContext, drain?: AbortSignal) {
  const checks = checksOf(app, drain)
  return new Elysia({ detail: { hide: true } })
    .get('/healthz', ({ set }) => {
      set.headers['content-type'] = jsonContentType
      return { status: 'ok' }
    })
    .get('/readyz', async ({ set }) => {
      set.headers['content-type'] = jsonContentType
      const held = await Promise.all(
        checks.map(({ holds }) => withTimeoutOrNull(holds(), timeoutMilliseconds)),
      )
      const failing = checks.filter((_, index) => held[index] !== true)
      const names = failing.map(({ name }) => name)
      if (failing.some(({ isEssential }) => isEssential)) {
        set.status = 503
        return { status: 'not ready', failing: names }
      }
      set.status = 200
      return { status: failing.length === 0 ? 'ready' : 'degraded', failing: names }
    })
}
