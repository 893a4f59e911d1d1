import { connect, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApp } from '../../support/app.ts'
import { startRedis, type TestRedis } from '../../support/redis.ts'

/** Starts a tunnel to Redis that can swallow all data without closing a connection. */
async function startTunnel(target: number) {
  let isOpen = true
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    client.on('data', (data) => isOpen && upstream.write(data))
    upstream.on('data', (data) => isOpen && client.write(data))
  })
  const { promise, resolve } = Promise.withResolvers<number>()
  server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
  return {
    port: await promise,
    swallow: (swallowing: boolean) => {
      isOpen = !swallowing
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

let redis: TestRedis
let tunnel: Awaited<ReturnType<typeof startTunnel>>
let service: Awaited<ReturnType<typeof testApp>>
beforeAll(async () => {
  redis = await startRedis()
  tunnel = await startTunnel(Number(new URL(redis.url).port))
  service = await testApp({ REDIS_URL: `redis://127.0.0.1:${tunnel.port}`, LOG_LEVEL: 'silent' })
})
afterAll(async () => {
  tunnel.close()
  await redis.stop()
})

/** Sends requests one after another, each of which must succeed; returns their latencies in milliseconds. */
async function latencies(key: string, count: number): Promise<number[]> {
  const times: number[] = []
  for (let sent = 0; sent < count; sent += 1) {
    const start = performance.now()
    const { status } = await service.send('GET', '/v1/me', { key })
    times.push(performance.now() - start)
    expect(status).toBe(200)
  }
  return times.sort((a, b) => a - b)
}

/** The longest delay that an outage may add to a request (decisions §12). */
const addedMilliseconds = 100

const p95 = (times: number[]) => times[Math.floor((times.length - 1) * 0.95)] as number

const outages: [string, { begin(): Promise<void> | void; end(): Promise<void> | void }][] = [
  [
    'stopped',
    {
      begin: () => void process.kill(redis.pid, 'SIGSTOP'),
      end: () => void process.kill(redis.pid, 'SIGCONT'),
    },
  ],
  ['black-holed', { begin: () => tunnel.swallow(true), end: () => tunnel.swallow(false) }],
  [
    'killed',
    {
      begin: () => redis.stop(),
      end: async () => {
        redis = await startRedis(Number(new URL(redis.url).port))
      },
    },
  ],
]

test.each(outages)(
  'a service whose Redis is %s responds at most 100 ms later at p95, limits by itself, and is ready soon after the end',
  async (_, outage) => {
    const { key } = await service.actor()
    const before = await latencies(key, 200)
    await outage.begin()
    try {
      const during = await latencies(key, 400)
      expect(p95(during) - p95(before)).toBeLessThan(addedMilliseconds)

      const limited = await service.actor({ rateLimit: 10 })
      const statuses: number[] = []
      for (let count = 0; count < 15; count += 1) statuses.push((await limited.send('GET', '/v1/me')).status)
      expect(statuses.filter((status) => status === 200)).toHaveLength(10)
      expect(statuses.filter((status) => status === 429)).toHaveLength(5)
      const readiness = await service.send('GET', '/readyz')
      expect(readiness.status).toBe(200)
      expect(readiness.body).toEqual({ status: 'degraded', failing: ['redis'] })
    } finally {
      // Ends the outage even after a failure, because the next round tests another kind of outage.
      await outage.end()
    }
    const start = performance.now()
    while ((await service.send('GET', '/readyz')).body.status !== 'ready') await Bun.sleep(20)
    expect(performance.now() - start).toBeLessThan(2000 + 100 * p95(before))
  },
)
