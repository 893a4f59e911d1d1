import { expect, onTestFinished, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { updateKey } from '../../src/access/keys/store.ts'
import { inTransaction } from '../../src/platform/mongo/turns/transactions.ts'
import { enqueueJob } from '../../src/platform/outbox/outbox.ts'
import { seedBooking, testApp, testEnvironment } from '../support/app.ts'
import { ownDatabase } from '../support/databases.ts'
import { scrapeOf, seriesOf } from '../support/metrics.ts'
import { startService } from '../support/processes.ts'

const METRICS_TOKEN = 'a-token-of-the-operator'
const headers = { authorization: `Bearer ${METRICS_TOKEN}` }

test('GET /metrics shows requests by route and status, rate limit decisions, both stores, the outbox and the drift', async () => {
  const service = await testApp({ METRICS_TOKEN, MONGODB_URL: await ownDatabase() })
  const { db, clock } = service.live
  const actor = await service.actor()
  await seedBooking(actor)
  // `last` is the host's latest version, in seconds since 1970.
  await db.collection('host_clocks').updateOne({}, { $inc: { last: 1000 } })
  // No worker takes a job whose topic it does not know.
  await inTransaction(db, 'test', (session) =>
    enqueueJob(db, session, new Date(clock().getTime() - 500_000), {
      topic: 'later',
      owner_id: 1,
      payload: {},
    }),
  )
  const before = seriesOf((await service.send('GET', '/metrics', { headers })).text)
  const allowed = 'rate_limit_decisions_total{decision="allowed",store="shared"}'
  await actor.send('GET', '/v1/me')
  await actor.send('GET', '/v1/me')
  await actor.send('GET', '/v1/listings/999999')
  await actor.send('GET', '/no/such/path')
  await service.logged()
  const { text, status } = await service.send('GET', '/metrics', { headers })
  expect(status).toBe(200)
  const series = await scrapeOf(service, METRICS_TOKEN)
  const count = (route: string, of: number) =>
    series.get(`http_request_seconds_count{method="GET",route="${route}",status="${of}"}`)
  expect({
    me: count('/v1/me', 200),
    listing: count('/v1/listings/:id', 404),
    none: count('none', 404),
  }).toEqual({ me: 2, listing: 1, none: 1 })
  expect((series.get(allowed) ?? 0) - (before.get(allowed) ?? 0)).toBe(3)
  expect(series.get('store_ping_seconds{store="database"}')).toBeGreaterThan(0)
  expect(series.get('store_ping_seconds{store="redis"}')).toBeGreaterThan(0)
  expect(series.get('outbox_jobs{state="pending"}')).toBe(1)
  expect(series.get('outbox_oldest_seconds')).toBeGreaterThanOrEqual(500)
  expect(series.get('feed_version_drift_seconds')).toBeGreaterThan(500)
  expect(text).not.toContain(actor.key)
})

test('GET /metrics has every labelled counter from the start, with 0', async () => {
  const service = await testApp({ METRICS_TOKEN })
  const series = seriesOf((await service.send('GET', '/metrics', { headers })).text)
  const counters = [
    ...['2xx', '3xx', '4xx', '5xx'].map((status) => `api_responses_total{class="${status}"}`),
    ...['allowed', 'refused'].flatMap((decision) =>
      ['shared', 'local'].map(
        (store) => `rate_limit_decisions_total{decision="${decision}",store="${store}"}`,
      ),
    ),
    ...['delivered', 'failed'].map((result) => `webhook_tries_total{result="${result}"}`),
  ]
  expect(counters.map((name) => series.get(name))).toEqual(counters.map(() => 0))
})

test('GET /metrics shows no lag of the event loop that has not been sampled since the last scrape', async () => {
  const service = await testApp({ METRICS_TOKEN })
  await scrapeOf(service, METRICS_TOKEN)
  const series = await scrapeOf(service, METRICS_TOKEN)
  const lags = [...series].filter(([name]) => name.startsWith('nodejs_eventloop_lag_'))
  expect(lags.length).toBeGreaterThan(0)
  for (const [name, seconds] of lags)
    expect({ name, isPossible: seconds >= 0 && seconds < 3600 }).toEqual({ name, isPossible: true })
})

test('GET /metrics names the process that it counts, and when it started', async () => {
  const started = (text: string) => Number(/^process_start_time_seconds (\S+)$/m.exec(text)?.[1])
  const idIn = (text: string) => /^process_info\{instance_id="([0-9a-f-]{36})"\} 1$/m.exec(text)?.[1]
  const scrape = async (url: string) => await (await fetch(`${url}/metrics`, { headers })).text()
  const services = await Promise.all([1, 2].map(() => startService(testEnvironment({ METRICS_TOKEN }))))
  onTestFinished(() => Promise.all(services.map((service) => service.stop())).then(() => {}))
  const [one = '', other = ''] = await Promise.all(services.map(({ url }) => scrape(url)))
  const again = await scrape(services[0]?.url ?? '')
  expect(idIn(one)).toBeDefined()
  expect({ id: idIn(again), started: started(again) }).toEqual({ id: idIn(one), started: started(one) })
  expect(idIn(other)).not.toBe(idIn(one))
  expect(started(other)).not.toBe(started(one))
  const age = Date.now() / 1000 - started(one)
  expect(age > 0 && age < 3600).toBe(true)
})

test('GET /metrics names the build and the servers, and shows the durations of commands, hits and deliveries to waiting readers', async () => {
  const service = await testApp({ METRICS_TOKEN, BUILD_COMMIT: '0123abc', MONGODB_URL: await ownDatabase() })
  const scrape = () => scrapeOf(service, METRICS_TOKEN)
  const actor = await service.actor()
  const { user_id, listing_id, room_type_id } = await seedBooking(actor)
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const feed = '/v1/integrations/provider_one/bookings'
  const [{ version }] = (await actor.send('GET', feed)).body.data.Bookings
  await service.logged()
  const before = await scrape()
  const waiting = actor.send('GET', `${feed}?wait=30&updated_after=${encodeURIComponent(version)}`)
  await expect.poll(() => service.live.heldRequests.size).toBe(1)
  await actor.send('POST', '/v1/bookings', { body: stay })
  expect((await waiting).body.data.Bookings).toHaveLength(1)
  await actor.send('GET', '/v1/listings/999999')
  await service.logged()
  const after = await scrape()
  const since = (name: string) => (after.get(name) ?? Number.NaN) - (before.get(name) ?? 0)
  expect(after.get(`build_info{version="${packageJson.version}",commit="0123abc"}`)).toBe(1)
  const servers = [...after.keys()].filter((name) => name.startsWith('server_info'))
  expect(servers).toEqual([
    expect.stringMatching(/^server_info\{server="mongodb",version="\d+\.\d+\.\d+"\}$/),
    expect.stringMatching(/^server_info\{server="redis",version="\d+\.\d+\.\d+"\}$/),
  ])
  expect(since('redis_hit_seconds_count')).toBe(3)
  expect(since('database_command_seconds_count{command="commitTransaction"}')).toBe(1)
  expect(since('feed_delivery_seconds_count')).toBe(1)
  expect(since('feed_delivery_seconds_sum')).toBeLessThan(60)
  expect(since('api_responses_total{class="2xx"}')).toBe(2)
  expect(since('api_responses_total{class="4xx"}')).toBe(1)
  // Change streams wait for changes in `getMore`.
  expect([...after.keys()].join()).not.toContain('getMore')
})

test('GET /metrics shows the checks of /readyz, how far the clock is off, and when the next key expires', async () => {
  let ahead = 0
  const service = await testApp(
    { METRICS_TOKEN, MONGODB_URL: await ownDatabase(), LOG_LEVEL: 'silent' },
    undefined,
    { wall: () => Date.now() + ahead },
  )
  const scrape = () => scrapeOf(service, METRICS_TOKEN)
  const first = await scrape()
  const checks = ['database', 'redis', 'clock'].map((check) => `ready_check{check="${check}"}`)
  expect(checks.map((check) => first.get(check))).toEqual([1, 1, 1])
  expect(first.get('key_next_expiry_timestamp_seconds')).toBeNaN()
  const one = await service.actor()
  const other = await service.actor()
  const day = 86_400_000
  const soon = Math.floor(Date.now() / 1000) * 1000 + day
  await updateKey(service.live.db, String(one.keyId), { expires_at: new Date(soon + day) })
  await updateKey(service.live.db, String(other.keyId), { expires_at: new Date(soon) })
  ahead = 90_000
  const second = await scrape()
  expect(checks.map((check) => second.get(check))).toEqual([1, 1, 0])
  expect(second.get('clock_skew_seconds')).toBeGreaterThan(80)
  expect(second.get('key_next_expiry_timestamp_seconds')).toBe(soon / 1000)
})

test('GET /metrics responds 404 without the token or if no token is set', async () => {
  const service = await testApp({ METRICS_TOKEN })
  const closed = await testApp()
  const tries = [service.send('GET', '/metrics'), closed.send('GET', '/metrics', { headers })]
  for (const { status, body } of await Promise.all(tries))
    expect({ status, type: body.error.type }).toEqual({ status: 404, type: 'not_found' })
})
