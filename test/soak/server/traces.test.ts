import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../../../src/platform/process.ts'
import { sender, testApp, testEnvironment } from '../../support/app.ts'
import { startService } from '../../support/processes.ts'

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

test('an unreachable collector is reported within 12 s and delays a shutdown by at most 5 s', async () => {
  const silent = await startSilentCollector()
  const none = await timesOf(null)
  for (const port of [await freePort(), silent.port]) {
    const { reported, stopped } = await timesOf(port)
    expect(reported).toBeLessThan(12)
    expect(stopped - none.stopped).toBeLessThan(5.5)
  }
  silent.stop()
})
