import { expect, test } from 'vitest'
import { readPage } from '../../../src/changes/feed/feed-page.ts'
import { positionOf } from '../../../src/changes/feed/position.ts'
import { messageFeed } from '../../../src/changes/feeds.ts'
import { advanceHostClock } from '../../../src/host-clock/store.ts'
import { inTransaction } from '../../../src/platform/mongo/turns/transactions.ts'
import { type Actor, seedBooking, testApp } from '../../support/app.ts'

const service = await testApp()
const { db } = service.live
const feed = '/v1/integrations/provider_one/messages'

interface Item {
  id: number
  booking_id: number
  listing_id: number
  sender: string
  text: string
  sent_at: string
  version: string
}

async function read(actor: Actor, query = ''): Promise<Item[]> {
  return (await actor.send('GET', `${feed}?per_page=100&${query}`)).body.data.messages
}

/** Creates a host and a booking with a guest's message; also returns a function that creates another booking. */
async function hostWithBooking() {
  const actor = await service.actor()
  const { user_id, listing_id, room_type_id, booking_id } = await seedBooking(actor)
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const book = async (): Promise<number> => {
    const response = await actor.send('POST', '/v1/bookings', {
      body: { ...stay, message: 'Hi' },
      repeatWhileBusy: true,
    })
    return response.body.data.booking_id
  }
  return { actor, booking_id, listing_id, book }
}

const send = (actor: Actor, bookingId: number, text: string) =>
  actor.send('POST', `/v1/bookings/${bookingId}/messages`, {
    body: { message: { text } },
    repeatWhileBusy: true,
  })

test('the message feed lists the messages of all bookings in sending order, each with its own version', async () => {
  const { actor, booking_id, listing_id, book } = await hostWithBooking()
  const other = await book()
  await Promise.all(['a', 'b', 'c', 'd'].map((text) => send(actor, booking_id, text)))
  await send(actor, other, 'last')
  const items = await read(actor)
  const versions = items.map(({ version }) => version)
  expect(versions).toEqual([...new Set(versions)].sort())
  expect(items.at(-1)).toEqual({
    id: expect.any(Number),
    booking_id: other,
    listing_id,
    sender: 'host',
    sender_name: expect.any(String),
    text: 'last',
    is_seen: false,
    sent_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}000Z$/),
    version: versions.at(-1),
    erased_at: null,
  })
  expect(items.map(({ sender }) => sender)).toContain('guest')
})

test('messages do not change the versions of bookings, and bookings do not change those of messages', async () => {
  const { actor, booking_id, book } = await hostWithBooking()
  const bookings = '/v1/integrations/provider_one/bookings'
  const before = (await actor.send('GET', bookings)).body.data
  for (let count = 0; count < 5; count += 1) await send(actor, booking_id, `Message ${count}`)
  expect((await actor.send('GET', bookings)).body.data).toEqual(before)
  const messages = await read(actor)
  await book()
  expect((await read(actor)).slice(0, messages.length)).toEqual(messages)
})

test('a duplicate message appears in the feed once', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  await Promise.all(Array.from({ length: 10 }, () => send(actor, booking_id, 'The same')))
  expect((await read(actor)).filter(({ text }) => text === 'The same')).toHaveLength(1)
})

test('the message feed filters by booking and sender, and refuses invalid values of both', async () => {
  const { actor, booking_id, book } = await hostWithBooking()
  await send(actor, booking_id, 'One')
  await send(actor, await book(), 'Other')
  const ofOne = await read(actor, `booking_id=${booking_id}&sender=host`)
  expect(ofOne.map(({ text }) => text)).toEqual(['One'])
  expect(new Set((await read(actor, 'sender=guest')).map(({ sender }) => sender))).toEqual(new Set(['guest']))
  const problems = async (query: string) => {
    const { status, body } = await actor.send('GET', `${feed}?${query}`)
    return [status, body.error.errors.map(({ path, code }: Record<string, string>) => `${path} ${code}`)]
  }
  expect(await problems('sender=admin')).toEqual([422, ['sender invalid']])
  expect(await problems('booking_id=x')).toEqual([422, ['booking_id invalid']])
  expect(await problems('booking_id=999999999')).toEqual([404, []])
})

test('one new message among 60 conversations is found with one request', async () => {
  const { actor, book } = await hostWithBooking()
  const bookings = await Promise.all(Array.from({ length: 60 }, book))
  const last = (await read(actor)).at(-1)?.version as string
  await send(actor, bookings[33] as number, 'Here I am')
  const found = await read(actor, `updated_after=${encodeURIComponent(last)}`)
  expect(found).toMatchObject([{ booking_id: bookings[33], text: 'Here I am' }])
})

test('a cursor of the message feed carries its filters', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  for (const text of ['One', 'Two', 'Three'])
    await actor.send('POST', `/v1/bookings/${booking_id}/messages`, { body: { message: { text } } })
  const read = (query: string) => actor.send('GET', `${feed}?${query}`)
  const first = await read(`per_page=1&sender=host&booking_id=${booking_id}`)
  const cursor = `cursor=${first.body.meta.pagination.next_cursor}`
  const second = await read(cursor)
  const { total, from, to } = second.body.meta.pagination
  const texts = second.body.data.messages.map(({ text }: { text: string }) => text)
  expect({ texts, total, from, to }).toEqual({ texts: ['Two'], total: 3, from: 2, to: 2 })
  for (const [other, path] of [
    ['sender=guest', 'sender'],
    ['booking_id=999999999', 'booking_id'],
  ]) {
    const { status, body } = await read(`${cursor}&${other}`)
    expect({ status, errors: body.error.errors }).toMatchObject({ status: 422, errors: [{ path }] })
  }
})

test('a cursor of one feed is refused by the other', async () => {
  const { actor, book } = await hostWithBooking()
  await book()
  const bookings = '/v1/integrations/provider_one/bookings'
  const cursorOf = async (path: string) =>
    (await actor.send('GET', `${path}?per_page=1`)).body.meta.pagination.next_cursor
  const ofBookings = await cursorOf(bookings)
  const ofMessages = await cursorOf(feed)
  const statusOf = async (path: string, cursor: string) =>
    (await actor.send('GET', `${path}?per_page=1&cursor=${cursor}`)).status
  expect(await Promise.all([statusOf(bookings, ofBookings), statusOf(feed, ofMessages)])).toEqual([200, 200])
  expect(await Promise.all([statusOf(bookings, ofMessages), statusOf(feed, ofBookings)])).toEqual([422, 422])
})

test('in the sandbox a guest can be made to reply, but not in a closed conversation', async () => {
  const actor = await service.actor()
  const reply = (id: number) =>
    actor.send('POST', `/sandbox/bookings/${id}/messages/guest`, { body: { message: { text: 'Hello' } } })
  const open = await reply(5001)
  const closed = await reply(5003)
  expect({ status: open.status, sender: open.body.data.message.sender }).toEqual({
    status: 201,
    sender: 'guest',
  })
  expect({ status: closed.status, type: closed.body.error.type }).toEqual({ status: 409, type: 'conflict' })
  const { body } = await actor.send('GET', '/sandbox/integrations/provider_one/messages')
  expect(body.data.messages.at(-1)).toMatchObject({ booking_id: 5001, text: 'Hello', sender: 'guest' })
})

test('if a sandbox is cleared during a request, the feed is empty and a write is a retryable conflict', async () => {
  const gone = { ownerId: 987_654_321, keyId: 987_654_321 }
  const position = await positionOf(db, messageFeed, gone, {})
  const { rows } = await readPage(db, messageFeed, position, { number: 1, after: null })
  expect(rows).toEqual([])
  const write = inTransaction(db, 'gone', (session) =>
    advanceHostClock(db, session, gone.ownerId, { now: new Date(), changes: 1, messages: 1 }),
  )
  await expect(write).rejects.toMatchObject({ kind: 'conflict', retryAfterSeconds: 1 })
})
