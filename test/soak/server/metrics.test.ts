import { expect, test } from 'vitest'
import { sender, testApp, testEnvironment } from '../../support/app.ts'
import { seriesOf } from '../../support/metrics.ts'
import { startService } from '../../support/processes.ts'

const METRICS_TOKEN = 'a-token-of-the-operator'
const headers = { authorization: `Bearer ${METRICS_TOKEN}` }

/** Returns the lines with the instance and the time of its start. */
function instanceIn(text: string): string {
  const lines =
    text.match(/^process_(info\{instance_id="[0-9a-f-]{36}"\} 1|start_time_seconds \d+.*)$/gm) ?? []
  expect(lines).toHaveLength(2)
  return lines.join(' ')
}

test('GET /metrics of any worker counts the requests of all workers', async () => {
  const { key } = await (await testApp()).actor()
  const service = await startService({ ...testEnvironment({ METRICS_TOKEN }), WORKERS: '3' })
  const requests = 300
  // Each request opens its own connection, so that every worker gets some requests.
  const send = sender((request) => fetch(request, { keepalive: false }), service.url)
  for (let count = 0; count < requests; count += 1)
    await send('GET', '/v1/me', { key, headers: { connection: 'close' } })
  await Bun.sleep(100)
  const name = 'http_request_seconds_count{method="GET",route="/v1/me",status="200"}'
  const scraped = new Set<string>()
  for (let scrape = 0; scrape < 5; scrape += 1) {
    const { text } = await send('GET', '/metrics', { headers: { ...headers, connection: 'close' } })
    expect(seriesOf(text).get(name)).toBe(requests)
    scraped.add(instanceIn(text))
  }
  // Prometheus would take a lower sum for a counter reset, so neither a restart nor a kill may lower it.
  const workers = async () => (await Bun.$`pgrep -P ${service.pid}`.text()).trim().split('\n').map(Number)
  const before = await workers()
  process.kill(service.pid, 'SIGHUP')
  while ((await workers()).some((pid) => before.includes(pid))) await Bun.sleep(100)
  process.kill((await workers())[0] as number, 'SIGKILL')
  await Bun.sleep(200)
  const { text } = await send('GET', '/metrics', { headers: { ...headers, connection: 'close' } })
  expect(seriesOf(text).get(name)).toBe(requests)
  // The counts go on, so their start and their instance are those of the supervisor.
  expect([...scraped]).toEqual([instanceIn(text)])
  expect(await service.end('SIGTERM')).toBe(0)
})
