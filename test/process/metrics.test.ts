import { expect, test } from 'vitest'
import { inTransaction } from '../../src/platform/mongo/transactions.ts'
import { enqueueJob } from '../../src/platform/outbox/outbox.ts'
import { seedBooking, testApp } from '../support/app.ts'
import { ownDatabase } from '../support/databases.ts'
import { seriesOf } from '../support/metrics.ts'

const METRICS_TOKEN = 'a-token-of-the-operator'
const headers = { authorization: `Bearer ${METRICS_TOKEN}` }

test('GET /metrics shows requests by route and status, rate limit decisions, both stores, the outbox and the drift', async () => {
  const service = await testApp({ METRICS_TOKEN, MONGODB_URL: await ownDatabase() })
  const { db, clock } = service.live
  const actor = await service.actor()
  await seedBooking(actor)
  // The host's latest version, in seconds since 1970.
  await db.collection('host_clocks').updateOne({}, { $inc: { last: 1000 } })
  // No worker takes jobs of a topic that it does not know.
  await inTransaction(db, 'test', (session) =>
    enqueueJob(db, session, new Date(clock().getTime() - 500_000), {
      topic: 'later',
      host_id: 1,
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
  const series = seriesOf(text)
  const count = (route: string, of: number) =>
    series.get(`http_request_seconds_count{method="GET",route="${route}",status="${of}"}`)
  expect([count('/v1/me', 200), count('/v1/listings/:id', 404), count('none', 404)]).toEqual([2, 1, 1])
  expect((series.get(allowed) ?? 0) - (before.get(allowed) ?? 0)).toBe(3)
  expect(series.get('store_ping_seconds{store="database"}')).toBeGreaterThan(0)
  expect(series.get('store_ping_seconds{store="redis"}')).toBeGreaterThan(0)
  expect(series.get('outbox_jobs{state="pending"}')).toBe(1)
  expect(series.get('outbox_oldest_seconds')).toBeGreaterThanOrEqual(500)
  expect(series.get('feed_version_drift_seconds')).toBeGreaterThan(500)
  expect(text).not.toContain(actor.key)
})

test('GET /metrics responds 404 without the token or if no token is set', async () => {
  const service = await testApp({ METRICS_TOKEN })
  const closed = await testApp()
  const tries = [service.send('GET', '/metrics'), closed.send('GET', '/metrics', { headers })]
  for (const { status, body } of await Promise.all(tries))
    expect([status, body.error.type]).toEqual([404, 'not_found'])
})
