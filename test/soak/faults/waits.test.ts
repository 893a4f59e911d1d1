import { afterAll, expect, test } from 'vitest'
import { mintKey } from '../../../src/access/keys/store.ts'
import type { Permission } from '../../../src/http/permissions.ts'
import { type Actor, sender, testApp, testEnvironment } from '../../support/app.ts'
import { startService } from '../../support/processes.ts'
import { startRedis } from '../../support/redis.ts'
import { startReplicaSet } from '../../support/replica-set.ts'
import { validBodies } from '../../support/valid-bodies.ts'

/** Maximum duration of any request in milliseconds, even if a server is frozen (docs/operations.md). */
const maxWaitMilliseconds = 15_000

const replicas = await startReplicaSet()
const redis = await startRedis()
afterAll(async () => {
  await replicas.stop()
  await redis.stop()
})
const environment = { MONGODB_URL: replicas.url, REDIS_URL: redis.url, LOG_LEVEL: 'error' }
const observer = await testApp(environment)
const actor: Actor = await observer.actor()
const bodies = await validBodies(actor)
const process = await startService(testEnvironment(environment))
afterAll(() => process.stop())
const send = sender(fetch, process.url)

/** Consumers have their own limit of 60 requests per key, so each round uses another key of the host. */
const keys = await Promise.all(
  Array.from({ length: 30 }, async (_, index) => {
    const { db, clock } = observer.live
    const permissions: Permission[] = ['bookings.read']
    return (await mintKey(db, clock, { host: actor.hostId, name: `Round ${index}`, permissions })).key
  }),
)
let rounds = 0

interface Wait {
  name: string
  status: number
  milliseconds: number
  retryAfter: string | null
}

/** Sends every kind of request several times concurrently, as partners do. */
async function requestEverything(): Promise<Wait[]> {
  const narrow = keys[rounds++ % keys.length] as string
  const writes = Object.entries(bodies).map(
    ([name, { path, body }]) => [name.split(' ')[0] as string, path, body] as const,
  )
  const reads = ['/v1/me', '/v1/listings', '/v1/integrations/provider_one/bookings'].map(
    (path) => ['GET', path, undefined] as const,
  )
  const all = [...writes, ...reads].flatMap((one) => Array.from({ length: 6 }, () => one))
  return Promise.all(
    all.map(async ([method, path, body]) => {
      const start = performance.now()
      const { status, headers } = await send(method, path, {
        key: path.includes('/consumers') ? narrow : actor.key,
        ...(body === undefined ? {} : { body: body() }),
      })
      const milliseconds = performance.now() - start
      return { name: `${method} ${path}`, status, milliseconds, retryAfter: headers.get('retry-after') }
    }),
  )
}

const slowestOf = (waits: Wait[]) => Math.max(...waits.map(({ milliseconds }) => milliseconds))

/** @param calm the same requests while nothing is frozen; the bound allows for their latency */
function expectBounded(waits: Wait[], calm: Wait[]) {
  const bound = maxWaitMilliseconds + 5 * slowestOf(calm)
  const hanging = waits.filter(({ milliseconds }) => milliseconds > bound)
  expect(hanging).toEqual([])
  const silent = waits.filter(({ status, retryAfter }) => status === 500 && retryAfter === null)
  expect(silent, process.output()).toEqual([])
}

/** Returns true for a failed request. A conflict from a second transition or a sixth webhook counts as success. */
function isRefused({ name, status }: Wait): boolean {
  return status >= 400 && !(status === 409 && /\/(confirm|cancel|webhooks|read)$/.test(name))
}

async function recovers() {
  const deadline = Date.now() + 120_000
  for (;;) {
    const waits = await requestEverything()
    if (!waits.some(isRefused)) return
    if (Date.now() > deadline) throw new Error(JSON.stringify(waits.filter(isRefused)))
    await Bun.sleep(500)
  }
}

test.each([
  ['the primary is', () => replicas.freezePrimary()],
  ['the secondaries are', () => replicas.freezeSecondaries()],
])('while %s frozen no request hangs, and all succeed afterwards', async (_, freeze) => {
  const calm = await requestEverything()
  expect(calm.filter(isRefused)).toEqual([])
  const resume = await freeze()
  try {
    expectBounded(await requestEverything(), calm)
  } finally {
    await resume()
  }
  await recovers()
})

test('while Redis is frozen every request succeeds', async () => {
  const calm = await requestEverything()
  globalThis.process.kill(redis.pid, 'SIGSTOP')
  try {
    const waits = await requestEverything()
    expectBounded(waits, calm)
    expect(waits.filter(isRefused)).toEqual([])
  } finally {
    globalThis.process.kill(redis.pid, 'SIGCONT')
  }
  await recovers()
})

test('a tag manager that never responds delays no rates', async () => {
  const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const tracked = await startService(
    testEnvironment({ ...environment, TAG_MANAGER_URL: `http://127.0.0.1:${silent.port}/` }),
  )
  const sendTo = sender(fetch, tracked.url)
  const users = bodies['POST /v1/users'] as (typeof bodies)[string]
  for (let count = 0; count < 5; count += 1)
    expect((await sendTo('POST', users.path, { key: actor.key, body: users.body() })).status).toBe(201)
  const rates = bodies['POST /v1/integrations/:provider/rates'] as (typeof bodies)[string]
  const pushed = await sendTo('POST', rates.path, { key: actor.key, body: rates.body() })
  const job = await sendTo('GET', `${rates.path}/jobs/${pushed.body.meta.job_id}`, { key: actor.key })
  expect({ status: pushed.status, jobStatus: job.body.data.status }).toEqual({
    status: 200,
    jobStatus: 'applied',
  })
  await tracked.stop()
  silent.stop(true)
})
