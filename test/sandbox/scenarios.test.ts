import { test } from 'vitest'
import { leaseModel } from '../../src/platform/mongo/turns/lease.ts'
import { sandboxModel } from '../../src/sandbox/model.ts'
import { messageModel } from '../../src/stays/messages/model.ts'
import { type Actor, seedBooking, testApp } from '../support/app.ts'
import { ownDatabase } from '../support/databases.ts'
import { startReceiver } from '../support/receiver.ts'

const settings = {
  MONGODB_URL: await ownDatabase(),
  WEBHOOKS_ALLOW_PRIVATE: 'on',
}
const [service, other] = await Promise.all([testApp(settings), testApp(settings)])
const feedPath = '/sandbox/integrations/provider_one/bookings'

type Row = { booking_id: number; status: string; version: string; checkin_at: string; checkout_at: string }

/** Plays a scenario. Often a test's first request, which fills its sandbox while the other tests fill theirs. */
const play = (actor: Actor, name: string, body?: object) =>
  actor.send('POST', `/sandbox/scenarios/${name}`, { ...(body ? { body } : {}), repeatWhileBusy: true })
const played = async (actor: Actor, name: string, body?: object) => {
  const { status, body: answer, text } = await play(actor, name, body)
  if (status !== 201) throw new Error(`${name}: ${status} ${text}`)
  return answer.data.played
}
const feedOf = async (actor: Actor): Promise<Row[]> => {
  const rows: Row[] = []
  for (let page = 1; ; page += 1) {
    const { body } = await actor.send('GET', `${feedPath}?per_page=100&page=${page}`)
    rows.push(...body.data.Bookings)
    if (page >= body.meta.pagination.last_page) return rows
  }
}
const detailOf = async (actor: Actor, id: number) =>
  (await actor.send('GET', `${feedPath}/${id}`)).body.data.Booking
const messagesOf = async (actor: Actor, id: number) =>
  (await actor.send('GET', `/sandbox/bookings/${id}/messages`)).body.data.messages

test.concurrent('scenarios are listed with their summaries and parameters', async ({ expect }) => {
  const actor = await service.actor({ permissions: [] })
  const { body } = await actor.send('GET', '/sandbox/scenarios')
  expect(body.data.map(({ name }: { name: string }) => name)).toEqual([
    'guest-books',
    'host-confirms',
    'guest-cancels',
    'cancelled-before-seen',
    'changed-within-a-second',
    'last-unit',
    'guest-writes',
    'conversation-closes',
    'history',
  ])
  for (const { summary, parameters } of body.data) {
    expect(summary).toMatch(/Finds an integration (that|whose) /)
    expect(parameters.length).toBeGreaterThan(0)
  }
  expect((await play(actor, 'unknown')).status).toBe(404)
  expect((await actor.send('POST', '/v1/scenarios/guest-books')).status).toBe(404)
})

test.concurrent('guests book and send a message each, and feeds and hints show both', async (context) => {
  const { expect } = context
  const { url, received } = startReceiver(context)
  const actor = await service.actor()
  const events = ['booking.changed', 'message.created']
  await actor.send('POST', '/sandbox/webhooks', { body: { url, events } })
  const before = await feedOf(actor)
  const done = await played(actor, 'guest-books', { listing_id: 2002, count: 3, checkin_at: '2031-03-01' })
  expect(done).toMatchObject({ scenario: 'guest-books', listing_id: 2002, room_type_id: 3003, nights: [] })
  expect(done.bookings.map(({ status }: Row) => status)).toEqual(['pending', 'pending', 'pending'])
  const fresh = (await feedOf(actor)).slice(before.length)
  expect(fresh.map(({ booking_id }) => booking_id)).toEqual(
    done.bookings.map(({ booking_id }: Row) => booking_id),
  )
  expect(fresh[0]).toMatchObject({ checkin_at: '2031-03-01', checkout_at: '2031-03-31' })
  for (const { id, booking_id } of done.messages)
    expect((await messagesOf(actor, booking_id)).map((one: { id: number }) => one.id)).toEqual([id])
  const guests = await Promise.all(
    done.bookings.map(async ({ booking_id }: Row) => (await detailOf(actor, booking_id)).guest?.email),
  )
  expect(new Set(guests).size).toBe(guests[0] === undefined ? 1 : 3)
  await expect
    .poll(() => new Set(received.map(({ hint }) => `${hint.type} ${hint.data.booking_id}`)).size)
    .toBe(6)
})

test.concurrent('a host confirms and a guest cancels the newest suitable booking, or the one that is named', async ({
  expect,
}) => {
  const actor = await service.actor()
  const { bookings } = await played(actor, 'guest-books', { count: 2, listing_id: 2002 })
  const [older, newer] = bookings.map(({ booking_id }: Row) => booking_id)
  const named = await played(actor, 'host-confirms', { booking_id: older })
  expect(named.bookings).toEqual([{ booking_id: older, status: 'confirmed' }])
  expect((await played(actor, 'host-confirms')).bookings).toEqual([
    { booking_id: newer, status: 'confirmed' },
  ])
  const cancelled = await played(actor, 'guest-cancels', { booking_id: String(newer) })
  expect(cancelled.bookings).toEqual([{ booking_id: newer, status: 'cancelled' }])
  expect(await detailOf(actor, newer)).toMatchObject({
    status: 'cancelled',
    cancellation_reason: 'The guest has other plans',
  })
  const again = await play(actor, 'guest-cancels', { booking_id: newer })
  expect({ status: again.status, message: again.body.error.message }).toEqual({
    status: 409,
    message: 'The scenario cannot be played: the booking is not pending or confirmed',
  })
})

test.concurrent('a booking that is cancelled before it is seen never appears as pending', async ({
  expect,
}) => {
  const actor = await service.actor()
  const seen = new Set<string>()
  let isOver = false
  let polls = 0
  const watching = (async () => {
    while (!isOver) {
      for (const { booking_id, status } of await feedOf(actor)) seen.add(`${booking_id} ${status}`)
      polls += 1
    }
  })()
  const ids: number[] = []
  for (let round = 0; round < 5; round += 1) {
    const { bookings } = await played(actor, 'cancelled-before-seen')
    expect(bookings).toEqual([{ booking_id: expect.any(Number), status: 'cancelled' }])
    ids.push(bookings[0].booking_id)
  }
  isOver = true
  await watching
  expect(polls).toBeGreaterThan(0)
  for (const { booking_id, status } of await feedOf(actor)) seen.add(`${booking_id} ${status}`)
  for (const id of ids)
    expect([...seen].filter((one) => one.startsWith(`${id} `))).toEqual([`${id} cancelled`])
})

test.concurrent('a booking changes three times within a second, and each change has its own version', async ({
  expect,
}) => {
  const actor = await service.actor()
  const last = (await feedOf(actor)).at(-1)?.version ?? ''
  const { bookings } = await played(actor, 'changed-within-a-second')
  const detail = await detailOf(actor, bookings[0].booking_id)
  const seconds = (version: string) => Date.parse(`${version.replace(' ', 'T')}Z`) / 1000
  expect(detail.status).toBe('cancelled')
  expect(detail.confirmed_at).not.toBeNull()
  expect(seconds(detail.meta.version) - seconds(last)).toBeGreaterThanOrEqual(3)
})

test.concurrent('last-unit leaves no unit on the named nights, and keeps units on the other nights', async ({
  expect,
}) => {
  const actor = await service.actor()
  const done = await played(actor, 'last-unit', { listing_id: 2002, checkin_at: '2031-05-01' })
  expect({ nights: done.nights.length, first: done.nights[0], last: done.nights.at(-1) }).toEqual({
    nights: 30,
    first: '2031-05-01',
    last: '2031-05-30',
  })
  const { listing_id, room_type_id } = done
  const nights = await actor.send(
    'GET',
    `/sandbox/integrations/provider_one/availability/nights?listing_id=${listing_id}&room_type_id=${room_type_id}&start_date=2031-04-30&end_date=2031-05-31`,
  )
  const left = nights.body.data.nights[listing_id][room_type_id].map(
    (one: { left: number | null }) => one.left,
  )
  expect(left.slice(1, -1)).toEqual(Array(30).fill(0))
  expect([left[0], left.at(-1)]).not.toContain(0)
  const book = (checkin_at: string, checkout_at: string) =>
    actor.send('POST', '/sandbox/bookings', {
      body: { user_id: 1001, listing_id, room_type_id, checkin_at, checkout_at },
    })
  const refused = await book('2031-05-29', '2031-06-20')
  expect({ status: refused.status, error: refused.body.error.errors[0] }).toMatchObject({
    status: 422,
    error: { path: 'checkin_at', code: 'unavailable' },
  })
  expect((await book('2031-05-31', '2031-06-20')).status).toBe(201)
})

test.concurrent('a guest writes until the conversation closes', async ({ expect }) => {
  const actor = await service.actor()
  const { bookings } = await played(actor, 'guest-books')
  const [{ booking_id }] = bookings
  const { messages } = await played(actor, 'guest-writes', { count: 3 })
  expect(messages.map((one: { booking_id: number }) => one.booking_id)).toEqual([
    booking_id,
    booking_id,
    booking_id,
  ])
  const more = await played(actor, 'guest-writes', { booking_id })
  const written = (await messagesOf(actor, booking_id)).map(({ id }: { id: number }) => id)
  expect(written).toEqual(expect.arrayContaining([...messages, ...more.messages].map(({ id }) => id)))
  expect(written).toHaveLength(5)
  expect((await played(actor, 'conversation-closes')).bookings[0].booking_id).toBe(booking_id)
  const sent = await actor.send('POST', `/sandbox/bookings/${booking_id}/messages`, {
    body: { message: { text: 'Hello' } },
  })
  expect(sent.status).toBe(409)
  const refused = await play(actor, 'guest-writes', { booking_id })
  expect({ status: refused.status, message: refused.body.error.message }).toEqual({
    status: 409,
    message: 'The scenario cannot be played: the booking has no open conversation',
  })
  expect((await played(actor, 'guest-writes')).bookings[0].booking_id).not.toBe(booking_id)
})

test.concurrent('history creates past stays, the same number in each status', async ({ expect }) => {
  const actor = await service.actor()
  const { bookings } = await played(actor, 'history', { count: 4, checkin_at: '2040-01-01' })
  const statuses = bookings.map(({ status }: Row) => status)
  for (const status of ['pending', 'confirmed', 'cancelled'])
    expect(statuses.filter((one: string) => one === status)).toHaveLength(4)
  const ids = new Set(bookings.map(({ booking_id }: Row) => booking_id))
  const rows = (await feedOf(actor)).filter(({ booking_id }) => ids.has(booking_id))
  expect(rows).toHaveLength(12)
  const today = new Date().toISOString().slice(0, 10)
  for (const { checkout_at } of rows) expect(checkout_at < today).toBe(true)
})

test.concurrent('an invalid or impossible scenario plays nothing and states the reason', async ({
  expect,
}) => {
  const [actor, neighbour] = await Promise.all([service.actor(), service.actor()])
  const foreign = await seedBooking(neighbour, '/sandbox')
  const before = await feedOf(actor)
  for (const [body, path, code] of [
    [{ count: 0 }, 'count', 'min'],
    [{ count: 501 }, 'count', 'max'],
    [{ count: 1.5 }, 'count', 'invalid'],
    [{ checkin_at: 'tomorrow' }, 'checkin_at', 'invalid'],
    [{ checkin_at: '9999-12-02' }, 'checkin_at', 'max'],
    [{ listing_id: 'x' }, 'listing_id', 'invalid'],
    [{ listing_id: {} }, 'listing_id', 'invalid'],
    [{ listing_id: foreign.listing_id }, 'listing_id', 'invalid'],
    [{ booking_id: -1 }, 'booking_id', 'invalid'],
  ] as const) {
    const { status, body: answer } = await play(actor, 'guest-books', body)
    const found = answer.error?.errors.map((one: { path: string; code: string }) => ({
      path: one.path,
      code: one.code,
    }))
    expect({ status, found }, JSON.stringify(body)).toEqual({ status: 422, found: [{ path, code }] })
  }
  for (const name of ['host-confirms', 'guest-cancels', 'guest-writes', 'conversation-closes', 'history'])
    for (const listing_id of [foreign.listing_id, 999_999_999]) {
      const { status, body } = await play(actor, name, { listing_id })
      expect({ name, status, error: body.error?.errors[0] }).toMatchObject({
        name,
        status: 422,
        error: { path: 'listing_id', code: 'invalid' },
      })
    }
  const unknown = await play(actor, 'guest-cancels', { booking_id: foreign.booking_id })
  expect({ status: unknown.status, error: unknown.body.error.errors[0] }).toMatchObject({
    status: 422,
    error: { path: 'booking_id', code: 'invalid' },
  })
  const { listing_id, room_type_id } = await played(actor, 'last-unit', {
    listing_id: 2002,
    checkin_at: '2032-01-01',
  })
  const full = await play(actor, 'guest-books', { listing_id, checkin_at: '2032-01-10', count: 2 })
  expect({ status: full.status, message: full.body.error.message }).toEqual({
    status: 409,
    message:
      'The scenario cannot be played: the listing has units for 0 of 2 stays of 30 nights from 2032-01-10',
  })
  expect(room_type_id).toBe(3003)
  expect(await feedOf(actor)).toHaveLength(before.length + 1)
  expect((await play(actor, 'guest-books', { listing_id: '2002', booking_id: null })).status).toBe(201)
})

test.concurrent('scenarios of one sandbox take turns over two processes, and one whose sandbox is cleared fails cleanly', async ({
  expect,
}) => {
  const actor = await service.actor()
  await actor.send('GET', '/sandbox/clock', { repeatWhileBusy: true })
  const through = [service, other].map(
    ({ send }) =>
      () =>
        send('POST', '/sandbox/scenarios/last-unit', {
          key: actor.key,
          body: { listing_id: 2002 },
        }),
  )
  const answers = await Promise.all([0, 1, 0, 1].map((index) => through[index]?.()))
  // All runs compete for the last unit of the same nights, so only one run succeeds.
  expect(answers.map((one) => one?.status).sort()).toEqual([201, 409, 409, 409])
  const sandboxId = await sandboxModel(service.sandbox.db)
    .findOne({ state: 'open', key_id: actor.keyId })
    .lean()
  const clearing = [play(actor, 'guest-books', { count: 30 }), actor.send('DELETE', '/sandbox')]
  const [ended] = await Promise.all(clearing)
  expect([201, 409]).toContain(ended?.status)
  expect(await leaseModel(service.sandbox.db).findById(`scenario:${sandboxId?._id}`)).toBeNull()
  expect((await play(actor, 'guest-books')).status).toBe(201)
})

test.concurrent('a scenario that does not fit in the sandbox is refused before it begins', async ({
  expect,
}) => {
  const actor = await service.actor()
  const before = await feedOf(actor)
  const { _id: owner_id } = await sandboxModel(service.sandbox.db)
    .findOne({ key_id: actor.keyId, state: 'open' })
    .lean()
    .orFail()
  const message = { owner_id, booking_id: 1, listing_id: 1, sender: 'guest', sender_name: 'G', text: 'T' }
  const filling = Array.from({ length: 3000 }, (_, index) => ({
    ...message,
    is_seen: false,
    id: 1_000_000 + index,
    created_at: new Date(0),
    version: new Date(index * 1000),
  }))
  await messageModel(service.sandbox.db).insertMany(filling)
  const refused = await play(actor, 'guest-books', { count: 500, listing_id: 2002 })
  expect({ status: refused.status, message: refused.body.error.message }).toEqual({
    status: 409,
    message: 'The sandbox is full: clear it with DELETE /sandbox',
  })
  expect(await feedOf(actor)).toEqual(before)
  await played(actor, 'guest-books', { count: 2 })
})
