import type { CommandStartedEvent } from 'mongodb'
import { expect, test } from 'vitest'
import { rateLimitName } from '../../src/access/keys/authorizer.ts'
import { updateKey } from '../../src/access/keys/store.ts'
import type { Permission } from '../../src/http/permissions.ts'
import { sentAvailability } from '../../src/inventory/availability/availability-write.ts'
import { type Actor, type Sending, seedBooking, type TestApp, testApp } from '../support/app.ts'
import { ownDatabase } from '../support/databases.ts'
import { acquaint, HeldLimiter, isHarmless, type SentCommand, SentCommands } from '../support/held-limiter.ts'
import { fillOwn, keyedRoutes, makeOwnIds } from '../support/routes.ts'
import { validBodies } from '../support/valid-bodies.ts'

/*
 * A request whose key is known to have room is begun while the limiter decides (`src/http/early-start.ts`). Two processes
 * of the service share one Redis and one database. In the first one, a test decides when the limiter does.
 */
const settings = {
  MONGODB_URL: `${await ownDatabase()}&monitorCommands=true`,
  WEBHOOKS_ALLOW_PRIVATE: 'on',
}
const service = await testApp(settings)
const other = await testApp(settings)
const limiter = new HeldLimiter(service.live.rateLimiter)
const commands = new SentCommands(service.live)
const provider = '/v1/integrations/provider_one'

async function newActor(options?: { permissions?: Permission[]; rateLimit?: number }): Promise<Actor> {
  const actor = await service.actor(options)
  await acquaint(service.live, actor.key)
  return actor
}

/** Sends a request, and returns what it has sent to the database when it can do nothing more before it is admitted. */
async function begin(actor: Actor, method: string, path: string, sending?: Sending) {
  const decision = limiter.hold()
  commands.take()
  const answer = actor.send(method, path, sending)
  await decision.asked
  await commands.settle()
  return { answer, decision, begun: commands.take() }
}

/** Sends a request that the limiter refuses only once everything that may begin early has begun. */
async function refuse(actor: Actor, method: string, path: string, sending?: Sending) {
  const { answer, decision, begun } = await begin(actor, method, path, sending)
  decision.refuse()
  const { status, headers } = await answer
  await commands.settle()
  return { status, headers, sent: [...begun, ...commands.take()] }
}

const namesOf = (sent: SentCommand[]) => sent.map(({ name, collection }) => `${name} ${collection}`)
const key = () => ({ 'idempotency-key': crypto.randomUUID() })

test('a read, and what prepares a write, wait for the database and the limiter at once', async () => {
  const actor = await newActor()
  const { booking_id, listing_id, user_id, room_type_id } = await seedBooking(actor)
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2041-01-01', checkout_at: '2041-02-01' }
  const sendings: [string, string, Sending, string[]][] = [
    ['GET', `${provider}/bookings`, {}, ['bookings']],
    ['GET', `${provider}/bookings?wait=0`, {}, ['bookings']],
    ['GET', `/v1/listings/${listing_id}`, {}, ['listings']],
    ['GET', `${provider}/bookings/${booking_id}`, {}, ['bookings']],
    ['POST', '/v1/bookings', { body: stay, headers: key() }, ['stored_responses', 'users', 'listings']],
    ['POST', `/v1/bookings/${booking_id}/messages`, { body: { message: { text: 'Hi' } } }, ['bookings']],
  ]
  for (const [method, path, sending, expected] of sendings) {
    await acquaint(service.live, actor.key)
    const { answer, decision, begun } = await begin(actor, method, path, sending)
    const collections = begun.map(({ collection }) => collection)
    expect(collections, `${method} ${path}`).toEqual(expect.arrayContaining(expected))
    decision.decide()
    expect((await answer).status).toBeLessThan(300)
  }
})

test('no route changes anything for a request that is begun early and then refused', async () => {
  const actor = await newActor()
  const ids = await makeOwnIds(actor, '/v1')
  const bodies = await validBodies(actor, '/v1', ids)
  // The calendars of the listings are read in the background.
  await service.live.calendars.stop()
  let begunEarly = 0
  for (const route of keyedRoutes(service, '/v1')) {
    const name = `${route.method} ${route.path}`
    const query = new URLSearchParams(route.requiredQuery)
    const path = bodies[name]?.path ?? fillOwn(route.path, ids)
    const body = bodies[name]?.body()
    await acquaint(service.live, actor.key, route.limit)
    const { status, headers, sent } = await refuse(actor, route.method, `${path}?${query}`, {
      ...(body === undefined ? {} : { body }),
      headers: key(),
    })
    expect(status, name).toBe(429)
    expect(headers.get('retry-after'), name).toBe('1')
    expect(namesOf(sent.filter((command) => !isHarmless(command))), name).toEqual([])
    if (sent.length > 0) begunEarly += 1
  }
  // Most routes read something, so an early start that never happens would be noticed.
  expect(begunEarly).toBeGreaterThan(20)
})

test('a refused booking and a refused deletion have no effect, and the next ones have', async () => {
  const actor = await newActor()
  const { listing_id, user_id, room_type_id } = await seedBooking(actor)
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2041-01-01', checkout_at: '2041-02-01' }
  const webhook = { url: 'https://hooks.invalid/', events: ['booking.changed'] }
  const { id } = (await actor.send('POST', '/v1/webhooks', { body: webhook })).body.data
  const bookings = async () => (await actor.send('GET', `${provider}/bookings`)).body.data.Bookings.length
  const before = await bookings()
  for (const headers of [{}, key()]) {
    await acquaint(service.live, actor.key)
    expect((await refuse(actor, 'POST', '/v1/bookings', { body: stay, headers })).status).toBe(429)
    expect(await bookings()).toBe(before)
  }
  await acquaint(service.live, actor.key)
  expect((await refuse(actor, 'DELETE', `/v1/webhooks/${id}`)).status).toBe(429)
  expect((await actor.send('GET', `/v1/webhooks/${id}`)).status).toBe(200)
  expect((await actor.send('POST', '/v1/bookings', { body: stay })).status).toBe(201)
  expect((await actor.send('DELETE', `/v1/webhooks/${id}`)).status).toBe(200)
})

test('preparing a push of availability compacts nothing, even if the push needs it', async () => {
  const actor = await newActor()
  const { listing_id, room_type_id } = await seedBooking(actor)
  const item = { listing_id, room_type_id, available: 1, start_date: '2041-01-01', end_date: '2041-01-02' }
  const pushed = await actor.send('POST', `${provider}/availability`, { body: { data: [item, item, item] } })
  expect(pushed.status).toBe(200)
  // More than may wait for a compaction.
  const items = Array.from({ length: 2001 }, () => item)
  await commands.settle()
  commands.take()
  const prepared = await sentAvailability.prepare(service.live, actor.hostId, items)
  await commands.settle()
  expect(namesOf(commands.take().filter((command) => !isHarmless(command)))).toEqual([])
  await sentAvailability.ensure?.(service.live, actor.hostId, prepared)
  expect(commands.take().filter((command) => !isHarmless(command)).length).toBeGreaterThan(0)
})

test('a refused poll holds no place, counts as no read, and keeps no end of a page', async () => {
  const actor = await newActor()
  const readAt = async () => (await actor.send('GET', '/v1/health')).body.data.feeds.bookings.read_at
  const { answer, decision } = await begin(actor, 'GET', `${provider}/bookings?wait=20`)
  expect(service.live.heldRequests.size).toBe(0)
  decision.refuse()
  expect((await answer).status).toBe(429)
  expect(service.live.heldRequests.size).toBe(0)
  expect(await readAt()).toBeNull()
  const { listing_id, user_id, room_type_id } = await seedBooking(actor)
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2041-01-01', checkout_at: '2041-02-01' }
  await actor.send('POST', '/v1/bookings', { body: stay })
  await acquaint(service.live, actor.key)
  for (const path of [`${provider}/bookings?per_page=1`, `${provider}/bookings`]) {
    await acquaint(service.live, actor.key)
    const { status, sent } = await refuse(actor, 'GET', path)
    const changed = sent.filter((command) => !isHarmless(command))
    expect({ status, changed }).toEqual({ status: 429, changed: [] })
    expect(await readAt()).toBeNull()
  }
  expect((await actor.send('GET', `${provider}/bookings?per_page=1`)).status).toBe(200)
  expect(await readAt()).not.toBeNull()
})

test('a poll that is admitted is held, and ends with the change that it waits for', async () => {
  const actor = await newActor()
  const { answer, decision } = await begin(actor, 'GET', `${provider}/bookings?wait=20`)
  decision.decide()
  await expect.poll(() => service.live.heldRequests.size).toBe(1)
  await seedBooking(actor)
  const { status, body, headers } = await answer
  expect({ status, bookings: body.data.Bookings.length }).toEqual({ status: 200, bookings: 1 })
  expect(headers.get('ratelimit')).toContain('"default"')
})

test.each([
  { name: 'a list that is streamed', path: '/v1/listings' },
  { name: 'an envelope', path: `${provider}/bookings` },
  { name: 'a stream of availability', path: `${provider}/availability?page=1` },
])('$name that is begun early has the headers of its limit', async ({ path }) => {
  const actor = await newActor()
  const { answer, decision } = await begin(actor, 'GET', path)
  decision.decide()
  const { status, headers } = await answer
  expect({ status, policy: headers.get('ratelimit-policy') }).toEqual({
    status: 200,
    policy: '"default";q=1000000;w=60',
  })
})

test('a replay that is begun early has the headers of its own limit, and its first body', async () => {
  const actor = await newActor()
  const { listing_id, user_id, room_type_id } = await seedBooking(actor)
  const body = { user_id, listing_id, room_type_id, checkin_at: '2041-01-01', checkout_at: '2041-02-01' }
  const headers = key()
  const first = await actor.send('POST', '/v1/bookings', { body, headers })
  const { answer, decision } = await begin(actor, 'POST', '/v1/bookings', { body, headers })
  decision.decide()
  const replay = await answer
  expect({ status: replay.status, text: replay.text }).toEqual({ status: 201, text: first.text })
  expect(replay.headers.get('idempotent-replayed')).toBe('true')
  expect(replay.headers.get('ratelimit')).toContain('"default"')
})

/** Makes the record of a key that the service has cached a minute old. */
async function makeOld({ key }: Actor): Promise<void> {
  await acquaint(service.live, key)
  await service.live.authorizer.authorize(key, new Date(Date.now() - 60_000), async () => true)
}

/**
 * Compares what `work` returns, and tries again while Redis is late for one of its requests: whatever the service decides
 * alone, it reads the key's record for once more.
 */
async function withRedis<T>(work: () => Promise<T>, expected: T): Promise<void> {
  let alone: number
  let found: T
  do {
    alone = limiter.alone
    found = await work()
  } while (limiter.alone > alone)
  expect(found).toEqual(expected)
}

test('a poll by a key that was last used a minute ago waits for its record, its page and the limiter at once', async () => {
  const actor = await newActor()
  await seedBooking(actor)
  await withRedis(async () => {
    await makeOld(actor)
    const { answer, decision, begun } = await begin(actor, 'GET', `${provider}/bookings`)
    expect(namesOf(begun)).toContain('find bookings')
    decision.decide()
    const { status, body } = await answer
    expect({ status, bookings: body.data.Bookings.length }).toEqual({ status: 200, bookings: 1 })
    return namesOf(commands.take()).filter((name) => name === 'find bookings')
  }, [])
})

test.each([
  { name: 'is revoked', change: { active: false }, status: 401 },
  { name: 'loses its permission', change: { permissions: ['listings.read' as const] }, status: 403 },
  { name: 'gets a lower limit', change: { rate_limit: 7 }, status: 200 },
])('a key that $name without being announced is judged by its new record', async ({ change, status }) => {
  const actor = await newActor()
  await makeOld(actor)
  await updateKey(service.live.db, String(actor.keyId), change)
  const { answer, decision, begun } = await begin(actor, 'GET', `${provider}/bookings`)
  expect(namesOf(begun)).toContain('find bookings')
  decision.decide()
  expect((await answer).status).toBe(status)
})

test('concurrent requests read an old record once', async () => {
  const actor = await newActor()
  let reads = 0
  const client = service.live.db.getClient()
  const count = ({ commandName, command }: CommandStartedEvent) => {
    if (commandName === 'find' && command.find === 'keys' && 'secrets.hash' in command.filter) reads += 1
  }
  client.on('commandStarted', count)
  await withRedis(async () => {
    await makeOld(actor)
    reads = 0
    const answers = await Promise.all(Array.from({ length: 20 }, () => actor.send('GET', '/v1/me')))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    return reads
  }, 1)
  client.off('commandStarted', count)
})

test('a key that changes while a request is begun is served as it then is', async () => {
  const actor = await newActor()
  await seedBooking(actor)
  const change = async (fields: Parameters<typeof updateKey>[2]) => {
    await updateKey(service.live.db, String(actor.keyId), fields)
    await service.live.rateLimiter.invalidate(rateLimitName(actor.keyId))
  }
  const poll = async (fields: Parameters<typeof updateKey>[2]) => {
    await acquaint(service.live, actor.key)
    const { answer, decision, begun } = await begin(actor, 'GET', `${provider}/bookings`)
    expect(namesOf(begun)).toContain('find bookings')
    await change(fields)
    decision.decide()
    return answer
  }
  const renamed = await poll({ name: 'Renamed' })
  expect({ status: renamed.status, bookings: renamed.body.data.Bookings.length }).toEqual({
    status: 200,
    bookings: 1,
  })
  const forbidden = await poll({ permissions: ['users.read'] })
  expect({ status: forbidden.status, type: forbidden.body.error.type }).toEqual({
    status: 403,
    type: 'forbidden',
  })
  await change({ permissions: ['bookings.read'] })
  const elsewhere = await poll({ allowed_from: ['203.0.113.0/24'] })
  expect({ status: elsewhere.status, path: elsewhere.body.error.errors[0].path }).toEqual({
    status: 403,
    path: 'client_address',
  })
  await change({ allowed_from: [] })
  const revoked = await poll({ active: false })
  expect({ status: revoked.status, message: revoked.body.error.message }).toEqual({
    status: 401,
    message: 'API key is inactive',
  })
})

/** A body that arrives when the test says so. */
function lateBody(body: object) {
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  const arrival = Promise.withResolvers<void>()
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await arrival.promise
      controller.enqueue(bytes)
      controller.close()
    },
  })
  return { stream, length: String(bytes.byteLength), arrive: arrival.resolve }
}

async function post(
  { app }: TestApp,
  { key: apiKey }: Actor,
  path: string,
  late: ReturnType<typeof lateBody>,
) {
  const headers = { 'x-api-key': apiKey, 'content-length': late.length }
  const init = { method: 'POST', headers, body: late.stream, duplex: 'half' }
  return app.handle(new Request(`http://localhost${path}`, init))
}

test('a refusal does not wait for a body, and the body begins nothing when it arrives', async () => {
  const actor = await newActor()
  const { listing_id, user_id, room_type_id } = await seedBooking(actor)
  const body = { user_id, listing_id, room_type_id, checkin_at: '2041-01-01', checkout_at: '2041-02-01' }
  const late = lateBody(body)
  const decision = limiter.hold()
  const answer = post(service, actor, '/v1/bookings', late)
  await decision.asked
  await commands.settle()
  commands.take()
  decision.refuse()
  expect((await answer).status).toBe(429)
  late.arrive()
  await commands.settle()
  expect(commands.take()).toEqual([])
})

test('a body that was read for a key that has changed is not lost', async () => {
  const actor = await newActor()
  const { listing_id, user_id, room_type_id } = await seedBooking(actor)
  const body = { user_id, listing_id, room_type_id, checkin_at: '2041-01-01', checkout_at: '2041-02-01' }
  for (const isLate of [false, true]) {
    await acquaint(service.live, actor.key)
    const late = lateBody(body)
    const decision = limiter.hold()
    const answer = post(service, actor, '/v1/bookings', late)
    await decision.asked
    if (!isLate) late.arrive()
    await commands.settle()
    await updateKey(service.live.db, String(actor.keyId), { name: `Late ${isLate}` })
    await service.live.rateLimiter.invalidate(rateLimitName(actor.keyId))
    decision.decide()
    if (isLate) late.arrive()
    expect((await answer).status).toBe(201)
  }
  const { body: feed } = await actor.send('GET', `${provider}/bookings`)
  expect(feed.data.Bookings.length).toBe(3)
})

test('a request of the sandbox, and one with a large body, begin nothing early', async () => {
  const actor = await newActor()
  const sandboxed = await begin(actor, 'GET', '/sandbox/integrations/provider_one/bookings')
  expect(sandboxed.begun).toEqual([])
  sandboxed.decision.decide()
  expect((await sandboxed.answer).status).toBe(200)
  await acquaint(service.live, actor.key)
  const listing = { title: 'x'.repeat(70_000) }
  const headers = { 'content-length': String(JSON.stringify(listing).length) }
  const large = await begin(actor, 'POST', '/v1/listings', { body: listing, headers })
  expect(large.begun).toEqual([])
  large.decision.decide()
  expect((await large.answer).status).toBe(422)
})

/** Sends requests to both processes in turn, some at a time, and returns their statuses. */
async function flood(
  actor: Actor,
  count: number,
  { atOnce, isShared = true }: { atOnce: number; isShared?: boolean },
) {
  const { key: apiKey } = actor
  const targets = [
    { method: 'GET', path: `${provider}/bookings` },
    { method: 'GET', path: '/v1/listings' },
    { method: 'POST', path: '/v1/bookings' },
  ]
  const statuses: number[] = []
  for (let sent = 0; sent < count; sent += atOnce) {
    const group = Array.from({ length: Math.min(atOnce, count - sent) }, (_, index) => {
      const { method, path } = targets[(sent + index) % targets.length] as (typeof targets)[0]
      const process = isShared && (sent + index) % 2 === 1 ? other : service
      const body = method === 'POST' ? { body: { user_id: 1, listing_id: 1 }, headers: key() } : {}
      return process.send(method, path, { key: apiKey, ...body })
    })
    statuses.push(...(await Promise.all(group)).map(({ status }) => status))
  }
  return statuses
}

const isAllowed = (status: number) => status !== 429

const otherCommands = new SentCommands(other.live)
async function commandsOf<T>(work: () => Promise<T>): Promise<{ result: T; sent: string[] }> {
  await Promise.all([commands.settle(), otherCommands.settle()])
  commands.take()
  otherCommands.take()
  const result = await work()
  await Promise.all([commands.settle(), otherCommands.settle()])
  return { result, sent: namesOf([...commands.take(), ...otherCommands.take()]) }
}

test.each([1, 20])(
  'a flood of 429s, %i at a time and across two processes, sends nothing to the database',
  async (atOnce) => {
    const actor = await service.actor({ rateLimit: 60 })
    // Both processes have known the key with room, which is then used up.
    await flood(actor, 100, { atOnce })
    let measured = await commandsOf(() => flood(actor, 200, { atOnce }))
    // If Redis is late on a busy machine, a process decides alone for a moment, and knows of fewer requests.
    for (let tries = 0; tries < 5 && measured.result.some(isAllowed); tries += 1) {
      await flood(actor, 100, { atOnce })
      measured = await commandsOf(() => flood(actor, 200, { atOnce }))
    }
    expect(new Set(measured.result)).toEqual(new Set([429]))
    expect(measured.sent).toEqual([])
  },
)

test.each([1, 20])(
  'where the limit is reached %i at a time in one process, no refused request has read anything',
  async (atOnce) => {
    const actor = await service.actor({ rateLimit: 60 })
    await seedBooking(actor)
    const poll = async () => (await actor.send('GET', `${provider}/bookings`)).status
    const { result, sent } = await commandsOf(async () => {
      const statuses: number[] = []
      while (statuses.length < 100)
        statuses.push(...(await Promise.all(Array.from({ length: atOnce }, poll))))
      return statuses
    })
    const allowed = result.filter((status) => status === 200).length
    expect(allowed).toBeLessThan(60)
    expect(sent.filter((name) => name === 'find bookings').length).toBe(allowed)
  },
)

test.each([1, 20])(
  'a flood of 403s, %i at a time and across two processes, sends nothing to the database',
  async (atOnce) => {
    const actor = await newActor({ permissions: ['users.read'] })
    const elsewhere = await newActor()
    await updateKey(service.live.db, String(elsewhere.keyId), { allowed_from: ['203.0.113.0/24'] })
    await service.live.rateLimiter.invalidate(rateLimitName(elsewhere.keyId))
    for (const refused of [actor, elsewhere]) {
      await flood(refused, 12, { atOnce })
      const { result, sent } = await commandsOf(() => flood(refused, 100, { atOnce }))
      expect(new Set(result)).toEqual(new Set([403]))
      expect(sent).toEqual([])
    }
  },
)
