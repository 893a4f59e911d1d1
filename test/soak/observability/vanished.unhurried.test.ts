import { expect, onTestFinished, test } from 'vitest'
import { sender, testApp, testEnvironment } from '../../support/app.ts'
import { startService } from '../../support/processes.ts'
import { startPrometheus } from '../../support/prometheus.ts'
import { startRedis } from '../../support/redis.ts'

/** Divisor of all Prometheus times: scrapes are 500 ms apart, and a day becomes 48 minutes. */
const factor = 30
const METRICS_TOKEN = 'a-token-of-the-operator'

/** Starts a service, and a Prometheus that scrapes it. */
async function watch(more: Record<string, string> = {}) {
  const service = await startService(testEnvironment({ METRICS_TOKEN, LOG_LEVEL: 'silent', ...more }))
  onTestFinished(() => service.stop())
  const prometheus = await startPrometheus(service.url, METRICS_TOKEN, factor)
  onTestFinished(() => prometheus.stop())
  return { service, prometheus }
}

test('when all targets vanish, an alert that fired resolves, and NoTargets fires until there is a target again', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const { service, prometheus } = await watch({ REDIS_URL: redis.url })
  await redis.stop()
  await expect.poll(() => prometheus.firing()).toEqual(['RedisDegraded'])
  await prometheus.setTargets([])
  await expect.poll(() => prometheus.firing()).toEqual(['NoTargets'])
  // It has fired in every evaluation of the last ten seconds.
  const fired = 'count_over_time(ALERTS{alertname="NoTargets",alertstate="firing"}[10s]) >= 18'
  await expect.poll(() => prometheus.count(fired)).toBe(1)
  expect(await prometheus.firing()).toEqual(['NoTargets'])
  await prometheus.setTargets([service.url])
  await expect.poll(() => prometheus.firing()).toEqual(['RedisDegraded'])
})

test('a process that is no longer scraped is missing, and one that comes back ends the alert', async () => {
  const { service, prometheus } = await watch()
  const other = await startService(testEnvironment({ METRICS_TOKEN, LOG_LEVEL: 'silent' }))
  onTestFinished(() => other.stop())
  await prometheus.setTargets([service.url, other.url])
  // Most of the time so far has two targets.
  await expect.poll(() => prometheus.count('quantile_over_time(0.5, api:targets:count[48m]) == 2')).toBe(1)
  await prometheus.setTargets([service.url])
  // The median of so short a time would follow soon.
  await expect.poll(() => prometheus.count('ALERTS{alertname="ProcessesMissing"}')).toBe(1)
  await prometheus.setTargets([service.url, other.url])
  await expect.poll(() => prometheus.count('ALERTS{alertname="ProcessesMissing"}')).toBe(0)
})

test('requests that stop coming are missed, and one request ends the alert', async () => {
  const { service, prometheus } = await watch()
  const { key } = await (await testApp()).actor()
  const send = sender(fetch, service.url)
  const request = () => send('GET', '/v1/me', { key })
  // A count that Prometheus has never seen smaller is no traffic to it.
  await request()
  await expect.poll(() => prometheus.count('sum(api_responses_total) > 0')).toBe(1)
  for (let count = 0; count < 150; count += 1) {
    await request()
    await Bun.sleep(20)
  }
  await expect.poll(() => prometheus.firing()).toEqual(['NoTraffic'])
  await request()
  await expect.poll(() => prometheus.firing()).toEqual([])
})

test('an address that leads to two processes in turn is noticed, and a restart is not taken for one', async () => {
  const { service, prometheus } = await watch()
  const other = await startService(testEnvironment({ METRICS_TOKEN, LOG_LEVEL: 'silent' }))
  onTestFinished(() => other.stop())
  let turn = 0
  const common = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      turn += 1
      const { pathname } = new URL(request.url)
      return fetch((turn % 2 === 0 ? service : other).url + pathname, { headers: request.headers })
    },
  })
  onTestFinished(() => common.stop(true))
  await prometheus.setTargets([`http://127.0.0.1:${common.port}`])
  await expect.poll(() => prometheus.firing()).toEqual(['ResetsWithoutRestart'])
  await prometheus.setTargets([service.url])
  await expect.poll(() => prometheus.firing()).toEqual([])

  const { key } = await (await testApp()).actor()
  await sender(fetch, service.url)('GET', '/v1/me', { key })
  const counted = (query: string) => prometheus.count(query)
  await expect.poll(() => counted('sum(api_responses_total) > 0')).toBe(1)
  await service.end('SIGTERM')
  const restarted = await startService(
    testEnvironment({ METRICS_TOKEN, LOG_LEVEL: 'silent', PORT: new URL(service.url).port }),
  )
  onTestFinished(() => restarted.stop())
  await expect.poll(() => counted('sum by (instance) (resets(api_responses_total[30s])) > 0')).toBe(1)
  expect(await counted('ALERTS{alertname="ResetsWithoutRestart"}')).toBe(0)
})
