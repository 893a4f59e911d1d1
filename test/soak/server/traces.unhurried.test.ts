import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../../../src/platform/process.ts'
import { sender, testApp, testEnvironment } from '../../support/app.ts'
import { startCollector } from '../../support/collector.ts'
import { ownDatabase } from '../../support/databases.ts'
import { seriesOf } from '../../support/metrics.ts'
import { startService } from '../../support/processes.ts'
import { startReceiver } from '../../support/receiver.ts'
import { serve } from '../../support/served.ts'
import { hookedPartner } from '../../support/webhooks.ts'

const hex = (bytes: number) => randomBytes(bytes).toString('hex')

/** Starts a collector that accepts connections and never responds. */
async function startSilentCollector() {
  const server = createServer(() => {}).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return { port: (server.address() as { port: number }).port, stop: () => server.close() }
}

const report = 'The collector does not accept spans'

/** Returns how many seconds the service takes to report a failing collector, and how many it takes to stop. */
async function timesOf(port: number | null) {
  const settings: Record<string, string> =
    port === null ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` }
  const service = await startService(testEnvironment({ LOG_LEVEL: 'warn', ...settings }))
  const { key } = await (await testApp()).actor()
  const ask = () => sender(fetch, service.url)('GET', '/v1/me', { key })
  const startedAt = performance.now()
  expect((await ask()).status).toBe(200)
  if (port !== null) await expect.poll(() => service.output()).toContain(report)
  const reported = (performance.now() - startedAt) / 1000
  // These spans are exported when the process stops.
  for (let count = 0; count < 20; count += 1) expect((await ask()).status).toBe(200)
  const askedAt = performance.now()
  expect(await service.end('SIGTERM')).toBe(0)
  const stopped = (performance.now() - askedAt) / 1000
  expect(service.output().split(report)).toHaveLength(port === null ? 1 : 2)
  return { reported, stopped }
}

test('an unreachable collector is reported within 12 s and delays a shutdown by at most 1 s', async () => {
  const silent = await startSilentCollector()
  const none = await timesOf(null)
  for (const port of [await freePort(), silent.port]) {
    const { reported, stopped } = await timesOf(port)
    expect(reported).toBeLessThan(12)
    expect(stopped - none.stopped).toBeLessThan(2)
  }
  silent.stop()
})

test('an unreachable collector is reported once until it accepts spans again, and fails no request', async () => {
  const lonelyPort = await freePort()
  const METRICS_TOKEN = 'a-token-of-the-operator'
  const lonely = await serve({
    METRICS_TOKEN,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${lonelyPort}/spans`,
  })
  const dropped = async () => {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
    const text = await (await fetch(`${lonely.url}/metrics`, { headers })).text()
    return seriesOf(text).get('trace_spans_dropped_total')
  }
  expect(await dropped()).toBe(0)
  const actor = await lonely.actor()
  const messages = () => lonely.lines().filter(({ collector }) => collector !== undefined)
  const ask = async () => {
    expect((await actor.send('GET', '/v1/me')).status).toBe(200)
    return messages().map(({ msg }) => msg)
  }
  const away = 'The collector does not accept spans'
  const back = 'The collector accepts spans again'
  await expect.poll(ask, { interval: 200 }).toEqual([away])
  expect(await dropped()).toBeGreaterThan(0)
  const late = startCollector(lonelyPort)
  await expect.poll(ask, { interval: 200 }).toEqual([away, back])
  expect(late.requests[0]?.path).toBe('/spans')
  await late.stop()
  expect(messages()[0]).toMatchObject({ collector: `127.0.0.1:${lonelyPort}`, level: 40 })
})

test('a hint has the trace of its latest change, without a collector and when another process retries it', async (context) => {
  const { url, received } = startReceiver(context, ({ headers }, count) => {
    return new Response(null, { status: headers.traceparent && count < 10 ? 500 : 200 })
  })
  const untraced = await serve({ MONGODB_URL: await ownDatabase() })
  const { actor, booking_id } = await hookedPartner(untraced, url, ['booking.changed'])
  const traceparent = `00-${hex(16)}-${hex(8)}-01`
  await actor.send('POST', `/v1/bookings/${booking_id}/cancel`, { headers: { traceparent } })
  // The service ignores the sampled flag sent by an untrusted client.
  const stored = traceparent.replace(/01$/, '00')
  const traces = () => received.map(({ headers }) => headers.traceparent)
  await expect.poll(traces).toContain(stored)
  await expect
    .poll(() => untraced.lines().filter(({ route }) => route === '/v1/bookings/:booking_id/cancel'))
    .toMatchObject([{ trace_id: stored.slice(3, 35) }])
  await untraced.end('SIGKILL')
  const tries = received.length
  const { MONGODB_URL = '' } = untraced.settings
  await testApp({ MONGODB_URL, WEBHOOKS_ALLOW_PRIVATE: 'on' }, () => new Date(Date.now() + 50_000))
  await expect.poll(() => traces().slice(tries)).toContain(stored)
})
