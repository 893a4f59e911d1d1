import { Elysia } from 'elysia'
import type { AppContext } from '../http/context.ts'
import { share, withTimeoutOrNull } from '../platform/time-limits.ts'
import type { StopReason } from './shutdown.ts'

const timeoutMilliseconds = 2000

/** Where another process serves the port already, a proxy that heard "not ready" would leave out both. */
function isGoing(drain?: AbortSignal): boolean {
  return drain?.aborted === true && (drain.reason as StopReason) !== 'replaced'
}

/** A part that readiness depends on. */
interface Check {
  name: string
  /** Without an essential part nothing is served; without any other the service continues, degraded. */
  isEssential: boolean
  holds(): Promise<boolean>
}

function checksOf({ db, rateLimiter, clockWatch }: AppContext, drain?: AbortSignal): Check[] {
  return [
    { name: 'shutdown', isEssential: true, holds: async () => !isGoing(drain) },
    {
      name: 'database',
      isEssential: true,
      holds: share(sharedMilliseconds, async () => Boolean(await db.db?.command({ ping: 1 }))),
    },
    { name: 'clock', isEssential: true, holds: async () => clockWatch.isSound() },
    { name: 'redis', isEssential: false, holds: () => rateLimiter.ready() },
  ]
}

/** No key is needed to ask, however often. */
const sharedMilliseconds = 250

/**
 * `/healthz`: the process is up. `/readyz`: 200 `ready`, 200 `degraded` when a part is down that the service can do
 * without, or 503 `not ready`; `failing` names the parts.
 *
 * @param drain aborted when the process begins to shut down, for a {@link StopReason}
 */
export function healthRoutes(app: AppContext, drain?: AbortSignal) {
  const checks = checksOf(app, drain)
  return new Elysia({ detail: { hide: true } })
    .get('/healthz', () => ({ status: 'ok' }))
    .get('/readyz', async ({ set }) => {
      const held = await Promise.all(
        checks.map(({ holds }) => withTimeoutOrNull(holds(), timeoutMilliseconds)),
      )
      const failing = checks.filter((_, index) => held[index] !== true)
      const isReady = !failing.some(({ isEssential }) => isEssential)
      set.status = isReady ? 200 : 503
      return {
        status: isReady ? (failing.length === 0 ? 'ready' : 'degraded') : 'not ready',
        failing: failing.map(({ name }) => name),
      }
    })
}
