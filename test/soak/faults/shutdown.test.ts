import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { isAlive } from '../../../src/platform/process.ts'
import { userModel } from '../../../src/stays/users/model.ts'
import { seedBooking, sender, testApp, testEnvironment } from '../../support/app.ts'
import { seriesOf } from '../../support/metrics.ts'
import { startService, workersOf } from '../../support/processes.ts'

const limitMilliseconds = 20_000
const observer = await testApp()

/** Sends a body byte by byte, for much longer than a shutdown may take. */
function trickle(url: string, key: string) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const head = ['POST /v1/users HTTP/1.1', 'Host: test', `X-API-Key: ${key}`, 'Content-Length: 200']
  socket.write(`${head.join('\r\n')}\r\n\r\n{`)
  const timer = setInterval(() => socket.write(' '), 300)
  socket.on('error', () => {})
  socket.on('close', () => clearInterval(timer))
  return new Promise<void>((resolve) => socket.on('close', () => resolve()))
}

test.concurrent.each(['1', '2'])(
  'a service with %s worker(s) shuts down in time despite a trickling client, unready from the start, and finishes the requests in flight',
  async (WORKERS) => {
    const { key, hostId } = await observer.actor()
    const service = await startService({ ...testEnvironment(), WORKERS })
    const trickled = trickle(service.url, key)
    const send = sender(fetch, service.url)
    const create = (index: number) =>
      send('POST', '/v1/users', {
        key,
        body: { email: `s${index}@example.com`, first_name: 'A', last_name: 'B', password: 'long enough' },
      })
    const inFlight = Array.from({ length: 10 }, (_, index) => create(index))
    await Bun.sleep(100)
    const begun = Date.now()
    const ended = service.end('SIGTERM')
    await Bun.sleep(100)
    const readiness = await send('GET', '/readyz')
    expect(readiness.status).toBe(503)
    expect(readiness.body).toEqual({ status: 'not ready', failing: ['shutdown'] })
    expect(readiness.headers.get('connection')).toBe('close')
    await Bun.sleep(3000)
    process.kill(service.pid, 'SIGTERM')
    expect(await ended).toBe(0)
    expect(Date.now() - begun).toBeLessThan(limitMilliseconds)
    await trickled
    const statuses = (await Promise.all(inFlight)).map(({ status }) => status)
    expect(statuses).toEqual(Array(10).fill(201))
    expect(await userModel(observer.live.db).countDocuments({ owner_id: hostId })).toBe(10)
  },
)

/** Opens a connection that stays open between requests. */
function keepConnection(url: string) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.setEncoding('utf8')
  return {
    request: () =>
      new Promise<string>((resolve) => {
        for (const event of ['data', 'error', 'close'])
          socket.once(event, (told) => resolve(String(told ?? event)))
        if (socket.destroyed) resolve('closed before')
        socket.write('GET /v1/me HTTP/1.1\r\nHost: test\r\n\r\n')
      }),
    end: () => socket.destroy(),
  }
}

test.concurrent('during a shutdown an open connection gets one more response, with "Connection: close", and new ones are refused', async () => {
  const service = await startService(testEnvironment())
  const connections = Array.from({ length: 5 }, () => keepConnection(service.url))
  for (const { request } of connections) expect(await request()).toMatch(/^HTTP\/1.1 401/)
  const ended = service.end('SIGTERM')
  await Bun.sleep(1300)
  expect(await keepConnection(service.url).request()).toContain('ECONNREFUSED')
  for (const { request } of connections) {
    expect(await request()).toMatch(/^HTTP\/1.1 401.*^connection: close\r$/ims)
    await Bun.sleep(700)
  }
  expect(await ended).toBe(0)
  for (const { end } of connections) end()
})

test.concurrent('a poll that waits gets a response when its process shuts down, and its connection is closed', async () => {
  const METRICS_TOKEN = 'a-token-of-the-operator'
  const service = await startService(testEnvironment({ METRICS_TOKEN }))
  const actor = await observer.actor()
  await seedBooking(actor)
  const feed = '/v1/integrations/provider_one/bookings'
  const { version } = (await actor.send('GET', feed)).body.data.Bookings.at(-1)
  const path = `${feed}?updated_after=${encodeURIComponent(version)}&wait=30`
  const waiting = sender(fetch, service.url)('GET', path, { key: actor.key })
  const held = async () => {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
    return seriesOf(await (await fetch(`${service.url}/metrics`, { headers })).text()).get('held_requests')
  }
  await expect.poll(held).toBe(1)
  const ended = service.end('SIGTERM')
  const response = await waiting
  expect({ status: response.status, connection: response.headers.get('connection') }).toEqual({
    status: 200,
    connection: 'close',
  })
  expect(await ended).toBe(0)
})

test.concurrent('workers exit after their supervisor is killed, and release the port', async () => {
  const service = await startService({ ...testEnvironment(), WORKERS: '2' })
  while ((await workersOf(service.pid)).length < 2) await Bun.sleep(50)
  const workers = await workersOf(service.pid)
  const begun = Date.now()
  await service.end('SIGKILL')
  while (workers.some(isAlive) && Date.now() - begun < limitMilliseconds) await Bun.sleep(50)
  const left = workers.filter(isAlive)
  for (const pid of left) process.kill(pid, 'SIGKILL')
  expect(left).toEqual([])
  await expect(fetch(`${service.url}/healthz`)).rejects.toThrow()
})
