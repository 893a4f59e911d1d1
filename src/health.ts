import { Elysia } from 'elysia'
import type { Deps } from './deps.ts'
import { soon } from './infra/within.ts'

const timeoutMilliseconds = 2000

/** `/healthz`: the process is up. `/readyz`: database and throttle store answer, or 503 naming what does not. */
export function healthRoutes({ db, windows, clockWatch }: Deps) {
  const parts: Record<string, () => Promise<boolean>> = {
    database: async () => Boolean(await db.db?.command({ ping: 1 })),
    throttle_store: () => windows.ready(),
    clock: async () => clockWatch.isSound(),
  }
  return new Elysia({ detail: { hide: true } })
    .get('/healthz', () => ({ status: 'ok' }))
    .get('/readyz', async ({ set }) => {
      const states = await Promise.all(
        Object.entries(parts).map(
          async ([name, check]) => [name, (await soon(check(), timeoutMilliseconds)) === true] as const,
        ),
      )
      const failing = states.filter(([, ready]) => !ready).map(([name]) => name)
      set.status = failing.length === 0 ? 200 : 503
      return { status: failing.length === 0 ? 'ready' : 'not ready', failing }
    })
}
