import { expect, test } from 'vitest'
import { sender, testApp, testEnvironment } from '../support/app.ts'
import { startService } from '../support/processes.ts'

const METRICS_TOKEN = 'a-token-of-the-operator'
const headers = { authorization: `Bearer ${METRICS_TOKEN}` }

/** The values of a scrape by series. */
function seriesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.replace(/ \S+$/, ''), Number(line.split(' ').at(-1))]))
}

test('GET /metrics shows requests by route and status, rate limit decisions, both stores, the outbox and the drift', async () => {
  const service = await testApp({ METRICS_TOKEN })
  const actor = await service.actor()
  await actor.send('GET', '/v1/me')
  await actor.send('GET', '/v1/me')
  await actor.send('GET', '/v1/listings/999999')
  await actor.send('GET', '/no/such/path')
  await Bun.sleep(50)
  const { text, status } = await service.send('GET', '/metrics', { headers })
  expect(status).toBe(200)
  const series = seriesOf(text)
  const count = (route: string, of: number) =>
    series.get(`http_request_seconds_count{method="GET",route="${route}",status="${of}"}`)
  expect([count('/v1/me', 200), count('/v1/listings/:id', 404), count('none', 404)]).toEqual([2, 1, 1])
  expect(series.get('rate_limit_decisions_total{decision="allowed",store="shared"}')).toBe(3)
  expect(series.get('store_ping_seconds{store="database"}')).toBeGreaterThan(0)
  expect(series.get('store_ping_seconds{store="throttle_store"}')).toBeGreaterThan(0)
  for (const name of ['outbox_jobs{state="pending"}', 'outbox_oldest_seconds', 'feed_version_drift_seconds'])
    expect(series.get(name)).toBeGreaterThanOrEqual(0)
  expect(text).not.toContain(actor.key)
})

test('GET /metrics without the token is 404, as it is when no token is set', async () => {
  const service = await testApp({ METRICS_TOKEN })
  const closed = await testApp()
  const tries = [service.send('GET', '/metrics'), closed.send('GET', '/metrics', { headers })]
  for (const { status, body } of await Promise.all(tries))
    expect([status, body.error.type]).toEqual([404, 'not_found'])
})

test('GET /metrics of any worker counts the requests of all workers', { timeout: 60_000 }, async () => {
  const { key } = await (await testApp()).actor()
  const service = await startService({ ...testEnvironment({ METRICS_TOKEN }), WORKERS: '3' })
  const requests = 300
  // One connection for each request, so that all workers get some.
  const send = sender((request) => fetch(request, { keepalive: false }), service.url)
  for (let count = 0; count < requests; count += 1)
    await send('GET', '/v1/me', { key, headers: { connection: 'close' } })
  await Bun.sleep(100)
  const name = 'http_request_seconds_count{method="GET",route="/v1/me",status="200"}'
  for (let scrape = 0; scrape < 5; scrape += 1) {
    const { text } = await send('GET', '/metrics', { headers: { ...headers, connection: 'close' } })
    expect(seriesOf(text).get(name)).toBe(requests)
  }
  // A falling sum would be read as a reset counter: neither a restart nor a kill may lower it.
  const workers = async () => (await Bun.$`pgrep -P ${service.pid}`.text()).trim().split('\n').map(Number)
  const before = await workers()
  process.kill(service.pid, 'SIGHUP')
  while ((await workers()).some((pid) => before.includes(pid))) await Bun.sleep(100)
  process.kill((await workers())[0] as number, 'SIGKILL')
  await Bun.sleep(200)
  const { text } = await send('GET', '/metrics', { headers: { ...headers, connection: 'close' } })
  expect(seriesOf(text).get(name)).toBe(requests)
  expect(await service.end('SIGTERM')).toBe(0)
})
