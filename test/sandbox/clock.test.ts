import { Webhook } from 'standardwebhooks'
import { test } from 'vitest'
import { toDay } from '../../src/core/clock.ts'
import { models } from '../../src/operations/release.ts'
import { jobModel } from '../../src/platform/outbox/outbox.ts'
import { sandboxFilters } from '../../src/sandbox/lifecycle/documents-store.ts'
import { sandboxModel } from '../../src/sandbox/model.ts'
import { type Actor, seedBooking, type TestApp, testApp } from '../support/app.ts'
import { ownDatabase } from '../support/databases.ts'
import { readFixture } from '../support/fixtures.ts'
import { startReceiver } from '../support/receiver.ts'
import { validBodies } from '../support/valid-bodies.ts'
import { hookedPartner } from '../support/webhooks.ts'

const settings = {
  MONGODB_URL: await ownDatabase(),
  WEBHOOKS_ALLOW_PRIVATE: 'on',
}
/** Two processes: one moves the clock, and the other must follow. */
const [service, other] = await Promise.all([testApp(settings), testApp(settings)])
const hour = 3600
const day = 24 * hour

/** Moves a clock. Often a test's first request, which fills its sandbox while the other tests fill theirs. */
const advance = (actor: Actor, advance_seconds: unknown) =>
  actor.send('POST', '/sandbox/clock', { body: { advance_seconds }, repeatWhileBusy: true })

async function sandboxIdOf(of: TestApp, { keyId }: Actor): Promise<number> {
  return (await sandboxModel(of.sandbox.db).findOne({ key_id: keyId, state: 'open' }).lean().orFail())._id
}

/** Returns a sandbox's documents in all collections, by collection and id. */
async function documentsOf(of: TestApp, sandboxId: number): Promise<Map<string, object>> {
  const { db } = of.sandbox
  const found = await Promise.all(
    sandboxFilters(db, models, sandboxId).map(async ({ collection, filter }) => {
      const documents = await db.collection(collection).find(filter).toArray()
      return documents.map((one) => [`${collection}/${one._id}`, one] as const)
    }),
  )
  return new Map(found.flat())
}

/** Returns the dates in a value, each with its path. */
function datesIn(value: unknown, path = ''): [string, Date][] {
  if (value instanceof Date) return [[path, value]]
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return []
  if ('_bsontype' in value) return []
  return Object.entries(value).flatMap(([field, one]) => datesIn(one, path ? `${path}.${field}` : field))
}

test.concurrent("a date of birth in the future is accepted once the sandbox's clock has passed it", async ({
  expect,
}) => {
  const actor = await service.actor()
  const user = await readFixture('users/maria')
  const born = async (date_of_birth: string) => {
    const body = { ...user, email: `${crypto.randomUUID()}@example.com`, date_of_birth }
    const { status, body: answer } = await actor.send('POST', '/sandbox/users', { body })
    return status === 201 ? status : answer.error.errors.map(({ path }: { path: string }) => path)
  }
  const inTenDays = new Date(Date.now() + 10 * day * 1000).toISOString().slice(0, 10)
  expect(await born(inTenDays)).toEqual(['date_of_birth'])
  await advance(actor, 11 * day)
  expect(await born(inTenDays)).toBe(201)
})

test.concurrent("a sandbox's clock moves forward by up to 400 days, and no other clock moves with it", async ({
  expect,
}) => {
  const [actor, neighbour] = await Promise.all([service.actor(), service.actor()])
  const read = async (who: Actor) => (await who.send('GET', '/sandbox/clock')).body.data
  expect((await read(actor)).advanced_seconds).toBe(0)
  const moved = await advance(actor, 25 * hour)
  expect({
    status: moved.status,
    advanced_seconds: moved.body.data.advanced_seconds,
    sandbox: moved.body.meta.sandbox,
  }).toEqual({ status: 200, advanced_seconds: 25 * hour, sandbox: true })
  expect(Date.parse(moved.body.data.now)).toBeGreaterThan(Date.now() + 24.9 * hour * 1000)
  for (const [value, code] of [
    [undefined, 'required'],
    [null, 'required'],
    [0, 'min'],
    [-1, 'min'],
    [400 * day + 1, 'max'],
    [400 * day - 25 * hour + 1, 'max'],
    [1.5, 'invalid'],
    ['60', 'invalid'],
  ]) {
    const { status, body } = await advance(actor, value)
    expect({ status, errors: body.error.errors }, String(value)).toEqual({
      status: 422,
      errors: [{ path: 'advance_seconds', code, message: expect.any(String) }],
    })
  }
  const mine = await read(actor)
  const theirs = await read(neighbour)
  expect({ mine: mine.advanced_seconds, theirs: theirs.advanced_seconds }).toEqual({
    mine: 25 * hour,
    theirs: 0,
  })
  expect((await advance(actor, 400 * day - 25 * hour)).body.data.advanced_seconds).toBe(400 * day)
  expect((await actor.send('POST', '/v1/clock', { body: { advance_seconds: 1 } })).status).toBe(404)
  await actor.send('DELETE', '/sandbox')
  expect((await read(actor)).advanced_seconds).toBe(0)
})

test.concurrent('twenty concurrent advances add up and never exceed the bound', async ({ expect }) => {
  const actor = await service.actor()
  await actor.send('GET', '/sandbox/clock', { repeatWhileBusy: true })
  const moves = await Promise.all(Array.from({ length: 20 }, () => advance(actor, 30 * day)))
  expect(moves.filter(({ status }) => status === 200)).toHaveLength(13)
  expect((await actor.send('GET', '/sandbox/clock')).body.data.advanced_seconds).toBe(390 * day)
})

test.concurrent('everything that a sandbox stores is dated by its clock, in each process', async ({
  expect,
}) => {
  const actor = await service.actor()
  const onOther: Actor = {
    ...actor,
    send: (method, path, sending) => other.send(method, path, { key: actor.key, ...sending }),
  }
  // Certifications are left out, because they clear the sandbox and use the database's clock.
  const bodies = Object.entries(await validBodies(actor, '/sandbox')).filter(
    ([route]) => !route.includes('/certifications'),
  )
  const sandboxId = await sandboxIdOf(service, actor)
  const before = await documentsOf(service, sandboxId)
  await advance(actor, 30 * day)
  const from = Date.now() + 29 * day * 1000
  for (const [route, { path, body }] of bodies) {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const { status, text } = await onOther.send(route.split(' ')[0] as string, path, {
      body: body(),
      headers,
    })
    expect(status, route + text).toBeLessThan(300)
  }
  const feed = '/sandbox/integrations/provider_one/bookings'
  const { version } = (await onOther.send('GET', feed)).body.data.Bookings.at(-1)
  expect(Date.parse(`${version.replace(' ', 'T')}Z`)).toBeGreaterThan(from)
  await onOther.send('PUT', `${feed}/consumers/sync`, { body: { acknowledged: version } })
  const dates = [...(await documentsOf(service, sandboxId))].flatMap(([name, document]) => {
    const earlier = new Map(datesIn(before.get(name)).map(([path, date]) => [path, date.getTime()]))
    const [collection = ''] = name.split('/')
    return datesIn(document)
      .filter(([path, date]) => earlier.get(path) !== date.getTime())
      .map(([path, date]) => ({ collection, path, date }))
  })
  expect([...new Set(dates.map(({ collection }) => collection))]).toEqual(
    expect.arrayContaining([
      'users',
      'listings',
      'bookings',
      'messages',
      'rate_jobs',
      'availability_blocks',
      'provider_keys',
      'consumers',
      'webhooks',
      'stored_responses',
    ]),
  )
  // Times that processes use for their own work come from the real clock.
  const own = new Set(['outbox.due_at', 'outbox.created_at', 'outbox.tried_since'])
  const late = dates
    .filter(({ date }) => date.getTime() < from)
    .map(({ collection, path, date }) => ({ name: `${collection}.${path}`, date }))
    .filter(({ name }) => !own.has(name))
  expect(late).toEqual([])
})

test.concurrent('what a change leaves to be done is done at once, however far the clock is ahead', async ({
  expect,
}) => {
  const actor = await service.actor()
  await advance(actor, 30 * day)
  const { listing_id, room_type_id } = await seedBooking(actor, '/sandbox')
  const ownJobs = { owner_id: await sandboxIdOf(service, actor) }
  // Enough rows for a compaction.
  const data = Array.from({ length: 120 }, (_, index) => {
    const date = toDay(new Date(Date.UTC(2032, 0, 1 + 2 * index)))
    return { listing_id, room_type_id, available: 5, start_date: date, end_date: date }
  })
  const path = '/sandbox/integrations/provider_one/availability'
  expect((await actor.send('POST', path, { body: { data } })).status).toBe(200)
  await expect.poll(() => jobModel(service.sandbox.db).countDocuments(ownJobs)).toBe(0)
  const compacted = service.sandbox.db.collection('availability_compacted')
  expect(await compacted.countDocuments(ownJobs)).toBeGreaterThan(0)
})

test.concurrent('after an advance of a day a stored response is forgotten and a repeated message is no duplicate, but not in live data', async ({
  expect,
}) => {
  const actor = await service.actor()
  for (const [prefix, isAhead] of [
    ['/sandbox', true],
    ['/v1', false],
  ] as const) {
    const { user_id, listing_id, room_type_id, booking_id } = await seedBooking(actor, prefix)
    const body = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
    const headers = { 'idempotency-key': 'one' }
    const book = async () =>
      (await actor.send('POST', `${prefix}/bookings`, { body, headers })).body.data.booking_id
    const write = async () => {
      const sending = { body: { message: { text: 'Hello' } } }
      return (await actor.send('POST', `${prefix}/bookings/${booking_id}/messages`, sending)).body.data
        .message.id
    }
    const first = [await book(), await write()]
    expect([await book(), await write()]).toEqual(first)
    if (isAhead) await advance(actor, 25 * hour)
    const again = [await book(), await write()]
    expect(again.map((id, index) => id !== first[index])).toEqual([isAhead, isAhead])
  }
})

test.concurrent('each advance retries a failed hint once, and after five days its webhook is disabled', async (context) => {
  const { expect } = context
  const { url, received } = startReceiver(context, () => new Response(null, { status: 503 }))
  const actor = await service.actor()
  const { user_id, listing_id, room_type_id } = await seedBooking(actor, '/sandbox')
  const made = await actor.send('POST', '/sandbox/webhooks', { body: { url, events: ['booking.changed'] } })
  const path = `/sandbox/webhooks/${made.body.data.id}`
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  await actor.send('POST', '/sandbox/bookings', { body: stay })
  /** Returns the number of attempts if the last one has failed and the next one is scheduled; otherwise 0. */
  const settled = async () => {
    const [delivery] = (await actor.send('GET', `${path}/deliveries`)).body.data
    const { attempts, response_status, next_attempt_at } = delivery ?? {}
    return response_status === 503 && Date.parse(next_attempt_at) > Date.now() ? (attempts as number) : 0
  }
  await expect.poll(settled).toBeGreaterThan(0)
  // The second attempt follows five seconds after the first, possibly before this test continues.
  await advance(actor, 10 * hour)
  await expect.poll(settled).toBeGreaterThan(1)
  let tries = await settled()
  for (const end = tries + 2; tries < end; tries += 1) {
    await advance(actor, 10 * hour)
    await expect.poll(settled).toBe(tries + 1)
  }
  expect(received).toHaveLength(tries)
  const skew = Math.abs(Number(received.at(-1)?.headers['webhook-timestamp']) * 1000 - Date.now())
  expect(skew).toBeLessThan(hour * 1000)
  await advance(actor, 5 * day)
  await expect
    .poll(async () => (await actor.send('GET', path)).body.data)
    .toMatchObject({ enabled: false, disabled_reason: 'failing' })
  expect(received).toHaveLength(tries + 1)
})

test.concurrent('a hint is signed on the clock that an advance through any process has left, even if no hint waits for it', async (context) => {
  const { expect } = context
  // Only one of the processes sends hints, and it is not known which.
  for (const mover of [service, other]) {
    const { url, received } = startReceiver(context)
    const actor = await mover.actor()
    const { user_id, listing_id, room_type_id } = await seedBooking(actor, '/sandbox')
    const body = { url, events: ['booking.changed'] }
    const { id } = (await actor.send('POST', '/sandbox/webhooks', { body })).body.data
    const rotated = await actor.send('POST', `/sandbox/webhooks/${id}/secret/rotate`)
    await advance(actor, 25 * hour)
    const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
    await actor.send('POST', '/sandbox/bookings', { body: stay })
    await expect.poll(() => received.length).toBe(1)
    const { body: hint = '', headers = {} } = received[0] ?? {}
    expect({ signatures: headers['webhook-signature']?.split(' ').length }).toEqual({ signatures: 1 })
    new Webhook(rotated.body.data.secret).verify(hint, headers)
  }
})

test.concurrent('a failure during which the clock was moved through another process is dated by the moved clock', async (context) => {
  const { expect } = context
  for (const mover of [service, other]) {
    const isReceived = Promise.withResolvers<void>()
    const mayRespond = Promise.withResolvers<void>()
    const { url } = startReceiver(context, async (_, count) => {
      if (count > 1) return new Response()
      isReceived.resolve()
      await mayRespond.promise
      return new Response(null, { status: 503 })
    })
    const actor = await mover.actor()
    const { user_id, listing_id, room_type_id } = await seedBooking(actor, '/sandbox')
    const body = { url, events: ['booking.changed'] }
    const { id } = (await actor.send('POST', '/sandbox/webhooks', { body })).body.data
    const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
    await actor.send('POST', '/sandbox/bookings', { body: stay })
    await isReceived.promise
    await advance(actor, 25 * hour)
    mayRespond.resolve()
    let nextAttemptAt = 0
    const isScheduled = async () => {
      const [delivery] = (await actor.send('GET', `/sandbox/webhooks/${id}/deliveries`)).body.data
      if (delivery.response_status === 503) nextAttemptAt = Date.parse(delivery.next_attempt_at)
      return nextAttemptAt > 0
    }
    await expect.poll(isScheduled).toBe(true)
    const isOnMovedClock = nextAttemptAt > Date.now() + 24 * hour * 1000
    expect({ isOnMovedClock }).toEqual({ isOnMovedClock: true })
  }
})

test.concurrent('an advance affects no live webhook', async (context) => {
  const { expect } = context
  const { url, received } = startReceiver(context, () => new Response(null, { status: 503 }))
  const { actor, id, book } = await hookedPartner(service, url, ['booking.changed'])
  await book()
  await expect.poll(() => received.length).toBeGreaterThan(0)
  await advance(actor, 6 * day)
  const live = async () => (await actor.send('GET', `/v1/webhooks/${id}`)).body.data
  const first = await live()
  expect(first.enabled).toBe(true)
  const [delivery] = (await actor.send('GET', `/v1/webhooks/${id}/deliveries`)).body.data
  expect(Date.parse(delivery.next_attempt_at)).toBeLessThan(Date.now() + hour * 1000)
})
