import type { CommandStartedEvent, CommandSucceededEvent } from 'mongodb'
import { beforeAll, expect, test } from 'vitest'
import { storedResponseModel } from '../../src/http/idempotency/model.ts'
import { listingLock } from '../../src/inventory/listings/listing-write.ts'
import { listingModel } from '../../src/inventory/listings/model.ts'
import { inTransaction } from '../../src/platform/mongo/turns/transactions.ts'
import { userModel } from '../../src/stays/users/model.ts'
import { type Actor, seedBooking, sender, sharedServices, testApp, testEnvironment } from '../support/app.ts'
import { isSoak } from '../support/soak.ts'

let offset = 0
const MONGODB_URL = `${testEnvironment().MONGODB_URL}&monitorCommands=true`
const service = await testApp({ MONGODB_URL }, () => new Date(Date.now() + offset))
let actor: Actor
let seeded: Awaited<ReturnType<typeof seedBooking>>
beforeAll(async () => {
  actor = await service.actor()
  seeded = await seedBooking(actor)
})

const availability = '/v1/integrations/provider_one/availability'
const rates = '/v1/integrations/provider_one/rates'
const user = (email: string, more: object = {}) => ({ email, first_name: 'A', last_name: 'B', ...more })
const keyed = (key: string, path: string, body: unknown, by = actor) =>
  by.send('POST', path, { body, headers: { 'idempotency-key': key } })

/** Resolves once the database has answered the next look-up of a stored response. */
function nextLookUp(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const client = service.live.db.getClient()
  let lookUp: number | undefined
  const begin = ({ command, requestId }: CommandStartedEvent) => {
    if (command.find === 'stored_responses') lookUp ??= requestId
  }
  const end = ({ requestId }: CommandSucceededEvent) => {
    if (requestId !== lookUp) return
    client.off('commandStarted', begin)
    client.off('commandSucceeded', end)
    resolve()
  }
  client.on('commandStarted', begin)
  client.on('commandSucceeded', end)
  return promise
}

test('a retry gets the first response byte for byte, under its own request id, and creates nothing', async () => {
  const first = await keyed('k1', '/v1/users', user('k1@example.com', { password: 'long enough' }))
  const again = await keyed('k1', '/v1/users', {
    last_name: 'B',
    password: 'long enough',
    email: 'k1@example.com',
    first_name: 'A',
  })
  expect(first.status).toBe(201)
  expect(first.headers.get('idempotent-replayed')).toBeNull()
  expect(again).toMatchObject({ status: 201, text: first.text })
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
  expect(again.body.meta.request_id).toBe(first.headers.get('x-request-id'))
  expect(
    await userModel(service.live.db).countDocuments({ owner_id: actor.hostId, email: 'k1@example.com' }),
  ).toBe(1)
})

test('an Idempotency-Key reused with another body gets 409, even if only an unknown field differs', async () => {
  await keyed('k2', '/v1/users', user('k2@example.com'))
  for (const body of [user('other@example.com'), user('k2@example.com', { unknown: 1 })]) {
    const response = await keyed('k2', '/v1/users', body)
    expect({ status: response.status, type: response.body.error.type }).toEqual({
      status: 409,
      type: 'idempotency_key_mismatch',
    })
  }
})

test('an invalid body gets 422 whether or not its Idempotency-Key was used, and does not use the key up', async () => {
  expect((await keyed('k3', '/v1/users', {})).status).toBe(422)
  expect((await keyed('k3', '/v1/users', user('k3@example.com'))).status).toBe(201)
  expect((await keyed('k3', '/v1/users', {})).status).toBe(422)
})

test('wrong dates and lengths get 422 before any look-up, even under a used Idempotency-Key', async () => {
  const { user_id, listing_id, room_type_id } = seeded
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  expect((await keyed('k3b', '/v1/bookings', stay)).status).toBe(201)
  const wrong = { checkout_at: '2031-01-01', message: 'x'.repeat(5001), user_id: 999_999_999 }
  const response = await keyed('k3b', '/v1/bookings', { ...stay, ...wrong })
  expect(response.status).toBe(422)
  expect(response.body.error.errors.map(({ path }: { path: string }) => path)).toEqual([
    'checkout_at',
    'message',
  ])
  await keyed('k3c', '/v1/users', user('k3c@example.com'))
  const unborn = await keyed('k3c', '/v1/users', user('k3c@example.com', { date_of_birth: '2999-01-01' }))
  expect({ status: unborn.status, path: unborn.body.error.errors[0].path }).toEqual({
    status: 422,
    path: 'date_of_birth',
  })
})

test('an Idempotency-Key can be used again if its request failed', async () => {
  await keyed('first', '/v1/users', user('k4@example.com'))
  expect((await keyed('k4', '/v1/users', user('k4@example.com'))).status).toBe(422)
  await userModel(service.live.db).deleteOne({ owner_id: actor.hostId, email: 'k4@example.com' })
  expect((await keyed('k4', '/v1/users', user('k4@example.com'))).status).toBe(201)
})

test('the same Idempotency-Key is independent for each endpoint and each API key', async () => {
  const other = await service.actor()
  const body = { ...user('k5@example.com'), name: 'Listing of the same key' }
  const responses = [
    await keyed('k5', '/v1/users', body),
    await keyed('k5', '/v1/listings', body),
    await keyed('k5', '/v1/users', body, other),
  ]
  expect(responses.map(({ status }) => status)).toEqual([201, 201, 201])
  expect(responses.map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, null, null])
})

test('an expired response is not replayed, even before it is deleted', async () => {
  const body = { name: 'Expiring', original_id: 'expiring' }
  expect((await keyed('k6', '/v1/listings', body)).status).toBe(201)
  offset = 86_400_000 + 1000
  const later = await keyed('k6', '/v1/listings', body)
  expect({
    status: later.status,
    action: later.body.action,
    replayed: later.headers.get('idempotent-replayed'),
  }).toEqual({ status: 200, action: 'updated', replayed: null })
  expect((await keyed('k6', '/v1/listings', body)).headers.get('idempotent-replayed')).toBe('true')
  offset = 0
})

test('an Idempotency-Key is not stored, because it may name a person', async () => {
  const owner = await service.actor()
  expect((await keyed('for-maria-rossi', '/v1/listings', { name: 'Any' }, owner)).status).toBe(201)
  const stored = await storedResponseModel(service.live.db).find({ owner_id: owner.hostId }).lean()
  expect(stored).toHaveLength(1)
  expect(JSON.stringify(stored)).not.toContain('maria')
})

test('a request whose twin finished first, but whose response is gone, may be repeated', async () => {
  const owner = await service.actor()
  const { db } = service.live
  const gate = Promise.withResolvers<void>()
  // The request finds no response, and then waits for its turn until its twin has finished in another process.
  const turn = inTransaction(db, listingLock(owner.hostId).name, () => gate.promise)
  const sending = {
    key: owner.key,
    headers: { 'idempotency-key': 'k8' },
    body: { name: 'Twin' },
  }
  const lookedUp = nextLookUp()
  const late = service.send('POST', '/v1/listings', sending)
  await lookedUp
  const twin = sender(fetch, sharedServices()[0].url)
  expect((await twin('POST', '/v1/listings', sending)).status).toBe(201)
  offset = 86_400_000 + 1000
  gate.resolve()
  await turn
  const refused = await late
  offset = 0
  expect({
    status: refused.status,
    type: refused.body.error.type,
    retryAfter: refused.headers.get('retry-after'),
  }).toEqual({ status: 409, type: 'conflict', retryAfter: '1' })
})

test('a booking is replayed even if its listing has become inactive', async () => {
  const { user_id, listing_id, room_type_id } = seeded
  const body = { user_id, listing_id, room_type_id, checkin_at: '2028-01-01', checkout_at: '2028-02-01' }
  const first = await keyed('k7', '/v1/bookings', body)
  await listingModel(service.live.db).updateOne({ id: listing_id }, { listing_status: 'inactive' })
  const again = await keyed('k7', '/v1/bookings', body)
  await listingModel(service.live.db).updateOne({ id: listing_id }, { listing_status: 'draft' })
  expect(again).toMatchObject({ status: 201, text: first.text })
})

/** How many equal requests race; the soak sends as many as a client that has lost its patience might. */
const racing = isSoak ? 50 : 10

test(`${racing} concurrent equal requests over two processes have one effect and one response for each endpoint`, async () => {
  const processes = sharedServices()
  const { user_id, listing_id, room_type_id } = seeded
  const pair = { listing_id, room_type_id }
  const requests: [string, object][] = [
    ['/v1/users', user('fifty@example.com', { password: 'long enough' })],
    ['/v1/listings', { name: 'Fifty', room_types: [{ name: 'R' }] }],
    [
      '/v1/bookings',
      { user_id, listing_id, room_type_id, checkin_at: '2029-01-01', checkout_at: '2029-02-01' },
    ],
    [availability, { data: [{ ...pair, available: 5, start_date: '2029-01-01', end_date: '2029-02-01' }] }],
    [rates, { data: [{ ...pair, base_price: 900 }] }],
  ]
  for (const [path, body] of requests) {
    const headers = { 'idempotency-key': `fifty ${path}` }
    const responses = await Promise.all(
      Array.from({ length: racing }, (_, index) =>
        sender(fetch, processes[index % 2]?.url)('POST', path, { key: actor.key, headers, body }),
      ),
    )
    const status = path.includes('/integrations/') ? 200 : 201
    expect(responses.map(({ status }) => status)).toEqual(Array(racing).fill(status))
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1)
    expect(responses.filter((response) => response.headers.has('idempotent-replayed'))).toHaveLength(
      racing - 1,
    )
  }
  expect(
    await listingModel(service.live.db).countDocuments({ owner_id: actor.hostId, name_key: 'fifty' }),
  ).toBe(1)
})

test('an availability push repeated under its Idempotency-Key does not restore units booked since', async () => {
  const owner = await service.actor()
  const { user_id, listing_id, room_type_id } = await seedBooking(owner)
  const night = { start_date: '2033-05-01', end_date: '2033-05-31' }
  const body = { data: [{ listing_id, room_type_id, available: 1, ...night }] }
  const stay = { checkin_at: '2033-05-02', checkout_at: '2033-05-20' }
  const book = () =>
    owner.send('POST', '/v1/bookings', { body: { user_id, listing_id, room_type_id, ...stay } })
  const first = await keyed('push', availability, body, owner)
  expect({ pushed: first.status, booked: (await book()).status }).toEqual({ pushed: 200, booked: 201 })
  const again = await keyed('push', availability, body, owner)
  expect({ text: again.text, replayed: again.headers.get('idempotent-replayed') }).toEqual({
    text: first.text,
    replayed: 'true',
  })
  expect((await book()).body.error.errors[0].code).toBe('unavailable')
})

test('a rates write repeated under its Idempotency-Key creates only one job', async () => {
  const { listing_id, room_type_id } = seeded
  const data = [{ listing_id, room_type_id, base_price: 1234 }]
  const first = await keyed('rates', rates, { data })
  const second = await keyed('rates', rates, { data: [{ room_type_id, listing_id, base_price: 1234 }] })
  expect(second.body.meta.job_id).toBe(first.body.meta.job_id)
})

test('messages ignore every Idempotency-Key, and only the duplicate window suppresses duplicates', async () => {
  const messages = `/v1/bookings/${seeded.booking_id}/messages`
  const send = async (key: string, text: string) => {
    const { status, body, headers } = await keyed(key, messages, { message: { text } })
    expect({ status, isReplayed: headers.has('idempotent-replayed') }).toEqual({
      status: 201,
      isReplayed: false,
    })
    return body.data.message.id as number
  }
  const first = await send('message', 'One')
  const second = await send('message', 'Two')
  expect(second).not.toBe(first)
  expect(await send('k'.repeat(256), 'Two')).toBe(second)
  // Another message came into the conversation after the first, so the window no longer covers it (decisions §10).
  expect([first, second]).not.toContain(await send('message', 'One'))
  const third = await send('message', 'Three')
  offset = 3_600_000
  expect(await send('message', 'Three')).not.toBe(third)
  offset = 0
})

test('an Idempotency-Key has up to 255 ASCII characters, and an invalid one is reported by name', async () => {
  const actor = await service.actor()
  const create = (key: string) =>
    actor.send('POST', '/v1/users', {
      headers: { 'idempotency-key': key },
      body: { email: `${crypto.randomUUID()}@example.com`, first_name: 'A', last_name: 'B' },
    })
  expect((await create('k'.repeat(255))).status).toBe(201)
  for (const [key, code] of [
    ['k'.repeat(256), 'max'],
    ['kä', 'invalid'],
  ] as const) {
    const { status, body } = await create(key)
    expect({ status, errors: body.error.errors }).toEqual({
      status: 422,
      errors: [{ path: 'Idempotency-Key', code, message: expect.any(String) }],
    })
  }
})
