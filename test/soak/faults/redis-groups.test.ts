import { afterAll, describe, expect, test } from 'vitest'
import { sender, testApp, testEnvironment } from '../../support/app.ts'
import { type ServiceProcess, startService } from '../../support/processes.ts'
import { startRedisCluster, startSentinels } from '../../support/redis-cluster.ts'

const observer = await testApp()
const keys = 6

/** Number of clients, few enough that Redis responds to each of them in time even on a busy machine. */
const clients = 8

/** Sends 120 requests over all processes; returns the number of responses with each status. */
async function spread(services: ServiceProcess[], key: string): Promise<Record<string, number>> {
  const statuses: number[] = []
  const client = async (_: unknown, index: number) => {
    for (let sent = 0; sent < 120 / clients; sent += 1) {
      const { url } = services[index % services.length] as ServiceProcess
      statuses.push((await sender(fetch, url)('GET', '/v1/me', { key })).status)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return Object.fromEntries(
    Object.entries(Object.groupBy(statuses, String)).map(([status, all = []]) => [status, all.length]),
  )
}

/** Creates keys with a limit of 60 requests a minute. */
async function freshKeys(): Promise<string[]> {
  const actors = await Promise.all(Array.from({ length: keys }, () => observer.actor({ rateLimit: 60 })))
  return actors.map(({ key }) => key)
}

/**
 * Waits until limits are enforced exactly, which requires Redis to respond in time. On a busy machine, Redis may briefly be
 * late, and a process then decides alone. Each attempt therefore uses new keys.
 */
const untilExact = (services: ServiceProcess[]) =>
  expect
    .poll(async () => {
      const outcomes = []
      for (const key of await freshKeys()) outcomes.push(await spread(services, key))
      return outcomes
    })
    .toEqual(Array.from({ length: keys }, () => ({ 200: 60, 429: 60 })))

const untilReady = ({ url }: ServiceProcess) =>
  expect.poll(async () => (await sender(fetch, url)('GET', '/readyz')).body.status).toBe('ready')

const [cluster, sentinels] = await Promise.all([startRedisCluster(), startSentinels()])

describe.each([
  ['a cluster of three masters', cluster],
  ['a master behind sentinels', sentinels],
])('with %s', async (_, redis) => {
  const environment = (REDIS_URL: string) => testEnvironment({ REDIS_URL })
  const services = await Promise.all([
    // One server's address is enough to find the others.
    startService(environment(redis.oneUrl)),
    ...[1, 2, 3].map(() => startService(environment(redis.url))),
  ])
  afterAll(async () => {
    await Promise.all(services.map((service) => service.stop()))
    await redis.stop()
  })

  test('a limit of 60 admits exactly 60 requests over four processes', async () => {
    await Promise.all(services.map(untilReady))
    await untilExact(services)
  })

  test('killing the master fails no request, and limits are exact again once its replica has taken over', async () => {
    const busy = await observer.actor({ rateLimit: 1_000_000 })
    const statuses: number[] = []
    let isOver = false
    const load = Promise.all(
      services.map(async ({ url }) => {
        while (!isOver) {
          statuses.push((await sender(fetch, url)('GET', '/v1/me', { key: busy.key })).status)
          await Bun.sleep(5)
        }
      }),
    )
    await redis.killMaster()
    const isDegraded = async () =>
      (await sender(fetch, (services[0] as ServiceProcess).url)('GET', '/readyz')).body.status
    await expect.poll(isDegraded).toBe('degraded')
    await Promise.all(services.map(untilReady))
    await untilExact(services)
    isOver = true
    await load
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(statuses.length).toBeGreaterThan(100)
  })
})
