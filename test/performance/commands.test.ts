import type { CommandStartedEvent } from 'mongodb'
import { expect, inject, onTestFinished, test } from 'vitest'
import { databaseNameOf } from '../../src/platform/mongo/connection.ts'
import { seedBooking, testApp } from '../support/app.ts'
import { backgroundCollections } from '../support/background-collections.ts'
import {
  calendarOf,
  type ListingWithCalendars,
  listingWithCalendars,
  startCalendarServer,
} from '../support/calendars.ts'
import { ownDatabase } from '../support/databases.ts'
import { readFixture } from '../support/fixtures.ts'
import { listenToTransactions } from '../support/transactions.ts'

/**
 * The most commands that each request may send to the database, counted by the driver's own monitor, so that no extra
 * command goes unnoticed. Redis runs as in production. What a request without Redis asks about its key is counted in
 * `test/access/keys/key-changes.test.ts`.
 */
const url = await ownDatabase()
const database = databaseNameOf(url)
const service = await testApp({
  MONGODB_URL: `${url}&monitorCommands=true`,
  REDIS_URL: inject('redisUrl'),
  WEBHOOKS_ALLOW_PRIVATE: 'on',
})
// Calendars are read in the background.
await service.live.calendars.stop()
const actor = await service.actor({ rateLimit: 1_000_000 })
const provider = '/v1/integrations/provider_one'

const { body: user } = await actor.send('POST', '/v1/users', { body: await readFixture('users/maria') })
const { body: listing } = await actor.send('POST', '/v1/listings', {
  body: await readFixture('demo/listing'),
})
const { body: full } = await actor.send('GET', `/v1/listings/${listing.data.id}`)
const stay = {
  user_id: user.data.user_id,
  listing_id: listing.data.id,
  room_type_id: full.data.room_types[0].id,
  checkin_at: '2031-01-01',
  checkout_at: '2031-02-01',
}
for (let count = 0; count < 5; count += 1) await actor.send('POST', '/v1/bookings', { body: stay })
const { body: feed } = await actor.send('GET', `${provider}/bookings?per_page=2`)
const last = (await actor.send('GET', `${provider}/bookings`)).body.data.Bookings.at(-1)
/** Another host, which has read all that there is. */
const upToDate = await service.actor()
for (const path of ['bookings', 'messages']) await upToDate.send('GET', `${provider}/${path}`)
const bookingId = last.booking_id

function isOfRequest({ commandName, command, databaseName }: CommandStartedEvent): boolean {
  if (databaseName === 'admin') return commandName === 'commitTransaction'
  // Change streams send these commands.
  if (commandName === 'getMore') return false
  return databaseName === database && !backgroundCollections.has(command[commandName])
}

/** What disturbs a count on a busy machine does not disturb each of as many requests. */
const mostTries = 5

async function commandsOf(send: () => Promise<{ status: number }>): Promise<string[]> {
  const commands: string[] = []
  let keyRecords = 0
  const note = (event: CommandStartedEvent) => {
    const name = `${event.commandName} ${event.command[event.commandName]}`
    if (event.databaseName === database && name === 'find keys') keyRecords += 1
    if (isOfRequest(event)) commands.push(name)
  }
  const client = service.live.db.getClient()
  client.on('commandStarted', note)
  const { status } = await send()
  client.off('commandStarted', note)
  expect(status).toBeLessThan(300)
  // If Redis is late, a key's record is read, with its host. Any other read of a host counts.
  for (let record = 0; record < keyRecords; record += 1) {
    const place = commands.indexOf('find hosts')
    if (place >= 0) commands.splice(place, 1)
  }
  return commands
}

const key = () => ({ 'idempotency-key': crypto.randomUUID() })
const booking = (more: object = {}) => ({ body: { ...stay, ...more } })
const item = { listing_id: stay.listing_id, room_type_id: stay.room_type_id }
const availability = { ...item, available: 9, start_date: '2035-01-01', end_date: '2035-01-31' }

/** Nights of which few units are left. */
const limited = { checkin_at: '2036-01-01', checkout_at: '2036-01-15' }
await actor.send('POST', `${provider}/availability`, {
  body: { data: [{ ...item, available: 50, start_date: '2036-01-01', end_date: '2036-12-31' }] },
})

const replayed = key()
const again = () => actor.send('POST', '/v1/bookings', { ...booking(), headers: replayed })
await again()
const prices = { ...item, base_price: 900, currency: 'EUR' }
const listingBody = (await readFixture('demo/listing')) as object
const consumer = `${provider}/bookings/consumers/one`
await actor.send('PUT', consumer, { body: { acknowledged: '2020-01-01 00:00:00' } })
const newUser = () => ({ email: `${crypto.randomUUID()}@example.com`, first_name: 'A', last_name: 'B' })
const pending = async () => (await actor.send('POST', '/v1/bookings', booking())).body.data.booking_id
const toConfirm: number[] = []
for (let count = 0; count <= mostTries; count += 1) toConfirm.push(await pending())
/** A conversation that ends with the message that is sent again. */
const quiet = `/v1/bookings/${await pending()}/messages`
await actor.send('POST', quiet, { body: { message: { text: 'Hello' } } })
/** A reader at the end of a feed in which nothing changes. */
const reader = await service.actor({ rateLimit: 1_000_000 })
await seedBooking(reader)
const unread = await reader.send('GET', `${provider}/bookings`)
const end = encodeURIComponent(unread.body.data.Bookings.at(-1).version)
const nights = `listing_id=${stay.listing_id}&start_date=2031-01-01&end_date=2031-01-31`

/** Each request's name, its budget of commands and a function that sends it. */
const requests: [name: string, budget: number, send: () => Promise<{ status: number }>][] = [
  ['GET /v1/me', 0, () => actor.send('GET', '/v1/me')],
  ['POST /v1/bookings', 6, () => actor.send('POST', '/v1/bookings', booking())],
  [
    'POST /v1/bookings with a message',
    7,
    () => actor.send('POST', '/v1/bookings', booking({ message: 'Hi' })),
  ],
  [
    'POST /v1/bookings with a message and an Idempotency-Key',
    9,
    () => actor.send('POST', '/v1/bookings', { ...booking({ message: 'Hi' }), headers: key() }),
  ],
  ['POST /v1/bookings with limited units', 6, () => actor.send('POST', '/v1/bookings', booking(limited))],
  [
    'POST /v1/bookings with limited units and an Idempotency-Key',
    8,
    () => actor.send('POST', '/v1/bookings', { ...booking(limited), headers: key() }),
  ],
  [
    'PATCH /v1/listings/{id} of a name',
    1,
    () => actor.send('PATCH', `/v1/listings/${stay.listing_id}`, { body: { name: 'Another name' } }),
  ],
  [
    'PATCH /v1/listings/{id} with fields that are ignored',
    2,
    () => actor.send('PATCH', `/v1/listings/${stay.listing_id}`, { body: { name: 'Yet another', x: 1 } }),
  ],
  ['the first page of the feed, read again', 2, () => actor.send('GET', `${provider}/bookings?per_page=2`)],
  [
    'the same with include=detail',
    4,
    () => actor.send('GET', `${provider}/bookings?per_page=2&include=detail`),
  ],
  [
    'a later page of the feed, read again',
    3,
    () => actor.send('GET', `${provider}/bookings?per_page=2&page=2`),
  ],
  [
    'a page of the feed by cursor',
    2,
    () => actor.send('GET', `${provider}/bookings?per_page=2&cursor=${feed.meta.pagination.next_cursor}`),
  ],
  [
    'a poll of the feed without news',
    1,
    () => reader.send('GET', `${provider}/bookings?updated_after=${end}`),
  ],
  [
    'a poll of the feed that waits a second for news that does not come',
    3,
    () => reader.send('GET', `${provider}/bookings?updated_after=${end}&wait=1`),
  ],
  [
    'a poll of the feed that is ahead of it',
    2,
    () => reader.send('GET', `${provider}/bookings?updated_after=2099-01-01+00:00:00`),
  ],
  [
    'POST of a message',
    6,
    () =>
      actor.send('POST', `/v1/bookings/${bookingId}/messages`, {
        body: { message: { text: crypto.randomUUID() } },
      }),
  ],
  ['a duplicate message', 4, () => actor.send('POST', quiet, { body: { message: { text: 'Hello' } } })],
  [
    'POST of availability',
    7,
    () => actor.send('POST', `${provider}/availability`, { body: { data: [availability] } }),
  ],
  [
    'POST of availability with "as_of"',
    7,
    () =>
      actor.send('POST', `${provider}/availability`, {
        body: { data: [{ ...availability, as_of: '2020-01-01 00:00:00' }] },
      }),
  ],
  [
    'POST of availability whose "as_of" is older than that of other nights',
    8,
    () =>
      actor.send('POST', `${provider}/availability`, {
        body: {
          data: [
            {
              ...availability,
              start_date: '2035-02-01',
              end_date: '2035-02-02',
              as_of: '2019-01-01 00:00:00',
            },
          ],
        },
      }),
  ],
  ['the replay of a keyed POST /v1/bookings', 3, again],
  ['POST of rates', 4, () => actor.send('POST', `${provider}/rates`, { body: { data: [prices] } })],
  ['a transition of a booking', 6, () => actor.send('POST', `/v1/bookings/${toConfirm.pop()}/confirm`)],
  ['POST /v1/users', 3, () => actor.send('POST', '/v1/users', { body: newUser() })],
  [
    'POST /v1/listings that matches by its "original_id", with an Idempotency-Key',
    6,
    () =>
      actor.send('POST', '/v1/listings', {
        body: { ...listingBody, original_id: 'again', original_url: null },
        headers: key(),
      }),
  ],
  [
    'POST /v1/listings of a new one',
    8,
    () => actor.send('POST', '/v1/listings', { body: { ...listingBody, original_id: crypto.randomUUID() } }),
  ],
  ['GET /v1/users/{id}', 1, () => actor.send('GET', `/v1/users/${stay.user_id}`)],
  ['GET /v1/users', 2, () => actor.send('GET', '/v1/users')],
  ['GET /v1/listings/{id}', 1, () => actor.send('GET', `/v1/listings/${stay.listing_id}`)],
  ['GET /v1/listings', 2, () => actor.send('GET', '/v1/listings')],
  ['detail of a booking', 1, () => actor.send('GET', `${provider}/bookings/${bookingId}`)],
  ['the digest of the bookings', 1, () => actor.send('GET', `${provider}/bookings/digest`)],
  ['messages of a booking', 3, () => actor.send('GET', `/v1/bookings/${bookingId}/messages`)],
  ['the message feed', 1, () => actor.send('GET', `${provider}/messages`)],
  ['the feed for a consumer', 2, () => actor.send('GET', `${provider}/bookings?consumer=one`)],
  [
    'acknowledging as a consumer',
    6,
    () => actor.send('PUT', consumer, { body: { acknowledged: '2020-01-02 00:00:00', seek: true } }),
  ],
  ['nights left', 4, () => actor.send('GET', `${provider}/availability/nights?${nights}`)],
  ['GET of availability', 7, () => actor.send('GET', `${provider}/availability`)],
  ['GET /v1/key', 0, () => actor.send('GET', '/v1/key')],
  // With those on the key, on webhooks and on counts of requests, at most eight (decisions §29).
  ['GET /v1/health', 5, () => actor.send('GET', '/v1/health')],
  ['GET /v1/health of a host without news', 3, () => upToDate.send('GET', '/v1/health')],
]

test.each(requests)('%s sends at most %i commands to the database', async (_, budget, send) => {
  // The first request fetches blocks of ids and fills caches.
  await send()
  // A request sometimes also fetches a block of ids or reloads its key after 5 s, but never twice in a row. If Redis is
  // late, what it has begun early is read once more.
  let fewest = await commandsOf(send)
  for (let tries = 1; tries < mostTries && fewest.length > budget; tries += 1) {
    const other = await commandsOf(send)
    if (other.length < fewest.length) fewest = other
  }
  expect(fewest.length, fewest.join('\n')).toBeLessThanOrEqual(budget)
})

/** Most times that nine concurrent changes of one host may send the same statement. */
const sharedBudget = 3

/**
 * Expects that concurrent changes send commands with these names, and none more often than the budget allows. On a busy
 * machine, changes may come too late to share a turn, and then others are sent.
 */
async function expectShared(send: () => Promise<{ status: number }>, names: string[]): Promise<void> {
  const countsOf = (commands: string[]) =>
    names.map((name) => ({ name, sent: commands.filter((one) => one.startsWith(name)).length }))
  let counts = countsOf(await commandsOf(send))
  for (let tries = 1; tries < mostTries && counts.some(({ sent }) => sent > sharedBudget); tries += 1)
    counts = countsOf(await commandsOf(send))
  for (const { name, sent } of counts) {
    expect(sent, name).toBeGreaterThan(0)
    expect(sent, name).toBeLessThanOrEqual(sharedBudget)
  }
}

test('a booking asks for calendars only if its room type has one, and then once', async () => {
  const host = await service.actor({ rateLimit: 1_000_000 })
  const server = startCalendarServer((stop) => onTestFinished(() => stop().then(() => {})))
  server.serve('/', calendarOf([['2031-06-01', '2031-06-03']]))
  const bare = await listingWithCalendars(host, [null])
  const read = await listingWithCalendars(host, [`${server.url}/`])
  expect((await host.send('POST', `${provider}/calendars/${read.roomIds[0]}/read`)).status).toBe(200)
  // Bookings look again for three minutes after the first reading.
  const clocks = service.live.db.collection<{ _id: number }>('host_clocks')
  await clocks.updateOne({ _id: host.hostId }, { $set: { calendars_at: new Date(0) } })
  const commandsFor = async ({ roomIds: _, ...ids }: ListingWithCalendars) => {
    const row = { listing_id: ids.listing_id, room_type_id: ids.room_type_id, available: 9 }
    const data = [{ ...row, start_date: '2031-01-01', end_date: '2031-12-31' }]
    await host.send('POST', `${provider}/availability`, { body: { data } })
    const body = { ...ids, checkin_at: '2031-06-01', checkout_at: '2031-06-05' }
    const book = () => host.send('POST', '/v1/bookings', { body })
    await book()
    // Each 32nd id needs a new block of ids. If Redis is late, what was begun early is read once more.
    const all: string[][] = []
    for (let tries = 0; tries < mostTries; tries += 1) all.push(await commandsOf(book))
    const [fewest = []] = all.toSorted((one, other) => one.length - other.length)
    return fewest.filter((command) => command !== 'findAndModify sequences')
  }
  const plain = await commandsFor(bare)
  const counted = await commandsFor(read)
  expect(counted.toSorted()).toEqual([...plain, 'find calendars'].toSorted())
})

test('concurrent bookings of one host share their statements', async () => {
  const send = async () => {
    const stays = Array.from({ length: 9 }, () => ({ ...booking({ message: 'Hi' }), headers: key() }))
    const created = await Promise.all(stays.map((body) => actor.send('POST', '/v1/bookings', body)))
    return { status: Math.max(...created.map(({ status }) => status)) }
  }
  // The first booking is written alone. The others wait for it and share a transaction.
  await expectShared(send, [
    'commitTransaction',
    'insert bookings',
    'insert messages',
    'insert stored_responses',
  ])
})

test('concurrent messages of one host share their statements too', async () => {
  const conversations: number[] = []
  for (let index = 0; index < 3; index += 1) conversations.push(await pending())
  const send = async () => {
    const sent = await Promise.all(
      Array.from({ length: 9 }, (_, index) =>
        actor.send('POST', `/v1/bookings/${conversations[index % 3]}/messages`, {
          body: { message: { text: crypto.randomUUID() } },
        }),
      ),
    )
    return { status: Math.max(...sent.map(({ status }) => status)) }
  }
  await expectShared(send, ['commitTransaction', 'findAndModify host_clocks', 'insert messages'])
})

test('concurrent moves of one host share their statements too', async () => {
  const bookings: number[] = []
  for (let index = 0; index < 9 * mostTries; index += 1) bookings.push(await pending())
  const send = async () => {
    const moving = bookings.splice(0, 9)
    const confirmed = await Promise.all(
      moving.map((id) => actor.send('POST', `/v1/bookings/${id}/confirm`, { body: {}, headers: key() })),
    )
    return { status: Math.max(...confirmed.map(({ status }) => status)) }
  }
  await expectShared(send, ['commitTransaction', 'update bookings', 'insert host_audit'])
})

// On a machine on which each command takes a fifth of a second, a longer one would outlast MongoDB's limit of 3 s.
test('no transaction that fills a sandbox has more than ten statements', async () => {
  const newcomer = await service.actor()
  const { statements, end } = listenToTransactions(service.live.db)
  const body = { email: 'ana@example.com', first_name: 'Ana' }
  const { status } = await newcomer.send('POST', '/sandbox/users', { body })
  end()
  const sizes = [...Map.groupBy(statements, ({ transaction }) => transaction).values()].map(
    ({ length }) => length,
  )
  expect({ status, transactions: sizes.length > 5, largest: Math.max(...sizes) <= 10 }).toEqual({
    status: 201,
    transactions: true,
    largest: true,
  })
})
