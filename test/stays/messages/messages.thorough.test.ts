import fc from 'fast-check'
import { Redis } from 'ioredis'
import { beforeAll, expect, inject, test } from 'vitest'
import { prepareWrite } from '../../../src/http/write.ts'
import { inTransaction } from '../../../src/platform/mongo/turns/transactions.ts'
import { newMessages, replyAsGuest, setConversationClosed } from '../../../src/stays/messages/conversation.ts'
import { messageModel } from '../../../src/stays/messages/model.ts'
import { partnerctlHere as partnerctl } from '../../support/admin.ts'
import {
  type Actor,
  seedBooking,
  sender,
  sharedServices,
  type TestApp,
  testApp,
  testEnvironment,
} from '../../support/app.ts'
import { startRedis } from '../../support/redis.ts'
import { runs } from '../../support/soak.ts'

let offset = 0
/** If set, the time at which the services' clock stands still. */
let stopped: number | null = null
const clock = () => new Date(stopped ?? Date.now() + offset)
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

test('POST messages returns the first message for an equal text within a minute, says so, and creates another one later', async () => {
  const first = await send('Same')
  expect(first.body.meta).not.toHaveProperty('duplicate')
  offset = 59_000
  const again = await send(' Same ')
  expect({ status: again.status, data: again.body.data, duplicate: again.body.meta.duplicate }).toEqual({
    status: 201,
    data: first.body.data,
    duplicate: true,
  })
  offset = 61_000
  const later = await send('Same')
  expect(later.body.data.message.id).not.toBe(first.body.data.message.id)
  expect(later.body.meta).not.toHaveProperty('duplicate')
  expect(await stored('Same')).toBe(2)
  offset = 0
})

/** Makes a new booking, and returns what is needed to write in its conversation from both sides. */
async function conversationOf(app: TestApp) {
  const by = await app.actor()
  const { booking_id: id, user_id, listing_id } = await seedBooking(by)
  const booking = { id, owner_id: by.hostId, user_id, listing_id }
  return {
    by,
    id,
    asHost: async (text: string) => {
      const { body } = await send(text, id, by)
      return { id: body.data.message.id as number, isDuplicate: body.meta.duplicate === true }
    },
    asGuest: async (text: string) => {
      const sent = await replyAsGuest(app.live, async () => booking, text)
      return { id: sent.message.id, isDuplicate: sent.isDuplicate }
    },
    texts: async () => {
      const { body } = await by.send('GET', `${pathOf(id)}?per_page=100`)
      return body.data.messages.map(({ text }: { text: string }) => text)
    },
  }
}

test('a second "Yes." after "No." and after a question of the guest is a new message', async () => {
  const { asHost, asGuest, texts } = await conversationOf(service)
  const [opening] = await texts()
  const answers = ['Yes.', 'No.', 'Yes.', 'Yes.']
  const sent = []
  for (const text of answers) sent.push(await asHost(text))
  expect(sent.map(({ isDuplicate }) => isDuplicate)).toEqual([false, false, false, true])
  expect((await asGuest('Really?')).isDuplicate).toBe(false)
  expect((await asHost('Yes.')).isDuplicate).toBe(false)
  expect(await texts()).toEqual([opening, 'Yes.', 'No.', 'Yes.', 'Really?', 'Yes.'])
})

test("a guest's message is a duplicate by the same rule, and never of the host's equal text", async () => {
  const { asHost, asGuest, texts } = await conversationOf(service)
  const [opening] = await texts()
  const first = await asGuest('Thanks')
  expect(await asGuest('Thanks')).toEqual({ id: first.id, isDuplicate: true })
  expect((await asHost('Thanks')).isDuplicate).toBe(false)
  expect((await asGuest('Thanks')).isDuplicate).toBe(false)
  expect(await texts()).toEqual([opening, 'Thanks', 'Thanks', 'Thanks'])
})

test("in the sandbox, a guest's duplicate has meta.duplicate, and one after an answer is a new message", async () => {
  const by = await service.actor()
  const { booking_id: id } = await seedBooking(by, '/sandbox')
  const write = async (path: string, text: string) => {
    const { body } = await by.send('POST', `/sandbox/bookings/${id}/messages${path}`, {
      body: { message: { text } },
    })
    return body.meta.duplicate
  }
  expect(await write('/guest', 'Is there a lift?')).toBeUndefined()
  expect(await write('/guest', 'Is there a lift?')).toBe(true)
  expect(await write('', 'Yes.')).toBeUndefined()
  expect(await write('', 'Yes.')).toBe(true)
  expect(await write('/guest', 'Is there a lift?')).toBeUndefined()
  expect(await write('', 'Yes.')).toBeUndefined()
})

/** A message in the model: who sent what, in milliseconds since the start. */
interface ModelMessage {
  side: string
  text: string
  at: number
}

/** The rule of decisions §10, word for word: looks for the newest equal message, then at everything after it. */
function isDuplicateIn(model: ModelMessage[], sent: ModelMessage): boolean {
  const equal = model.filter(({ side, text }) => side === sent.side && text === sent.text)
  const inWindow = equal.filter(({ at }) => at > sent.at - 60_000)
  const newest = inWindow.at(-1)
  if (newest === undefined) return false
  const after = model.slice(model.indexOf(newest) + 1)
  return after.length === 0
}

test('any conversation over two processes, with Redis remembering or forgetting, stores exactly what the rule says', async () => {
  const redis = await startRedis()
  const shared = [
    await testApp({ REDIS_URL: redis.url }, clock),
    await testApp({ REDIS_URL: redis.url }, clock),
  ]
  const remembered = new Redis(redis.url)
  // Requests go to a service whose clock is right, because one whose clock is a minute off refuses them.
  const by = await (await testApp()).actor()
  const seed = await seedBooking(by)
  const { user_id, listing_id, room_type_id } = seed
  const step = fc.record({
    side: fc.constantFrom('host', 'host', 'guest'),
    text: fc.constantFrom('Yes.', 'No.'),
    process: fc.constantFrom(0, 1),
    pause: fc.constantFrom(1, 1000, 30_000, 59_999, 60_000),
    forgets: fc.constantFrom(false, false, false, true),
  })
  let month = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), async (steps) => {
      month += 1
      const stay = { user_id, listing_id, room_type_id, checkin_at: `${2040 + month}-01-01` }
      const made = await by.send('POST', '/v1/bookings', {
        body: { ...stay, checkout_at: `${2040 + month}-01-02` },
      })
      const id = made.body.data.booking_id
      const booking = { id, owner_id: by.hostId, user_id, listing_id }
      const model: ModelMessage[] = []
      const from = Date.now()
      let at = 0
      for (const { side, text, process, pause, forgets } of steps) {
        at += pause
        stopped = from + at
        const app = shared[process] as TestApp
        if (forgets) await remembered.flushall()
        const sendAsHost = async () => {
          const response = await app.send('POST', pathOf(id), { key: by.key, body: { message: { text } } })
          return { isDuplicate: response.body.meta.duplicate === true }
        }
        const sent =
          side === 'guest' ? await replyAsGuest(app.live, async () => booking, text) : await sendAsHost()
        const message = { side, text, at }
        const isDuplicate = isDuplicateIn(model, message)
        expect(sent.isDuplicate).toBe(isDuplicate)
        if (!isDuplicate) model.push(message)
      }
      const { body } = await by.send('GET', `${pathOf(id)}?per_page=100`)
      const told = body.data.messages.map(({ sender, text }: { sender: string; text: string }) => ({
        sender,
        text,
      }))
      expect(told).toEqual(model.map(({ side, text }) => ({ sender: side, text })))
    }),
    runs(12, 150),
  )
  stopped = null
  remembered.disconnect()
  await redis.stop()
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
    const duplicates = responses.filter((response) => response.body.meta.duplicate)
    expect(duplicates).toHaveLength(19)
    expect(await stored(text)).toBe(1)
  }
})

/** Prepares a message of the host, and returns the function that writes it later. */
async function prepared({ by, id }: { by: Actor; id: number }, text: string) {
  const { db } = service.live
  const booking = { id, owner_id: by.hostId, listing_id: 1 }
  const input = {
    bookingId: id,
    findBooking: async () => booking,
    message: { sender: 'host', sender_name: 'Test host', text } as const,
  }
  const { queue, write } = await prepareWrite(service.live, newMessages, by.hostId, input)
  return () => inTransaction(db, queue, write)
}

test('what came into a conversation after a message was prepared decides whether the message is a duplicate', async () => {
  const conversation = await conversationOf(service)
  const { by, id, texts } = conversation
  const [opening] = await texts()
  const sendElsewhere = (text: string) =>
    sender(fetch, processes[0].url)('POST', pathOf(id), { key: by.key, body: { message: { text } } })
  const first = await prepared(conversation, 'Yes.')
  const { body } = await sendElsewhere('Yes.')
  const sent = body.data.message.id
  expect(await first()).toMatchObject({ message: { id: sent }, isDuplicate: true })
  const second = await prepared(conversation, 'Yes.')
  const third = await prepared(conversation, 'Yes.')
  await sendElsewhere('No.')
  expect((await second()).isDuplicate).toBe(false)
  expect((await third()).isDuplicate).toBe(true)
  expect(await texts()).toEqual([opening, 'Yes.', 'No.', 'Yes.'])
})

test('a first attempt that is carried out after its repeat and a further message repeats them nonetheless', async () => {
  const conversation = await conversationOf(service)
  const { by, id, asGuest, texts } = conversation
  const [opening] = await texts()
  const sendElsewhere = async (text: string) => {
    const path = pathOf(id)
    const { body } = await sender(fetch, processes[0].url)('POST', path, {
      key: by.key,
      body: { message: { text } },
    })
    return body.data.message.id as number
  }
  const first = await prepared(conversation, 'Yes.')
  const another = await prepared(conversation, 'Maybe.')
  const yes = await sendElsewhere('Yes.')
  const second = await prepared(conversation, 'Yes.')
  await sendElsewhere('No.')
  await asGuest('Really?')
  expect(await first()).toMatchObject({ message: { id: yes }, isDuplicate: true })
  expect((await another()).isDuplicate).toBe(false)
  expect((await second()).isDuplicate).toBe(false)
  expect(await texts()).toEqual([opening, 'Yes.', 'No.', 'Really?', 'Maybe.', 'Yes.'])
})

test('a message that was prepared before its conversation was closed is refused', async () => {
  const conversation = await conversationOf(service)
  const { by, id, texts } = conversation
  const write = await prepared(conversation, 'Too late')
  await setConversationClosed(service.live, { owner_id: by.hostId, id }, true)
  await expect(write()).rejects.toThrow('The conversation is closed')
  expect(await texts()).not.toContain('Too late')
})

test('a conversation whose messages an earlier release stored is judged by them too', async () => {
  const conversation = await conversationOf(service)
  const { by, id, asHost, asGuest } = conversation
  const { id: opening } = await asGuest('Is there a lift?')
  const { id: yes } = await asHost('Yes.')
  const places = { $unset: { place: 1 } } as const
  await messageModel(service.live.db).updateMany({ owner_id: by.hostId, booking_id: id }, places)
  expect(await asHost('Yes.')).toEqual({ id: yes, isDuplicate: true })
  const { id: again } = await asGuest('Is there a lift?')
  expect(again).not.toBe(opening)
  expect((await asHost('Yes.')).isDuplicate).toBe(false)
})

test('the first messages of a conversation, sent at once over two processes, are all stored', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { by, id, texts } = await conversationOf(service)
    const sent = Array.from({ length: 8 }, (_, index) => `Message ${index}`)
    const responses = await Promise.all(
      sent.map((text, index) =>
        sender(fetch, processes[index % 2]?.url)('POST', pathOf(id), {
          key: by.key,
          body: { message: { text } },
          repeatWhileBusy: true,
        }),
      ),
    )
    expect(responses.map(({ status }) => status)).toEqual(Array(8).fill(201))
    expect((await texts()).slice(1).sort()).toEqual(sent)
  }
})

test('a duplicate is the first message whether Redis remembers it, has forgotten it, is frozen or is gone', async () => {
  const redis = await startRedis()
  const shared = await testApp({ REDIS_URL: redis.url }, clock)
  const remembered = new Redis(redis.url)
  const by = await shared.actor()
  const { booking_id: id } = await seedBooking(by)
  const idOf = async (text: string) => (await send(text, id, by)).body.data.message.id
  const first = await idOf('Hello')
  await expect.poll(() => remembered.keys('*cache:message:*')).toHaveLength(1)
  expect(await idOf('Hello')).toBe(first)
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
  process.kill(redis.pid, 'SIGSTOP')
  expect(await idOf('Goodbye')).toBe(last)
  process.kill(redis.pid, 'SIGCONT')
  await redis.stop()
  remembered.disconnect()
  expect(await idOf('Goodbye')).toBe(last)
  const between = await idOf('Wait')
  expect(await idOf('Goodbye')).toBeGreaterThan(between)
})

test('a message that Redis remembers is sent again if another process stored one in between, though Redis saw nothing of it', async () => {
  const redis = await startRedis()
  const shared = await testApp({ REDIS_URL: redis.url }, clock)
  const remembered = new Redis(redis.url)
  const by = await shared.actor()
  const { booking_id: id } = await seedBooking(by)
  const first = await send('Yes.', id, by)
  await expect.poll(() => remembered.keys('*cache:message:*')).toHaveLength(1)
  const other = processes[0].url
  const between = await sender(fetch, other)('POST', pathOf(id), {
    key: by.key,
    body: { message: { text: 'No.' } },
  })
  expect(between.status).toBe(201)
  const again = await send('Yes.', id, by)
  expect(again.body.data.message.id).not.toBe(first.body.data.message.id)
  expect(again.body.meta).not.toHaveProperty('duplicate')
  const repeated = await send('Yes.', id, by)
  expect(repeated.body.data).toEqual(again.body.data)
  expect(repeated.body.meta.duplicate).toBe(true)
  remembered.disconnect()
  await redis.stop()
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

test('messages that are stored together have one order in their conversation and in the feed', async () => {
  const host = await service.actor()
  const { booking_id: id } = await seedBooking(host)
  const { live } = service
  const prepare = (text: string) =>
    newMessages.prepare(live, host.hostId, {
      bookingId: id,
      findBooking: async () => ({ id, owner_id: host.hostId, listing_id: 1 }),
      message: { sender: 'host', sender_name: 'Host', text },
    })
  const texts = ['one', 'two', 'three', 'four']
  const prepared = []
  for (const text of texts) prepared.push({ ...(await prepare(text)), trace: null })
  // They may wait for their turn in another order than the one in which they got their ids.
  const inTurn = prepared.toReversed()
  const queue = newMessages.queue(host.hostId, inTurn[0] as (typeof inTurn)[number])
  const sent = await inTransaction(live.db, queue, (session) =>
    newMessages.write(live, session, host.hostId, inTurn),
  )
  expect(sent.map(({ message }) => message.text)).toEqual(texts.toReversed())
  expect(new Set(sent.map(({ message }) => message.created_at.getTime())).size).toBe(1)
  const shown = (await host.send('GET', pathOf(id))).body.data.messages
  const feed = (await host.send('GET', '/v1/integrations/provider_one/messages')).body.data.messages
  const textsOf = (messages: { text: string }[]) => messages.map(({ text }) => text).slice(1)
  expect({ shown: textsOf(shown), feed: textsOf(feed) }).toEqual({ shown: texts, feed: texts })
})
