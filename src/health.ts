import { Elysia } from 'elysia'
import type { Deps } from './deps.ts'
import { soon } from './infra/within.ts'

const timeoutMilliseconds = 2000

/** A part that readiness looks at. */
interface Check {
  name: string
  /** Without an essential part nothing is served; without another one the service goes on, degraded. */
  isEssential: boolean
  holds(): Promise<boolean>
}

function checksOf({ db, windows, clockWatch }: Deps, drain?: AbortSignal): Check[] {
  return [
    { name: 'shutdown', isEssential: true, holds: async () => !drain?.aborted },
    { name: 'database', isEssential: true, holds: async () => Boolean(await db.db?.command({ ping: 1 })) },
    { name: 'clock', isEssential: true, holds: async () => clockWatch.isSound() },
    { name: 'throttle_store', isEssential: false, holds: () => windows.ready() },
  ]
}

/**
 * `/healthz`: the process is up. `/readyz`: 200 `ready`, 200 `degraded` where a part is away that the service
 * can do without, or 503 `not ready`; `failing` names the parts.
 *
 * @param drain aborted when the process begins to shut down
 */
export function healthRoutes(deps: Deps, drain?: AbortSignal) {
  const checks = checksOf(deps, drain)
  return new Elysia({ detail: { hide: true } })
    .get('/healthz', () => ({ status: 'ok' }))
    .get('/readyz', async ({ set }) => {
      const held = await Promise.all(checks.map(({ holds }) => soon(holds(), timeoutMilliseconds)))
      const failing = checks.filter((_, index) => held[index] !== true)
      const isReady = !failing.some(({ isEssential }) => isEssential)
      set.status = isReady ? 200 : 503
      return {
        status: isReady ? (failing.length === 0 ? 'ready' : 'degraded') : 'not ready',
        failing: failing.map(({ name }) => name),
      }
    })
}
