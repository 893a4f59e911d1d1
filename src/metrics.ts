import { timingSafeEqual } from 'node:crypto'
import { Elysia } from 'elysia'
import { Gauge, Registry } from 'prom-client'
import type { Deps } from './deps.ts'
import { notFound } from './errors.ts'
import { outboxState } from './infra/outbox.ts'

/**
 * `/metrics` in the text form of Prometheus, for the holder of `METRICS_TOKEN` (sent as bearer). Without a
 * token set there is no such route.
 */
export function metricsRoutes({ config, db, clock }: Deps) {
  const registry = new Registry()
  const jobs = new Gauge({
    name: 'outbox_jobs',
    help: 'Jobs in the outbox',
    labelNames: ['state'],
    registers: [registry],
  })
  const age = new Gauge({
    name: 'outbox_oldest_seconds',
    help: 'Age of the oldest job waiting',
    registers: [registry],
  })
  return new Elysia({ detail: { hide: true } }).get('/metrics', async ({ request }) => {
    if (!mayRead(request.headers, config.metricsToken)) throw notFound('Route')
    const state = await outboxState(db, clock())
    jobs.set({ state: 'pending' }, state.pending)
    jobs.set({ state: 'parked' }, state.parked)
    age.set(state.oldestAgeSeconds)
    return new Response(await registry.metrics(), { headers: { 'content-type': registry.contentType } })
  })
}

function mayRead(headers: Headers, token: string | undefined): boolean {
  const sent = Buffer.from(headers.get('authorization') ?? '')
  const wanted = Buffer.from(`Bearer ${token}`)
  return token !== undefined && sent.length === wanted.length && timingSafeEqual(sent, wanted)
}
