import { beforeAll, expect, inject, test } from 'vitest'
import { prepareWrite } from '../../../../src/http/write.ts'
import { sentRates } from '../../../../src/inventory/listings/rates/rates-write.ts'
import { inTransaction } from '../../../../src/platform/mongo/turns/transactions.ts'
import { jobModel } from '../../../../src/platform/outbox/outbox.ts'
import { partnerctlHere as partnerctl } from '../../../support/admin.ts'
import { type Actor, testApp } from '../../../support/app.ts'
import { ownDatabase } from '../../../support/databases.ts'

const service = await testApp()
const path = '/v1/integrations/provider_one/rates'
let actor: Actor
let listing_id: number
let room_type_id: number

async function listingOf(owner: Actor) {
  const { body } = await owner.send('POST', '/v1/listings', {
    body: {
      name: 'L',
      prices: { currency: 'eur' },
      room_types: [{ name: 'T', prices: { base_price: 1, price_jan: 2, price_feb: 3 } }],
    },
  })
  const read = await owner.send('GET', `/v1/listings/${body.data.id}`)
  return { listing_id: body.data.id as number, room_type_id: read.body.data.room_types[0].id as number }
}

beforeAll(async () => {
  actor = await service.actor()
  ;({ listing_id, room_type_id } = await listingOf(actor))
})

const write = (items: object[], by = actor) => by.send('POST', path, { body: { data: items } })
const item = (more: object = {}) => ({ listing_id, room_type_id, base_price: 10, ...more })
const prices = async (by = actor, id = listing_id) =>
  (await by.send('GET', `/v1/listings/${id}`)).body.data.room_types[0].prices

test('POST rates is applied immediately, setting the sent months, clearing nulls and keeping the others', async () => {
  const response = await write([item({ base_price: 12.5, price_jan: null, price_mar: 20, currency: 'EUR' })])
  expect({ status: response.status, message: response.body.data.message }).toEqual({
    status: 200,
    message: expect.stringContaining('accepted for background processing'),
  })
  expect(await prices()).toMatchObject({ base_price: 12.5, price_jan: null, price_feb: 3, price_mar: 20 })
})

test('a booking and a PATCH after accepted rates use the new prices', async () => {
  const owner = await service.actor()
  const own = await listingOf(owner)
  const user = await owner.send('POST', '/v1/users', {
    body: { email: 'u@example.com', first_name: 'A', last_name: 'B' },
  })
  await write([{ ...own, base_price: 300 }], owner)
  const body = {
    user_id: user.body.data.user_id,
    listing_id: own.listing_id,
    checkin_at: '2027-04-01',
    checkout_at: '2027-05-01',
  }
  expect((await owner.send('POST', '/v1/bookings', { body })).body.data.price).toBe(300)
  await write([{ ...own, base_price: 400, price_jan: 5 }], owner)
  await owner.send('PATCH', `/v1/listings/${own.listing_id}`, {
    body: { room_types: [{ id: own.room_type_id, prices: { base_price: 500 } }] },
  })
  expect(await prices(owner, own.listing_id)).toMatchObject({ base_price: 500, price_jan: 5 })
})

test.each([
  [{ base_price: undefined }, 'base_price', 'required'],
  [{ base_price: -0.01 }, 'base_price', 'invalid'],
  [{ base_price: '10' }, 'base_price', 'invalid'],
  [{ price_jan: -1 }, 'price_jan', 'min'],
  [{ price_dec: 'x' }, 'price_dec', 'invalid'],
  [{ currency: 'EURO' }, 'currency', 'invalid'],
  [{ currency: 'usd' }, 'currency', 'invalid'],
  [{ currency: 5 }, 'currency', 'invalid'],
])(
  'POST rates with %j in its second item responds 422 at data.1.%s, %s, and accepts no item',
  async (change, field, code) => {
    const before = await prices()
    const response = await write([item({ base_price: 99 }), item(change)])
    expect(response.status).toBe(422)
    expect(response.body.error.errors).toMatchObject([{ path: `data.1.${field}`, code }])
    expect(await prices()).toEqual(before)
  },
)

test("POST rates responds 403 without problems for other hosts' listings, and 400 for their room types", async () => {
  const foreign = await listingOf(await service.actor())
  for (const id of [foreign.listing_id, 999_999_999]) {
    const response = await write([item({ listing_id: id })])
    expect({
      status: response.status,
      type: response.body.error.type,
      errors: response.body.error.errors,
    }).toEqual({ status: 403, type: 'forbidden', errors: [] })
  }
  const response = await write([item(), item({ room_type_id: foreign.room_type_id })])
  expect({ status: response.status, error: response.body.error }).toMatchObject({
    status: 400,
    error: { type: 'validation_error', errors: [{ path: 'data.1.room_type_id', code: 'invalid' }] },
  })
  expect((await write(Array.from({ length: 1001 }, () => item()))).body.error.errors).toMatchObject([
    { path: 'data', code: 'max' },
  ])
})

test('POST rates names each wrong pair of listing and room type once, at the first item that has it', async () => {
  const many = Array.from({ length: 150 }, () => item({ room_type_id: 999_999_999 }))
  const { status, body } = await write([item(), ...many, item({ room_type_id: 999_999_998 })])
  const paths = body.error.errors.map((problem: { path: string }) => problem.path)
  expect({ status, paths }).toEqual({ status: 400, paths: ['data.1.room_type_id', 'data.151.room_type_id'] })
})

test('rates of a listing without a currency must be in the default currency, and the refusal says so', async () => {
  const room_types = [{ name: 'T', prices: { base_price: 1 } }]
  const { body } = await actor.send('POST', '/v1/listings', { body: { name: 'L', room_types } })
  const own = { listing_id: body.data.id, room_type_id: body.data.room_types[0].id, base_price: 2 }
  const accepted = await write([{ ...own, currency: 'eur' }])
  const refused = await write([{ ...own, currency: 'usd' }])
  const message = '"data.0.currency" must be the default currency, EUR, because the listing has none'
  expect({ accepted: accepted.status, refused: refused.status, errors: refused.body.error.errors }).toEqual({
    accepted: 200,
    refused: 422,
    errors: [{ path: 'data.0.currency', code: 'invalid', message }],
  })
  const stated = await write([item({ currency: 'usd' })])
  expect(stated.body.error.errors[0].message).toBe(
    '"data.0.currency" must be the currency of the listing, EUR',
  )
})

test('rates are checked against a currency that changes while they wait for their turn', async () => {
  const owner = await service.actor()
  const { db } = service.live
  const own = await listingOf(owner)
  const prepare = (items: { base_price: number; currency?: string }[]) =>
    prepareWrite(
      service.live,
      sentRates,
      owner.hostId,
      items.map((prices) => ({ ...own, ...prices })),
    )
  const ofEuros = await prepare([{ base_price: 70, currency: 'EUR' }])
  const ofAny = await prepare([{ base_price: 80 }])
  const body = { prices: { currency: 'usd' } }
  expect((await owner.send('PATCH', `/v1/listings/${own.listing_id}`, { body })).status).toBe(200)
  const refused = inTransaction(db, ofEuros.queue, ofEuros.write)
  await expect(refused).rejects.toMatchObject({ kind: 'validation', problems: [{ path: 'data.0.currency' }] })
  expect(await prices(owner, own.listing_id)).toMatchObject({ base_price: 1 })
  await inTransaction(db, ofAny.queue, ofAny.write)
  expect(await prices(owner, own.listing_id)).toMatchObject({ base_price: 80 })
})

test('if two items name one room type, the later one wins month by month, and other room types keep their prices', async () => {
  const owner = await service.actor()
  const room_types = [
    { name: 'One', prices: { base_price: 1, price_jan: 2 } },
    { name: 'Two', prices: { base_price: 1 } },
  ]
  const { body } = await owner.send('POST', '/v1/listings', { body: { name: 'L', room_types } })
  const read = async () => (await owner.send('GET', `/v1/listings/${body.data.id}`)).body.data
  const [one] = (await read()).room_types
  const own = { listing_id: body.data.id, room_type_id: one.id }
  await write(
    [
      { ...own, base_price: 5, price_feb: 6 },
      { ...own, base_price: 7, price_jan: null },
    ],
    owner,
  )
  const after = await read()
  expect(after.room_types.map(({ prices }: { prices: object }) => prices)).toMatchObject([
    { base_price: 7, price_jan: null, price_feb: 6 },
    { base_price: 1, price_jan: null },
  ])
})

test('POST rates changes updated_at only of the listings it names', async () => {
  const owner = await service.actor()
  const moved = await listingOf(owner)
  const other = await listingOf(owner)
  const changedAt = async (id: number) => (await owner.send('GET', `/v1/listings/${id}`)).body.data.updated_at
  const movedBefore = await changedAt(moved.listing_id)
  const otherBefore = await changedAt(other.listing_id)
  // Listings show whole seconds, so the write must happen in a later second.
  const second = () => Math.floor(service.live.clock().getTime() / 1000)
  for (const start = second(); second() === start; ) await Bun.sleep(20)
  await write([{ ...moved, base_price: 8 }], owner)
  expect(Date.parse(await changedAt(moved.listing_id))).toBeGreaterThan(Date.parse(movedBefore))
  expect(await changedAt(other.listing_id)).toBe(otherBefore)
})

test('a reader sees consistent prices and currency during concurrent writes', async () => {
  const owner = await service.actor()
  const own = await listingOf(owner)
  const pathOf = `/v1/listings/${own.listing_id}`
  const rates = [
    ['HUF', 40_000],
    ['EUR', 100],
  ] as const
  let isWriting = true
  const writing = (async () => {
    for (let turn = 0; turn < 20; turn += 1) {
      const [currency, base_price] = rates[turn % 2] ?? rates[0]
      await owner.send('PATCH', pathOf, {
        body: { prices: { currency }, room_types: [{ id: own.room_type_id, prices: { base_price } }] },
      })
    }
    isWriting = false
  })()
  const seen = new Set<string>()
  while (isWriting) {
    const { data } = (await owner.send('GET', pathOf)).body
    seen.add(`${data.prices.currency} ${data.room_types[0].prices.base_price}`)
  }
  await writing
  expect([...seen].filter((pair) => !['HUF 40000', 'EUR 100', 'EUR 1', 'eur 1'].includes(pair))).toEqual([])
  expect(seen.size).toBeGreaterThan(1)
})

test('a parked job appears in /metrics and in partnerctl jobs list, and partnerctl jobs retry runs it', async () => {
  const token = 'a-token-of-the-operator'
  const url = await ownDatabase()
  const apart = await testApp({ MONGODB_URL: url, METRICS_TOKEN: token })
  await apart.live.outbox.stop()
  const now = new Date()
  await jobModel(apart.live.db).create({
    topic: 'CompactAvailability',
    owner_id: 1,
    payload: { owner_id: 1, room_type_ids: [] },
    attempts: 10,
    parked: true,
    due_at: now,
    created_at: now,
    last_error: 'Error: no',
  })
  const scrape = async (authorization: string) =>
    (await apart.send('GET', '/metrics', { headers: { authorization } })).text
  expect(await scrape(`Bearer ${token}`)).toContain('outbox_jobs{state="parked"} 1')
  expect(await scrape('Bearer wrong')).not.toContain('outbox_jobs')
  const environment = { MONGODB_URL: url }
  const [job] = JSON.parse((await partnerctl(['jobs', 'list', '--json'], environment)).stdout)
  expect(job).toMatchObject({
    topic: 'CompactAvailability',
    state: 'parked',
    attempts: 10,
    last_error: 'Error: no',
  })
  const retried = await partnerctl(['jobs', 'retry', job.id, '--json'], environment)
  expect(JSON.parse(retried.stdout)).toMatchObject({ id: job.id, state: 'pending', attempts: 0 })
  expect((await partnerctl(['jobs', 'retry', job.id], environment)).code).toBe(1)
  apart.live.outbox.start()
  while (await jobModel(apart.live.db).exists({})) await Bun.sleep(20)
  expect(inject('mongodbUrl')).not.toBe(url)
})
