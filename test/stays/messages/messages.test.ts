import { Redis } from 'ioredis'
import { beforeAll, expect, inject, test } from 'vitest'
import { setConversationClosed } from '../../../src/stays/messages/conversation.ts'
import { messageModel } from '../../../src/stays/messages/model.ts'
import { partnerctlHere as partnerctl } from '../../support/admin.ts'
import {
  type Actor,
  seedBooking,
  sender,
  sharedServices,
  testApp,
  testEnvironment,
} from '../../support/app.ts'
import { startRedis } from '../../support/redis.ts'

let offset = 0
const clock = () => new Date(Date.now() + offset)
const service = await testApp({}, clock)
const processes = sharedServices()

let actor: Actor
let booking_id: number
beforeAll(async () => {
  actor = await service.actor()
  booking_id = (await seedBooking(actor)).booking_id
})

const pathOf = (id: number) => `/v1/bookings/${id}/messages`
const send = (text: unknown, id = booking_id, by = actor) =>
  by.send('POST', pathOf(id), { body: { message: { text } } })
const stored = (text: string) =>
  messageModel(service.live.db).countDocuments({ owner_id: actor.hostId, text })

test("POST messages sends a host's message and responds 201, and GET shows it after the guest's message", async () => {
  const { status, body } = await send('  Welcome!  ')
  expect(status).toBe(201)
  expect(body.data).toEqual({
    message: {
      id: expect.any(Number),
      sender: 'host',
      sender_name: 'Test host',
      text: 'Welcome!',
      is_seen: false,
      sent_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    },
  })
  const read = await actor.send('GET', pathOf(booking_id))
  expect(read.body.data.messages[1]).toEqual(body.data.message)
  expect(read.body.data.messages).toMatchObject([
    { sender: 'guest', text: 'I arrive with the night train, around 08:00' },
    { sender: 'host', text: 'Welcome!' },
  ])
  expect(read.body.meta.pagination).toEqual({
    current_page: 1,
    per_page: 50,
    total: 2,
    last_page: 1,
    from: 1,
    to: 2,
  })
})

test('GET messages pages from the oldest to the newest', async () => {
  const own = await seedBooking(actor).catch(() => null)
  const id = own?.booking_id ?? booking_id
  for (const text of ['one', 'two', 'three']) await send(text, id)
  const pages = await Promise.all(
    [1, 2, 3].map((page) => actor.send('GET', `${pathOf(id)}?per_page=2&page=${page}`)),
  )
  const texts = pages.flatMap(({ body }) => body.data.messages.map(({ text }: { text: string }) => text))
  expect(texts.slice(-3)).toEqual(['one', 'two', 'three'])
})

test.each([
  [{}, 'message.text', 'required'],
  [{ message: null }, 'message.text', 'required'],
  [{ message: {} }, 'message.text', 'required'],
  [{ message: { text: null } }, 'message.text', 'required'],
  [{ message: { text: ' \n ' } }, 'message.text', 'required'],
  [{ message: { text: 5 } }, 'message.text', 'invalid'],
  [{ message: { text: 'x'.repeat(5001) } }, 'message.text', 'max'],
  [{ message: 'text' }, 'message', 'invalid'],
])('POST messages with %.60j responds 422 at %s, %s', async (body, path, code) => {
  const response = await actor.send('POST', pathOf(booking_id), { body })
  expect({ status: response.status, problem: response.body.error.errors[0] }).toMatchObject({
    status: 422,
    problem: { path, code },
  })
})

test('POST messages accepts 5,000 characters and surrounding white space', async () => {
  expect((await send(`  ${'y'.repeat(5000)}\n`)).status).toBe(201)
})

test('POST messages returns the first message for an equal text within a minute, and creates another one later', async () => {
  const first = await send('Same')
  offset = 59_000
  const again = await send(' Same ')
  expect({ status: again.status, data: again.body.data }).toEqual({ status: 201, data: first.body.data })
  offset = 61_000
  const later = await send('Same')
  expect(later.body.data.message.id).not.toBe(first.body.data.message.id)
  expect(await stored('Same')).toBe(2)
  offset = 0
})

test('twenty concurrent equal messages over two processes store one message, in ten rounds', async () => {
  for (let round = 0; round < 10; round += 1) {
    const text = `Round ${round}`
    const body = { message: { text } }
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        sender(fetch, processes[index % 2]?.url)('POST', pathOf(booking_id), {
          key: actor.key,
          body,
          repeatWhileBusy: true,
        }),
      ),
    )
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(201))
    expect(new Set(responses.map((response) => response.body.data.message.id)).size).toBe(1)
    expect(await stored(text)).toBe(1)
  }
})

test('a duplicate is the first message whether Redis remembers it, has forgotten it or is gone', async () => {
  const redis = await startRedis()
  const shared = await testApp({ REDIS_URL: redis.url }, clock)
  const remembered = new Redis(redis.url)
  const by = await shared.actor()
  const { booking_id: id } = await seedBooking(by)
  const idOf = async (text: string) => (await send(text, id, by)).body.data.message.id
  const first = await idOf('Hello')
  await expect.poll(() => remembered.keys('*cache:message:*')).toHaveLength(1)
  expect(await idOf('Hello')).toBe(first)
  expect(await idOf('Another')).not.toBe(first)
  await remembered.flushall()
  expect(await idOf('Hello')).toBe(first)
  // The database takes precedence over the message in Redis.
  await expect.poll(() => remembered.keys('*cache:message:*')).toHaveLength(1)
  await messageModel(shared.live.db).updateOne(
    { owner_id: by.hostId, id: first },
    { $set: { text: 'Changed' } },
  )
  const second = await idOf('Hello')
  expect(second).not.toBe(first)
  offset = 61_000
  expect(await idOf('Hello')).not.toBe(second)
  offset = 0
  const last = await idOf('Goodbye')
  await redis.stop()
  remembered.disconnect()
  expect(await idOf('Goodbye')).toBe(last)
})

test('a duplicate in a conversation that was closed meanwhile is 409, though Redis remembers the message', async () => {
  const shared = await testApp({ REDIS_URL: inject('redisUrl') })
  const by = await shared.actor()
  const { booking_id: id } = await seedBooking(by)
  expect((await send('Hello', id, by)).status).toBe(201)
  expect((await send('Hello', id, by)).status).toBe(201)
  await setConversationClosed(shared.live, { owner_id: by.hostId, id }, true)
  expect((await send('Hello', id, by)).status).toBe(409)
})

test('POST messages to a closed conversation is 409 until it is reopened, and GET still works', async () => {
  const environment = { MONGODB_URL: testEnvironment().MONGODB_URL as string }
  const closed = await partnerctl(['conversations', 'close', String(booking_id), '--json'], environment)
  expect(JSON.parse(closed.stdout)).toMatchObject({ booking_id, state: 'closed' })
  const refused = await send('Too late')
  expect({ status: refused.status, type: refused.body.error.type }).toEqual({ status: 409, type: 'conflict' })
  expect((await actor.send('GET', pathOf(booking_id))).status).toBe(200)
  expect(await stored('Too late')).toBe(0)
  await partnerctl(['conversations', 'reopen', String(booking_id)], environment)
  expect((await send('In time')).status).toBe(201)
  expect((await partnerctl(['conversations', 'close', '999999999'], environment)).code).toBe(1)
  expect((await partnerctl(['conversations', 'close', 'x'], environment)).code).toBe(2)
})

test("POST messages does not change the booking's version", async () => {
  const feed = async () => (await actor.send('GET', '/v1/integrations/provider_one/bookings')).body.data
  const before = await feed()
  await send('Does nothing to the feed')
  expect(await feed()).toEqual(before)
})

test('GET messages keeps chronological order even if a burst of versions ran ahead of the clock', async () => {
  const host = await service.actor()
  const { user_id, listing_id, room_type_id } = await seedBooking(host)
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2030-01-01', checkout_at: '2030-01-05' }
  const before = clock().getTime()
  const made = await Promise.all(
    Array.from({ length: 30 }, () =>
      host.send('POST', '/v1/bookings', {
        body: { ...stay, message: 'From the guest' },
        repeatWhileBusy: true,
      }),
    ),
  )
  const last = made
    .map(({ body }) => body.data)
    .sort((a, b) => a.updated_at.localeCompare(b.updated_at))
    .at(-1)
  const createdAt = Date.parse(last.created_at)
  expect(Date.parse(last.updated_at)).toBeGreaterThan(createdAt)
  expect(createdAt).toBeGreaterThanOrEqual(before)
  expect(createdAt).toBeLessThanOrEqual(clock().getTime())
  await send('From the host', last.booking_id, host)
  const { body } = await host.send('GET', pathOf(last.booking_id))
  expect(body.data.messages.map(({ sender }: { sender: string }) => sender)).toEqual(['guest', 'host'])
})
