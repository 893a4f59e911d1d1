import { timingSafeEqual } from 'node:crypto'
import { Elysia, NotFoundError } from 'elysia'
import { Gauge, Registry } from 'prom-client'
import packageJson from '../../package.json' with { type: 'json' }
import { findNextKeyExpiry } from '../access/keys/store.ts'
import { greatestLags } from '../changes/consumers/lag.ts'
import { oldestUnreadSeconds } from '../changes/feed/oldest-unread.ts'
import { feedNames } from '../changes/feeds.ts'
import { countOpenAlarms } from '../changes/health/alarms/store.ts'
import { findingCodes } from '../changes/health/findings.ts'
import { webhookState } from '../changes/webhooks/store.ts'
import { readLatestVersion } from '../host-clock/store.ts'
import type { AppContext } from '../http/context.ts'
import { calendarState } from '../inventory/calendars/store.ts'
import { calendarStatuses } from '../inventory/calendars/words.ts'
import { serverVersion } from '../platform/mongo/connection.ts'
import { outboxState } from '../platform/outbox/outbox.ts'
import { withTimeoutOrNull } from '../platform/time-limits.ts'
import { readInstance } from './instance.ts'
import type { Metrics } from './metrics.ts'

/** Maximum time that a scrape waits for a store. */
const readLimitMilliseconds = 1000

/**
 * Serves `/metrics` in the Prometheus text format to clients that send `METRICS_TOKEN` as a bearer token. All other
 * requests get a 404 response, as does every request if no token is configured.
 */
export function metricsRoutes(app: AppContext, metrics: Metrics) {
  const { config } = app
  const scrape = scraper(app)
  return new Elysia({ detail: { hide: true } }).get('/metrics', async ({ request }) => {
    if (!mayRead(request.headers, config.metricsToken)) throw new NotFoundError()
    const all = Registry.merge(await Promise.all([metrics.total(), scrape()]))
    return new Response(await all.metrics(), { headers: { 'content-type': all.contentType } })
  })
}

/**
 * Returns a function that reads the metrics that are not summed over workers: the stores' metrics, which are the same
 * for all processes, and the state of the process that serves the scrape.
 */
function scraper({ config, db, rateLimiter, clock, clockWatch }: AppContext): () => Promise<Registry> {
  const registry = new Registry()
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] })
  const build = gauge('build_info', 'Version and commit of this build; always 1', ['version', 'commit'])
  build.set({ version: packageJson.version, commit: config.buildCommit }, 1)
  const instance = readInstance()
  const counted = gauge('process_info', 'What this scrape counts: a process with its workers; always 1', [
    'instance_id',
  ])
  counted.set({ instance_id: instance.id }, 1)
  // The client's own metric of this name has whole seconds, and is left out of the sums over workers.
  const started = gauge(
    'process_start_time_seconds',
    'Unix time at which what this scrape counts was started',
  )
  started.set(instance.startedSeconds)
  const servers = gauge('server_info', 'Version of a server; always 1', ['server', 'version'])
  const ready = gauge('ready_check', 'Whether a check of /readyz holds: 1 or 0', ['check'])
  const skew = gauge('clock_skew_seconds', "How far this machine's clock is ahead of the database's")
  const latency = gauge('store_ping_seconds', 'Time of one round trip', ['store'])
  const jobs = gauge('outbox_jobs', 'Jobs in the outbox', ['state'])
  const age = gauge('outbox_oldest_seconds', 'Age of the oldest waiting job')
  const drift = gauge('feed_version_drift_seconds', 'How far the latest version runs ahead of the clock')
  const unread = gauge(
    'feed_oldest_unread_seconds',
    'Age of the oldest change that no key of its host has read',
  )
  const lag = gauge('partner_consumer_lag_seconds', 'Age of the oldest unacknowledged change', ['feed'])
  const hint = gauge('webhook_oldest_waiting_seconds', 'Age of the oldest hint that waits to be delivered')
  const off = gauge('webhook_endpoints_off', 'Disabled webhooks')
  const alarms = gauge('partner_alarms_open', 'Open alarms of all keys on live data', ['code'])
  const calendars = gauge('calendars', 'Calendars of all hosts', ['status'])
  const oldestRead = gauge(
    'calendar_oldest_read_seconds',
    'Time since the last good reading of the calendar that has waited longest, of those whose last attempt was good',
  )
  const overdue = gauge('calendars_overdue', 'Calendars that have been due for more than 15 minutes')
  const expiry = gauge('key_next_expiry_timestamp_seconds', 'Unix time at which the next key expires')
  const within = <T>(read: Promise<T>) => withTimeoutOrNull(read, readLimitMilliseconds)
  return async () => {
    const now = clock()
    const found = await allNamed({
      databaseSeconds: secondsOf(async () => Boolean(await db.db?.command({ ping: 1 }))),
      redisSeconds: secondsOf(() => rateLimiter.ready()),
      mongodbVersion: within(serverVersion(db)),
      redisVersion: within(rateLimiter.serverVersion()),
      outbox: within(outboxState(db, now)),
      latestVersion: within(readLatestVersion(db)),
      oldestUnread: within(oldestUnreadSeconds(db, now)),
      lags: within(greatestLags(db, now)),
      webhooks: within(webhookState(db, now)),
      alarms: within(countOpenAlarms(db)),
      calendars: within(calendarState(db, now)),
      nextKeyExpiry: within(findNextKeyExpiry(db, now)),
    })
    servers.reset()
    if (found.mongodbVersion) servers.set({ server: 'mongodb', version: found.mongodbVersion }, 1)
    if (found.redisVersion) servers.set({ server: 'redis', version: found.redisVersion }, 1)
    ready.set({ check: 'database' }, Number.isNaN(found.databaseSeconds) ? 0 : 1)
    ready.set({ check: 'redis' }, Number.isNaN(found.redisSeconds) ? 0 : 1)
    ready.set({ check: 'clock' }, clockWatch.isSound() ? 1 : 0)
    skew.set(clockWatch.skew())
    latency.set({ store: 'database' }, found.databaseSeconds)
    latency.set({ store: 'redis' }, found.redisSeconds)
    jobs.set({ state: 'pending' }, found.outbox?.pending ?? Number.NaN)
    jobs.set({ state: 'parked' }, found.outbox?.parked ?? Number.NaN)
    age.set(found.outbox?.oldestAgeSeconds ?? Number.NaN)
    const latest = found.latestVersion
    drift.set(latest ? Math.max(0, (latest.getTime() - now.getTime()) / 1000) : Number.NaN)
    unread.set(found.oldestUnread ?? Number.NaN)
    for (const feed of feedNames) lag.set({ feed }, found.lags?.[feed] ?? Number.NaN)
    hint.set(found.webhooks?.oldestSeconds ?? Number.NaN)
    off.set(found.webhooks?.off ?? Number.NaN)
    for (const code of findingCodes) alarms.set({ code }, found.alarms?.[code] ?? Number.NaN)
    for (const status of calendarStatuses)
      calendars.set({ status }, found.calendars?.counts[status] ?? Number.NaN)
    oldestRead.set(found.calendars?.oldestReadSeconds ?? Number.NaN)
    overdue.set(found.calendars?.overdue ?? Number.NaN)
    expiry.set(found.nextKeyExpiry ? found.nextKeyExpiry.getTime() / 1000 : Number.NaN)
    return registry
  }
}

/** Awaits promises by name. With positions in a list, two lines swapped by mistake would swap two metrics. */
async function allNamed<T extends Record<string, Promise<unknown>>>(
  promises: T,
): Promise<{ [Name in keyof T]: Awaited<T[Name]> }> {
  const named = Object.entries(promises).map(async ([name, promise]) => [name, await promise] as const)
  return Object.fromEntries(await Promise.all(named)) as { [Name in keyof T]: Awaited<T[Name]> }
}

/**
 * Returns how many seconds `work` took; NaN if it failed, timed out or returned false. A failure must not fail the
 * scrape, because an operator needs the other metrics most when a store is down.
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
