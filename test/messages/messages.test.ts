import { afterAll, beforeAll, expect, test } from 'vitest'
import { messageModel } from '../../src/messages/model.ts'
import { type Actor, seedBooking, sender, testApp, testEnvironment } from '../support/app.ts'
import { partnerctl, type ServiceProcess, startService } from '../support/processes.ts'

let offset = 0
const clock = () => new Date(Date.now() + offset)
const service = await testApp({}, clock)
const processes: ServiceProcess[] = await Promise.all([
  startService(testEnvironment()),
  startService(testEnvironment()),
])
afterAll(() => Promise.all(processes.map((process) => process.stop())))

let actor: Actor
let booking_id: number
beforeAll(async () => {
  actor = await service.actor()
  booking_id = (await seedBooking(actor)).booking_id
})

const pathOf = (id: number) => `/v1/bookings/${id}/messages`
const send = (text: unknown, id = booking_id, by = actor) =>
  by.send('POST', pathOf(id), { body: { message: { text } } })
const stored = (text: string) => messageModel(service.live.db).countDocuments({ host_id: actor.hostId, text })

test('a message is sent as the host with 201 and read back after the guest’s', async () => {
  const { status, body } = await send('  Welcome!  ')
  expect(status).toBe(201)
  expect(body.data).toEqual({
    message: {
      id: expect.any(Number),
      sender: 'host',
      sender_name: 'Test host',
      text: 'Welcome!',
      is_seen: false,
    },
  })
  const read = await actor.send('GET', pathOf(booking_id))
  expect(read.body.data.messages.map(({ sender, text }: Record<string, string>) => [sender, text])).toEqual([
    ['guest', 'I arrive with the night train, around 08:00'],
    ['host', 'Welcome!'],
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

test('messages come in pages, oldest first', async () => {
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
])('POST %.60j is 422 at %s, %s', async (body, path, code) => {
  const answer = await actor.send('POST', pathOf(booking_id), { body })
  expect([answer.status, answer.body.error.errors[0]]).toMatchObject([422, { path, code }])
})

test('5,000 characters with white space around them are a message', async () => {
  expect((await send(`  ${'y'.repeat(5000)}\n`)).status).toBe(201)
})

test('an equal text within the window is the first message again; after it, a new one', async () => {
  const first = await send('Same')
  offset = 59_000
  const again = await send(' Same ')
  expect([again.status, again.body.data]).toEqual([201, first.body.data])
  offset = 61_000
  const later = await send('Same')
  expect(later.body.data.message.id).not.toBe(first.body.data.message.id)
  expect(await stored('Same')).toBe(2)
  offset = 0
})

test('twenty equal sends at once over two processes store one message, ten times', async () => {
  for (let round = 0; round < 10; round += 1) {
    const text = `Round ${round}`
    const body = { message: { text } }
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        sender(fetch, processes[index % 2]?.url)('POST', pathOf(booking_id), { key: actor.key, body }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201))
    expect(new Set(answers.map((answer) => answer.body.data.message.id)).size).toBe(1)
    expect(await stored(text)).toBe(1)
  }
})

test('a closed conversation is 409 until it is reopened; reading goes on', async () => {
  const environment = { MONGODB_URL: testEnvironment().MONGODB_URL as string }
  const closed = await partnerctl(['conversations', 'close', String(booking_id), '--json'], environment)
  expect(JSON.parse(closed.stdout)).toMatchObject({ booking_id, state: 'closed' })
  const refused = await send('Too late')
  expect([refused.status, refused.body.error.type]).toEqual([409, 'conflict'])
  expect((await actor.send('GET', pathOf(booking_id))).status).toBe(200)
  expect(await stored('Too late')).toBe(0)
  await partnerctl(['conversations', 'reopen', String(booking_id)], environment)
  expect((await send('In time')).status).toBe(201)
  expect((await partnerctl(['conversations', 'close', '999999999'], environment)).code).toBe(1)
  expect((await partnerctl(['conversations', 'close', 'x'], environment)).code).toBe(2)
})

test('messages do not move the version of the booking', async () => {
  const feed = async () => (await actor.send('GET', '/v1/integrations/provider_one/bookings')).body.data
  const before = await feed()
  await send('Does nothing to the feed')
  expect(await feed()).toEqual(before)
})

test('a conversation is in the order it happened, also when versions ran ahead of the clock in a burst', async () => {
  const host = await service.actor()
  const { user_id, listing_id, room_type_id } = await seedBooking(host)
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2030-01-01', checkout_at: '2030-01-05' }
  const made = await Promise.all(
    Array.from({ length: 30 }, () =>
      host.send('POST', '/v1/bookings', { body: { ...stay, message: 'From the guest' } }),
    ),
  )
  const last = made
    .map(({ body }) => body.data)
    .sort((a, b) => a.updated_at.localeCompare(b.updated_at))
    .at(-1)
  expect(Date.parse(last.updated_at)).toBeGreaterThan(Date.now() + 10_000)
  expect(Math.abs(Date.parse(last.created_at) - Date.now())).toBeLessThan(10_000)
  await send('From the host', last.booking_id, host)
  const { body } = await host.send('GET', pathOf(last.booking_id))
  expect(body.data.messages.map(({ sender }: { sender: string }) => sender)).toEqual(['guest', 'host'])
})
