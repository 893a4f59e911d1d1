import { expect, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { readConfig } from '../../src/core/config.ts'
import { ConnectionAges } from '../../src/process/connection-ages.ts'
import { compose } from '../../src/process/wiring.ts'
import { makeActor, sender, testEnvironment } from '../support/app.ts'
import { onScopeEnd, ownDatabase } from '../support/databases.ts'
import { openRaw, rawHead } from '../support/raw-connection.ts'

/** Minutes that have passed on the clock by which connections grow old. */
let minutes = 0
const config = readConfig(testEnvironment({ MONGODB_URL: await ownDatabase() }))
const context = await compose(config, { noTimeouts: true })
const ages = new ConnectionAges(() => minutes * 60_000)
const app = createApp(context, undefined, ages).listen({ hostname: '127.0.0.1', port: 0 })
const url = `http://127.0.0.1:${app.server?.port}`
onScopeEnd(async () => {
  await app.stop(true)
  await context.close()
})
const { key } = await makeActor(context.live, sender(fetch, url))

/** Opens a connection; `ask` sends a request on it and returns the heads of all responses so far. */
async function open() {
  const connection = await openRaw(url)
  let asked = 0
  const heads = () => connection.received().match(/HTTP\/1\.1 [\s\S]*?\r\n\r\n/g) ?? []
  return {
    ...connection,
    async ask(target = 'GET /v1/me') {
      await connection.send(rawHead(target, [], key))
      asked += 1
      await expect.poll(() => heads().length, { interval: 5 }).toBe(asked)
      const head = heads().at(-1) ?? ''
      return { status: head.slice(9, 12), closes: /^connection: close\r$/im.test(head) }
    },
  }
}

test('a connection is closed with its next response after ten minutes and at most a tenth more', async () => {
  const used = await open()
  for (const target of ['GET /v1/me', 'GET /guide/errors.md', 'GET /nothing', 'GET /v1/me']) {
    const status = target === 'GET /nothing' ? '404' : '200'
    expect(await used.ask(target)).toEqual({ status, closes: false })
    minutes += 3
  }
  expect(used.isClosed()).toBe(false)
  expect(await used.ask('GET /v1/listings')).toEqual({ status: '200', closes: true })
  await expect.poll(() => used.isClosed()).toBe(true)
})

test.each(['GET /guide/errors.md', 'GET /healthz', 'GET /nothing', 'POST /v1/bookings', 'GET /openapi.json'])(
  '%s on an old connection is answered before the connection is closed',
  async (target) => {
    const used = await open()
    await used.ask()
    minutes += 4
    await used.ask()
    minutes += 4
    await used.ask()
    minutes += 4
    expect(await used.ask(target)).toMatchObject({ closes: true })
    await expect.poll(() => used.isClosed()).toBe(true)
  },
)

test('connections of the same age are closed at different times, and a new one has its own ten minutes', async () => {
  const connections = await Promise.all(Array.from({ length: 20 }, open))
  const askAll = () => Promise.all(connections.map((used) => used.ask()))
  await askAll()
  minutes += 4.9
  await askAll()
  minutes += 4.9
  for (const answer of await askAll()) expect(answer).toEqual({ status: '200', closes: false })
  minutes += 0.7
  const closed = (await askAll()).map(({ closes }) => closes)
  expect(new Set(closed).size).toBe(2)
  expect(await (await open()).ask()).toEqual({ status: '200', closes: false })
})

test('a connection whose port another one used long ago is new', () => {
  const peer = { address: '192.0.2.1', port: 5000 }
  expect(ages.isOld(peer)).toBe(false)
  minutes += 60
  expect(ages.isOld(peer)).toBe(false)
})
