import { timingSafeEqual } from 'node:crypto'
import { Elysia } from 'elysia'
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { greatestLags } from '../changes/consumers/lag.ts'
import { consumedFeeds } from '../changes/consumers/schema.ts'
import { webhookState } from '../changes/webhooks/store.ts'
import { notFound } from '../core/errors.ts'
import type { AppContext, RequestMetrics } from '../http/context.ts'
import { outboxState } from '../platform/outbox/outbox.ts'
import { withTimeoutOrNull } from '../platform/time-limits.ts'
import { readLatestVersion } from '../versions/host-clock-store.ts'
import { type Counts, joinExchange, type Membership } from './worker-metrics.ts'

/** The counts that this process keeps; all other metrics are read at each scrape. */
export class Metrics implements RequestMetrics {
  private readonly registry = new Registry()
  private readonly requests = new Histogram({
    name: 'http_request_seconds',
    help: 'Time to respond to a request',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [this.registry],
  })
  private readonly decisions = new Counter({
    name: 'rate_limit_decisions_total',
    help: 'Requests allowed and refused by the rate limit, by the store that decided',
    labelNames: ['decision', 'store'],
    registers: [this.registry],
  })

  private readonly dropped = new Counter({
    name: 'request_log_dropped_total',
    help: 'Requests missing from the logs of their keys because too many waited to be written',
    registers: [this.registry],
  })

  private readonly hints = new Counter({
    name: 'webhook_tries_total',
    help: 'Attempts to deliver a hint, by result',
    labelNames: ['result'],
    registers: [this.registry],
  })

  private readonly own = (): Promise<Counts> => this.registry.getMetricsAsJSON()
  private workers: Membership | undefined

  /** @param held returns the number of requests that are currently held */
  constructor(held: () => number) {
    // The default of 10 ms would keep an idle process awake.
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: 1000 })
    new Gauge({
      name: 'held_requests',
      help: 'Held polls that wait for a change',
      registers: [this.registry],
      collect() {
        this.set(held())
      },
    })
  }

  /** Makes scrapes cover every worker of this process's supervisor. */
  joinWorkers(): void {
    this.workers = joinExchange(this.own)
  }

  /** Reports the final counts before this process ends, so that they remain in its supervisor's totals. */
  async leaveWorkers(): Promise<void> {
    await this.workers?.leave()
  }

  /** Returns the counts of all workers, or of this process if it has no supervisor. */
  async total(): Promise<Registry> {
    return AggregatorRegistry.aggregate((await this.workers?.gather()) ?? [await this.own()])
  }

  observeRequest(method: string, route: string, status: number, seconds: number): void {
    this.requests.observe({ method, route, status }, seconds)
  }

  countDecision(isAllowed: boolean, isShared: boolean): void {
    this.decisions.inc({ decision: isAllowed ? 'allowed' : 'refused', store: isShared ? 'shared' : 'local' })
  }

  countDropped(entries: number): void {
    this.dropped.inc(entries)
  }

  countHint(isDelivered: boolean): void {
    this.hints.inc({ result: isDelivered ? 'delivered' : 'failed' })
  }
}

/** Maximum time that a scrape waits for a store. */
const readLimitMilliseconds = 1500

/**
 * Serves `/metrics` in the Prometheus text format to clients that send `METRICS_TOKEN` as a bearer token. Without a
 * configured token, the route does not exist.
 */
export function metricsRoutes(app: AppContext, metrics: Metrics) {
  const { config } = app
  const scrape = scraper(app)
  return new Elysia({ detail: { hide: true } }).get('/metrics', async ({ request }) => {
    if (!mayRead(request.headers, config.metricsToken)) throw notFound('Route')
    const all = Registry.merge([await metrics.total(), await scrape()])
    return new Response(await all.metrics(), { headers: { 'content-type': all.contentType } })
  })
}

/** Returns a function that reads the metrics that are the same for all workers. */
function scraper({ db, rateLimiter, clock }: AppContext): () => Promise<Registry> {
  const registry = new Registry()
  const registers = [registry]
  const jobs = new Gauge({
    name: 'outbox_jobs',
    help: 'Jobs in the outbox',
    labelNames: ['state'],
    registers,
  })
  const age = new Gauge({ name: 'outbox_oldest_seconds', help: 'Age of the oldest waiting job', registers })
  const drift = new Gauge({
    name: 'feed_version_drift_seconds',
    help: 'How far the latest booking version runs ahead of the clock',
    registers,
  })
  const latency = new Gauge({
    name: 'store_ping_seconds',
    help: 'Time of one round trip',
    labelNames: ['store'],
    registers,
  })
  const lag = new Gauge({
    name: 'partner_consumer_lag_seconds',
    help: 'Age of the change that has waited longest to be acknowledged by a consumer',
    labelNames: ['feed'],
    registers,
  })
  const hint = new Gauge({
    name: 'webhook_oldest_waiting_seconds',
    help: 'Age of the hint that has waited longest to be delivered',
    registers,
  })
  const off = new Gauge({ name: 'webhook_endpoints_off', help: 'Disabled webhooks', registers })
  return async () => {
    const now = clock()
    const [state, latest, lags, hooks, database, throttle] = await Promise.all([
      withTimeoutOrNull(outboxState(db, now), readLimitMilliseconds),
      withTimeoutOrNull(readLatestVersion(db), readLimitMilliseconds),
      withTimeoutOrNull(greatestLags(db, now), readLimitMilliseconds),
      withTimeoutOrNull(webhookState(db, now), readLimitMilliseconds),
      secondsOf(async () => Boolean(await db.db?.command({ ping: 1 }))),
      secondsOf(() => rateLimiter.ready()),
    ])
    jobs.set({ state: 'pending' }, state?.pending ?? Number.NaN)
    jobs.set({ state: 'parked' }, state?.parked ?? Number.NaN)
    age.set(state?.oldestAgeSeconds ?? Number.NaN)
    drift.set(latest ? Math.max(0, (latest.getTime() - now.getTime()) / 1000) : Number.NaN)
    for (const feed of consumedFeeds) lag.set({ feed }, lags?.[feed] ?? Number.NaN)
    hint.set(hooks?.oldestSeconds ?? Number.NaN)
    off.set(hooks?.off ?? Number.NaN)
    latency.set({ store: 'database' }, database)
    latency.set({ store: 'redis' }, throttle)
    return registry
  }
}

/**
 * Returns the seconds that `work` took, or NaN if it failed or took too long. A failure must not end the scrape,
 * because an operator needs the other metrics most when a store is down.
 */
async function secondsOf(work: () => Promise<boolean>): Promise<number> {
  const start = performance.now()
  const isDone = await withTimeoutOrNull(work(), readLimitMilliseconds)
  return isDone ? (performance.now() - start) / 1000 : Number.NaN
}

function mayRead(headers: Headers, token: string | undefined): boolean {
  const sent = Buffer.from(headers.get('authorization') ?? '')
  const wanted = Buffer.from(`Bearer ${token}`)
  return token !== undefined && sent.length === wanted.length && timingSafeEqual(sent, wanted)
}
