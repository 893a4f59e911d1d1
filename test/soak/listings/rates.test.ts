import { connect, createServer, type Socket } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { listingModel } from '../../../src/inventory/listings/model.ts'
import { sender, testApp, testEnvironment } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { fillListings, stay, userOf } from '../../support/large-listings.ts'
import { startService } from '../../support/processes.ts'
import { controlOf } from '../../support/soak.ts'

const url = await ownDatabase()
const service = await testApp({ MONGODB_URL: url })
const { db } = service.live
const path = '/v1/integrations/provider_one/rates'

/** Starts a proxy for the database that delays all data by a millisecond. */
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

const slow = await slowDatabase()
const process = await startService({ ...testEnvironment(), MONGODB_URL: slow.url })
const send = sender(fetch, process.url)
afterAll(async () => {
  await process.stop()
  slow.close()
})

test('POST rates of 1,000 listings of 20 kB sets the price of the next booking and delays no other host', async () => {
  const actor = await service.actor()
  const other = await service.actor()
  const calm = await service.actor()
  const units = await fillListings(service, actor, 1000)
  const [theirs] = await fillListings(service, other, 1)
  const user_id = await userOf(actor)
  const rates = (price: number) => ({ data: units.map((unit) => ({ ...unit, base_price: price })) })
  expect((await send('POST', path, { key: actor.key, body: rates(300) })).status).toBe(200)
  const [calmUnit] = await fillListings(service, calm, 1)
  const calmUser = await userOf(calm)
  const control = await controlOf(() =>
    send('POST', '/v1/bookings', { key: calm.key, body: { ...calmUnit, user_id: calmUser, ...stay } }),
  )
  const start = performance.now()
  const body = { ...units[999], user_id, ...stay }
  const booking = await send('POST', '/v1/bookings', { key: actor.key, body })
  expect({ status: booking.status, price: booking.body.data.price }).toEqual({ status: 201, price: 300 })
  expect((performance.now() - start) / control).toBeLessThan(50)
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
  const listings = await listingModel(db).find({ owner_id: actor.hostId }, { prices: 1 }).lean()
  const prices = listings.flatMap((listing) => Object.values(listing.prices ?? {}))
  expect(prices.filter(({ base_price }) => base_price === 300)).toHaveLength(1000)
})

test('twenty POSTs of rates a second for five seconds fail no booking', async () => {
  const actor = await service.actor()
  const units = await fillListings(service, actor, 50)
  const user_id = await userOf(actor)
  const statuses: number[] = []
  /** Repeats a request that the service could not serve in time. */
  const asPartner = async (to: string, body: object) => {
    for (;;) {
      const response = await send('POST', to, { key: actor.key, body })
      if (!response.headers.has('retry-after')) return response
      await Bun.sleep(Number(response.headers.get('retry-after')) * 1000)
    }
  }
  let price = 0
  const writing: Promise<number>[] = []
  const until = Date.now() + 5000
  const bookings = (async () => {
    while (Date.now() < until) {
      const body = { ...units[0], user_id, ...stay }
      statuses.push((await asPartner('/v1/bookings', body)).status)
    }
  })()
  while (Date.now() < until) {
    price += 1
    const data = units.map((unit) => ({ ...unit, base_price: price }))
    writing.push(asPartner(path, { data }).then(({ status }) => status))
    await Bun.sleep(50)
  }
  await bookings
  expect(writing.length).toBeGreaterThan(0)
  expect(new Set(await Promise.all(writing))).toEqual(new Set([200]))
  expect(statuses.length).toBeGreaterThan(0)
  expect(new Set(statuses)).toEqual(new Set([201]))
})
