import { connect, createServer, type Socket } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { indexFieldsOf, listingModel } from '../../src/listings/model.ts'
import { waitingRatesModel } from '../../src/listings/waiting-rates-model.ts'
import { jobModel } from '../../src/platform/outbox/outbox.ts'
import { type Actor, mongodbUrlOf, sender, testApp, testEnvironment } from '../support/app.ts'
import { readFixture } from '../support/fixtures.ts'
import { startService } from '../support/processes.ts'

const url = mongodbUrlOf(`backlog_${crypto.randomUUID().slice(0, 8)}`)
const service = await testApp({ MONGODB_URL: url })
const { db } = service.live
const path = '/v1/integrations/provider_one/rates'

/** A proxy of the database that delays all data by a millisecond. */
async function slowDatabase(): Promise<{ url: string; close(): void }> {
  const { hostname, port } = new URL(url.replace('mongodb:', 'http:'))
  const sockets = new Set<Socket>()
  const late = (from: Socket, to: Socket) =>
    from.on('data', (data) => setTimeout(() => !to.destroyed && to.write(data), 1))
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one)
      late(one, other)
      one.on('close', () => other.destroy())
      one.on('error', () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port: own } = server.address() as { port: number }
  const near = url.replace(`:${port}`, `:${own}`).replace(/\?.*/, '?directConnection=true')
  return {
    url: near,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Listings of about 20 kB with one room type each, written straight into the database. */
async function fillListings(
  actor: Actor,
  count: number,
): Promise<{ listing_id: number; room_type_id: number }[]> {
  const firstId = await service.live.ids('listing', count)
  const firstRoomType = await service.live.ids('room_type', count)
  const at = service.live.clock()
  const listings = Array.from({ length: count }, (_, index) => {
    const roomType = {
      id: firstRoomType + index,
      partner_id: null,
      name: 'R',
      rooms: [],
      prices: { base_price: 1 },
    }
    const content = {
      name: `L${index}`,
      descriptions: { property: 'x'.repeat(20_000) },
      room_types: [roomType],
    }
    return {
      ...{ id: firstId + index, host_id: actor.hostId, unique_id: `lst_${firstId + index}`, content },
      ...{
        listing_status: 'draft',
        status_rank: 0,
        ...indexFieldsOf(content),
        created_at: at,
        updated_at: at,
      },
    }
  })
  for (let start = 0; start < count; start += 200)
    await listingModel(db).collection.insertMany(listings.slice(start, start + 200) as never[])
  return listings.map(({ id, content }) => ({
    listing_id: id,
    room_type_id: content.room_types[0]?.id as number,
  }))
}

const slow = await slowDatabase()
const process = await startService({ ...testEnvironment(), MONGODB_URL: slow.url })
const send = sender(fetch, process.url)
afterAll(async () => {
  await process.stop()
  slow.close()
})

const userOf = async (actor: Actor) =>
  (await actor.send('POST', '/v1/users', { body: await readFixture('users/maria') })).body.data
    .user_id as number
const stay = { checkin_at: '2031-04-01', checkout_at: '2031-05-01' }

test('POST rates of 1,000 listings of 20 kB sets the price of the next booking and delays no other host', async () => {
  const [actor, other] = [await service.actor(), await service.actor()]
  const units = await fillListings(actor, 1000)
  const [theirs] = await fillListings(other, 1)
  const user_id = await userOf(actor)
  const rates = (price: number) => ({ data: units.map((unit) => ({ ...unit, base_price: price })) })
  expect((await send('POST', path, { key: actor.key, body: rates(300) })).status).toBe(200)
  const start = Date.now()
  const body = { ...units[999], user_id, ...stay }
  const booking = await send('POST', '/v1/bookings', { key: actor.key, body })
  expect([booking.status, booking.body.data.price]).toEqual([201, 300])
  expect(Date.now() - start).toBeLessThan(5000)
  const response = await send('POST', path, {
    key: other.key,
    body: { data: [{ ...theirs, base_price: 7 }] },
  })
  expect(response.status).toBe(200)
  const seen = await send('GET', `/v1/listings/${theirs?.listing_id}`, { key: other.key })
  expect(seen.body.data.room_types[0].prices.base_price).toBe(7)
  const renamed = await send('PATCH', `/v1/listings/${units[0]?.listing_id}`, {
    key: actor.key,
    body: { name: 'N' },
  })
  expect(renamed.status).toBe(200)
  while (await waitingRatesModel(db).exists({})) await Bun.sleep(50)
  expect(await jobModel(db).countDocuments({ parked: true })).toBe(0)
  const stored = await listingModel(db).countDocuments({
    host_id: actor.hostId,
    'content.room_types.0.prices.base_price': 300,
  })
  expect(stored).toBe(1000)
})

test('twenty POSTs of rates a second for five seconds fail no booking and park no job', {
  timeout: 90_000,
}, async () => {
  const actor = await service.actor()
  const units = await fillListings(actor, 50)
  const user_id = await userOf(actor)
  const statuses: number[] = []
  let price = 0
  const writing: Promise<number>[] = []
  const until = Date.now() + 5000
  const bookings = (async () => {
    while (Date.now() < until) {
      const body = { ...units[0], user_id, ...stay }
      statuses.push((await send('POST', '/v1/bookings', { key: actor.key, body })).status)
    }
  })()
  while (Date.now() < until) {
    price += 1
    const data = units.map((unit) => ({ ...unit, base_price: price }))
    writing.push(send('POST', path, { key: actor.key, body: { data } }).then(({ status }) => status))
    await Bun.sleep(50)
  }
  await bookings
  expect(writing.length).toBeGreaterThan(0)
  expect(new Set(await Promise.all(writing))).toEqual(new Set([200]))
  expect(statuses.length).toBeGreaterThan(0)
  expect(new Set(statuses)).toEqual(new Set([201]))
  while (await waitingRatesModel(db).exists({})) await Bun.sleep(50)
  expect(await jobModel(db).countDocuments({ parked: true })).toBe(0)
})

test('a listing that cannot be written delays no other, and its waiting rates still set the price of a booking', async () => {
  const actor = await service.actor()
  const [sick, well] = await fillListings(actor, 2)
  // Prices that are not an object make every write into them fail.
  const broken = { $set: { 'content.room_types.0.prices': 'broken' } }
  await listingModel(db).collection.updateOne({ id: sick?.listing_id as number }, broken)
  const data = [sick, well].map((unit) => ({ ...unit, base_price: 9 }))
  expect((await actor.send('POST', path, { body: { data } })).status).toBe(200)
  const waiting = () => waitingRatesModel(db).find({ host_id: actor.hostId }).lean()
  while ((await waiting()).length > 1) await Bun.sleep(20)
  expect((await waiting()).map(({ listing_id }) => listing_id)).toEqual([sick?.listing_id])
  while (!(await jobModel(db).exists({ last_error: /Listing/ }))) await Bun.sleep(20)
  const user_id = await userOf(actor)
  const booking = await actor.send('POST', '/v1/bookings', { body: { ...sick, user_id, ...stay } })
  expect([booking.status, booking.body.data.price]).toEqual([201, 9])
})

test('rates accepted by an earlier version are applied before newer ones', async () => {
  const actor = await service.actor()
  const [unit] = await fillListings(actor, 1)
  const item = (more: object) => ({ ...unit, currency: 'EUR', ...more })
  const earlier = (sequence: number, ...items: object[]) => ({
    ...{ host_id: actor.hostId, sequence, accepted_at: new Date() },
    items,
  })
  await db
    .collection('accepted_rates')
    .insertMany([earlier(7, item({ base_price: 1, price_jan: 5 })), earlier(8, item({ base_price: 2 }))])
  const job = { topic: 'ApplyRates', host_id: actor.hostId, payload: { host_id: actor.hostId } }
  expect((await actor.send('POST', path, { body: { data: [{ ...unit, base_price: 3 }] } })).status).toBe(200)
  const now = new Date()
  await jobModel(db).create({ ...job, due_at: now, created_at: now })
  while (await db.collection('accepted_rates').findOne({ host_id: actor.hostId })) await Bun.sleep(20)
  while (await waitingRatesModel(db).exists({ host_id: actor.hostId })) await Bun.sleep(20)
  const { body } = await actor.send('GET', `/v1/listings/${unit?.listing_id}`)
  expect(body.data.room_types[0].prices).toMatchObject({ base_price: 3 })
})
