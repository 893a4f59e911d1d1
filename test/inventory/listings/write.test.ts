import { expect, test } from 'vitest'
import { prepareWrite } from '../../../src/http/write.ts'
import { sentListings } from '../../../src/inventory/listings/listing-write.ts'
import { bytesOf } from '../../../src/inventory/listings/merge.ts'
import { listingModel } from '../../../src/inventory/listings/model.ts'
import { pushPrices } from '../../../src/inventory/listings/prices-store.ts'
import {
  changeFields,
  findListing,
  replaceContent,
  setListingStatus,
} from '../../../src/inventory/listings/store.ts'
import { inTransaction } from '../../../src/platform/mongo/turns/transactions.ts'
import { type Actor, sender, sharedServices, testApp, testEnvironment } from '../../support/app.ts'
import { readFixture } from '../../support/fixtures.ts'
import { fillListings } from '../../support/large-listings.ts'

const service = await testApp()

async function create(actor: Actor, body: object) {
  const response = await actor.send('POST', '/v1/listings', { body })
  return { ...response, id: response.body.data?.id as number }
}

const read = async (actor: Actor, id: number) => (await actor.send('GET', `/v1/listings/${id}`)).body.data

function withoutTimes({ updated_at: _, ...listing }: Record<string, unknown>) {
  return listing
}

test('POST /v1/listings updates the listing that matches by original_id or original_url and responds 200', async () => {
  const actor = await service.actor()
  const first = await create(actor, {
    name: 'One',
    original_id: 'x',
    original_url: 'https://a.example/1',
    parking: 'yard',
  })
  const byId = await create(actor, { name: 'Two', original_id: 'x' })
  expect(first.status).toBe(201)
  expect({ status: byId.status, action: byId.body.action, id: byId.id }).toEqual({
    status: 200,
    action: 'updated',
    id: first.id,
  })
  const byUrl = await create(actor, { name: 'Three', original_url: 'https://a.example/1' })
  expect({ status: byUrl.status, id: byUrl.id }).toEqual({ status: 200, id: first.id })
  expect(await read(actor, first.id)).toMatchObject({ name: 'Three', original_id: 'x', parking: 'yard' })
  const other = await create(actor, { name: 'Four', original_id: 'y', original_url: 'https://a.example/1' })
  expect({ status: other.status, isFirst: other.id === first.id }).toEqual({ status: 201, isFirst: false })
})

test('POST /v1/listings recognizes an original_url in every spelling, and an original_id only as it was sent', async () => {
  const actor = await service.actor()
  const first = await create(actor, {
    name: 'One',
    original_id: 'Ä1',
    original_url: 'https://Bücher.example/room?1',
  })
  for (const original_url of [
    'https://xn--bcher-kva.example/room?1',
    'HTTPS://BU\u0308CHER.example:443/room?1',
    'https://bücher。example/room?1',
  ]) {
    const { status, id } = await create(actor, { name: 'Again', original_url })
    expect({ original_url, status, id }).toEqual({ original_url, status: 200, id: first.id })
  }
  expect(await read(actor, first.id)).toMatchObject({ original_url: 'https://bücher。example/room?1' })
  for (const original_id of ['A\u03081', 'ä1', ' Ä1'])
    expect({ original_id, status: (await create(actor, { name: 'Other', original_id })).status }).toEqual({
      original_id,
      status: 201,
    })
})

test('the oldest of several listings with one original_url is the one that matches', async () => {
  const actor = await service.actor()
  const original_url = 'https://a.example/several'
  const listings: number[] = []
  for (const original_id of ['c', 'b', 'a'])
    listings.push((await create(actor, { name: original_id, original_id, original_url })).id)
  // The last write is the newest, which does not make its listing the one that matches.
  await actor.send('PATCH', `/v1/listings/${listings[2]}`, { body: { original_url } })
  const { status, id } = await create(actor, { name: 'Again', original_url })
  expect({ status, id }).toEqual({ status: 200, id: listings[0] })
})

test('the names of a listing, its room types and its rooms are trimmed, and their ids are not', async () => {
  const actor = await service.actor()
  const { id } = await create(actor, {
    name: ` ${'x'.repeat(255)}\t`,
    original_id: ' own ',
    room_types: [{ id: ' type ', name: ' Single ', rooms: [{ id: ' room ', name: '\u3000One\n' }] }],
  })
  expect(await read(actor, id)).toMatchObject({
    name: 'x'.repeat(255),
    original_id: ' own ',
    room_types: [{ original_id: ' type ', name: 'Single', rooms: [{ original_id: ' room ', name: 'One' }] }],
  })
  const patched = await actor.send('PATCH', `/v1/listings/${id}`, { body: { name: ' Two ' } })
  expect({ status: patched.status, name: (await read(actor, id)).name }).toEqual({ status: 200, name: 'Two' })
})

test('POST /v1/listings never matches a listing of another host', async () => {
  const one = await service.actor()
  const two = await service.actor()
  const first = await create(one, { name: 'Mine', original_id: 'same' })
  const second = await create(two, { name: 'Yours', original_id: 'same' })
  expect(second.body.action).toBe('created')
  expect(await read(one, first.id)).toMatchObject({ name: 'Mine' })
})

test('repeating the POST of a listing or sending a PATCH with the values read changes nothing', async () => {
  const actor = await service.actor()
  const sent = await readFixture('listings/warsaw-tower')
  const { id } = await create(actor, sent)
  const before = await read(actor, id)
  expect((await create(actor, sent)).body.action).toBe('updated')
  expect(withoutTimes(await read(actor, id))).toEqual(withoutTimes(before))
  const patched = await actor.send('PATCH', `/v1/listings/${id}`, { body: before })
  expect({ status: patched.status, action: patched.body.action }).toEqual({ status: 200, action: 'updated' })
  expect(withoutTimes(await read(actor, id))).toEqual(withoutTimes(before))
})

test('POST /v1/listings responds 409 with the six problems of the contract if the matching listing is inactive', async () => {
  const actor = await service.actor()
  const { id } = await create(actor, { name: 'Old', original_url: 'https://a.example/old' })
  await listingModel(service.live.db).updateOne({ id }, { listing_status: 'inactive' })
  const refused = await create(actor, { name: 'New', original_url: 'https://a.example/old' })
  expect(refused.status).toBe(409)
  expect(refused.body.error).toMatchObject({
    type: 'conflict_error',
    errors: [
      { path: 'action', code: 'conflict', message: 'skipped' },
      { path: 'listing_id', code: 'conflict', message: String(id) },
      { path: 'match.matched', code: 'conflict', message: 'true' },
      { path: 'match.method', code: 'conflict', message: 'original_url' },
      { path: 'match.confidence.level', code: 'conflict', message: 'high' },
      { path: 'match.confidence.score', code: 'conflict', message: '0.95' },
    ],
  })
  expect(await read(actor, id)).toMatchObject({ name: 'Old' })
})

test('a POST undoes nothing that was written while it waited for its turn', async () => {
  const actor = await service.actor()
  const { db } = service.live
  const prices = { base_price: 100, price_jan: 1, price_feb: 2 }
  const room_types = [{ id: 'a', name: 'A', prices }]
  const { id } = await create(actor, {
    name: 'One',
    original_id: 'x',
    prices: { currency: 'EUR' },
    room_types,
  })
  const [{ id: room_type_id }] = (await read(actor, id)).room_types
  const prepare = (sent: object) =>
    prepareWrite(service.live, sentListings, actor.hostId, { original_id: 'x', name: 'Two', ...sent })
  const pushRates = (more: object) =>
    actor.send('POST', '/v1/integrations/provider_one/rates', {
      body: { data: [{ listing_id: id, room_type_id, ...more }] },
    })

  const ofName = await prepare({})
  await actor.send('PATCH', `/v1/listings/${id}`, { body: { parking: 'yard' } })
  await inTransaction(db, ofName.queue, ofName.write)
  expect(await read(actor, id)).toMatchObject({ name: 'Two', parking: 'yard' })

  const ofPrices = await prepare({ room_types: [{ id: 'a', prices: { price_jan: 5 } }] })
  expect((await pushRates({ base_price: 200, price_feb: 7 })).status).toBe(200)
  await inTransaction(db, ofPrices.queue, ofPrices.write)
  const [after] = (await read(actor, id)).room_types
  expect(after.prices).toMatchObject({ base_price: 200, price_jan: 5, price_feb: 7 })

  const ofInactive = await prepare({ parking: 'none' })
  await setListingStatus(service.live, { id, owner_id: actor.hostId }, 'inactive')
  const refused = inTransaction(db, ofInactive.queue, ofInactive.write)
  await expect(refused).rejects.toMatchObject({ kind: 'listing_conflict' })
  expect(await read(actor, id)).toMatchObject({ parking: 'yard' })
})

test("PATCH to another listing's original_id responds 409 and changes nothing", async () => {
  const actor = await service.actor()
  await create(actor, { name: 'A', original_id: 'taken' })
  const { id } = await create(actor, { name: 'B', original_id: 'own' })
  const refused = await actor.send('PATCH', `/v1/listings/${id}`, {
    body: { name: 'C', original_id: 'taken' },
  })
  expect(refused.status).toBe(409)
  expect(refused.body.error).toMatchObject({
    type: 'conflict_error',
    errors: [{ path: 'original_id', code: 'conflict' }],
  })
  expect(await read(actor, id)).toMatchObject({ name: 'B', original_id: 'own' })
})

const longName = 'n'.repeat(256)

test.each([
  [{ name: null }, 'name', 'invalid'],
  [{ name: '' }, 'name', 'required'],
  [{ name: 5 }, 'name', 'invalid'],
  [{ name: longName }, 'name', 'max'],
  [{ location: null }, 'location', 'invalid'],
  [{ location: [] }, 'location', 'invalid'],
  [{ location: { lat: 91 } }, 'location.lat', 'max'],
  [{ location: { lat: '41' } }, 'location.lat', 'invalid'],
  [{ amenities: null }, 'amenities', 'invalid'],
  [{ amenities: [{ id: 1 }, { id: 'x' }] }, 'amenities.1.id', 'invalid'],
  [{ amenities: [{}] }, 'amenities.0.id', 'required'],
  [{ room_types: null }, 'room_types', 'invalid'],
  [{ room_types: [null] }, 'room_types.0', 'required'],
  [{ room_types: [{ rooms: null }] }, 'room_types.0.rooms', 'invalid'],
  [{ room_types: [{ rooms: [{ name: '' }] }] }, 'room_types.0.rooms.0.name', 'required'],
  [{ room_types: [{ id: 999_999_999, name: 'x' }] }, 'room_types.0.id', 'invalid'],
  [{ room_types: [{ id: '999999999', name: 'x' }] }, 'room_types.0.id', 'invalid'],
  [{ room_types: [{ prices: { base_price: -1 } }] }, 'room_types.0.prices.base_price', 'invalid'],
  [{ room_types: [{ prices: { price_feb: -1 } }] }, 'room_types.0.prices.price_feb', 'min'],
  [{ room_types: [{ prices: { discount_90: 101 } }] }, 'room_types.0.prices.discount_90', 'max'],
  [{ room_types: [{ available_at: '2026-02-30' }] }, 'room_types.0.available_at', 'invalid'],
  [{ room_types: Array.from({ length: 501 }, () => ({})) }, 'room_types', 'max'],
  [{ original_url: 'javascript:alert(1)' }, 'original_url', 'invalid'],
  [{ original_url: `https://a.example/${'x'.repeat(2048)}` }, 'original_url', 'max'],
  [{ property_size_unit: 'u'.repeat(65) }, 'property_size_unit', 'max'],
  [{ descriptions: { property: 'd'.repeat(10_001) } }, 'descriptions.property', 'max'],
  [{ descriptions: { property: 'a\u0000' } }, 'descriptions.property', 'invalid'],
  [{ prices: { currency: 'EURO' } }, 'prices.currency', 'invalid'],
  [{ prices: { currency: 'uſd' } }, 'prices.currency', 'invalid'],
  [{ prices: { extra_fees: [{ mandatory: 2 }] } }, 'prices.extra_fees.0.mandatory', 'max'],
  [{ bedrooms: 1.5 }, 'bedrooms', 'invalid'],
  [{ bedrooms: -1 }, 'bedrooms', 'min'],
  [{ instructions: { check_in_earliest: '24:00' } }, 'instructions.check_in_earliest', 'invalid'],
  [{ media: { photos: { property: [{ url: 5 }] } } }, 'media.photos.property.0.url', 'invalid'],
])('PATCH with %j responds 422 at %s, %s, and changes nothing', async (body, path, code) => {
  const actor = await service.actor()
  const { id } = await create(actor, {
    name: 'Kept',
    original_id: 'kept',
    bedrooms: 2,
    room_types: [{ id: 'a', name: 'A' }],
  })
  const before = await read(actor, id)
  const response = await actor.send('PATCH', `/v1/listings/${id}`, { body })
  expect(response.status).toBe(422)
  expect(response.body.error.errors).toMatchObject([{ path, code }])
  expect(await read(actor, id)).toEqual(before)
})

test.each([undefined, null, '', '  '])(
  'POST /v1/listings with the name %j responds 422 required, even if it matches a listing',
  async (name) => {
    const actor = await service.actor()
    await create(actor, { name: 'There', original_id: 'x' })
    const { status, body } = await create(actor, { name, original_id: 'x' })
    expect({ status, errors: body.error.errors }).toMatchObject({
      status: 422,
      errors: [{ path: 'name', code: 'required' }],
    })
  },
)

test('PATCH of a name and an empty list of room types keeps the room types', async () => {
  const actor = await service.actor()
  const { id } = await create(actor, { name: 'One', room_types: [{ name: 'A' }] })
  const { status, body } = await actor.send('PATCH', `/v1/listings/${id}`, {
    body: { name: 'Two', parking: null, room_types: [] },
  })
  expect({ status, roomTypes: body.data.room_types.length }).toEqual({ status: 200, roomTypes: 1 })
  expect(await read(actor, id)).toMatchObject({ name: 'Two', room_types: [{ name: 'A' }] })
})

test('a PATCH is refused if the listing would be larger than 1 MiB, whatever was written before', async () => {
  const actor = await service.actor()
  const { id } = await create(actor, {
    name: 'One',
    room_types: [{ name: 'A' }],
    prices: { currency: 'EUR' },
  })
  const [{ id: room_type_id }] = (await read(actor, id)).room_types
  const patch = (body: object) => actor.send('PATCH', `/v1/listings/${id}`, { body })
  const bytes = async () => {
    const stored = await listingModel(service.live.db).findOne({ owner_id: actor.hostId, id }).lean()
    return Buffer.byteLength(JSON.stringify(stored?.content))
  }
  const answers = (last: number) => [...Array(104).fill(10_000), last]
  const fill = (last: number) =>
    patch({ faq: answers(last).map((length) => ({ question: '?', answer: 'a'.repeat(length) })) })
  expect((await fill(1)).status).toBe(200)
  const left = 100
  expect((await fill(1024 * 1024 - left - (await bytes()) + 1)).status).toBe(200)
  expect(await bytes()).toBe(1024 * 1024 - left)
  const tooLarge = await patch({ name: 'n'.repeat('One'.length + left + 1) })
  expect({ status: tooLarge.status, errors: tooLarge.body.error.errors }).toMatchObject({
    status: 422,
    errors: [{ path: 'body', code: 'max' }],
  })
  for (let count = 0; count < 10; count += 1)
    expect((await patch({ name: `A name of 30 letters, number ${count}` })).status).toBe(200)
  const item = { listing_id: id, room_type_id, base_price: 1000.25, price_jan: 1000.25, price_feb: 1000.25 }
  const data = [{ ...item, price_mar: 1000.25, price_apr: 1000.25, price_may: 1000.25 }]
  await actor.send('POST', '/v1/integrations/provider_one/rates', { body: { data } })
  expect((await patch({ name: 'A' })).status).toBe(422)
})

test('PATCH with null clears every nullable scalar', async () => {
  const actor = await service.actor()
  const { id } = await create(actor, await readFixture('listings/barcelona-house'))
  const body = {
    original_id: null,
    property_size: null,
    location: { lat: null },
    prices: { currency: null },
    media: { '3d_tour': null },
  }
  expect((await actor.send('PATCH', `/v1/listings/${id}`, { body })).status).toBe(200)
  expect(await read(actor, id)).toMatchObject(body)
})

test("PATCH with another host's room type id responds 422", async () => {
  const one = await service.actor()
  const two = await service.actor()
  const foreign = await create(two, { name: 'F', room_types: [{ id: 'a', name: 'A' }] })
  const foreignId = (await read(two, foreign.id)).room_types[0].id
  const { id } = await create(one, { name: 'M' })
  const refused = await one.send('PATCH', `/v1/listings/${id}`, {
    body: { room_types: [{ id: foreignId, name: 'X' }] },
  })
  expect(refused.body.error.errors).toMatchObject([{ path: 'room_types.0.id', code: 'invalid' }])
})

test('concurrent writes over two processes create one listing from equal POSTs and keep PATCHes of different fields', async () => {
  const processes = sharedServices()
  const senders = processes.map(({ url }) => sender(fetch, url))
  const at = (index: number) => senders[index % 2] as ReturnType<typeof sender>
  for (const marks of [{ original_id: 'race' }, { original_url: 'https://a.example/race' }]) {
    const { key, hostId } = await service.actor()
    const body = {
      name: 'Race',
      ...marks,
      room_types: [{ id: 'a', name: 'A', rooms: [{ id: '1', name: 'R' }] }],
    }
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        at(index)('POST', '/v1/listings', { key, body, repeatWhileBusy: true }),
      ),
    )
    expect(responses.map(({ body: { action } }) => action).sort()).toEqual([
      'created',
      ...Array(19).fill('updated'),
    ])
    const stored = await listingModel(service.live.db).find({ owner_id: hostId }).lean()
    expect(stored.map(({ content }) => content.room_types.map(({ rooms }) => rooms.length))).toEqual([[1]])
  }
  const actor = await service.actor()
  const rooms = Array.from({ length: 10 }, (_, index) => ({ id: `r${index}`, name: 'old' }))
  const { id } = await create(actor, { name: 'Base', room_types: [{ id: 't', name: 'T', rooms }] })
  const [roomType] = (await read(actor, id)).room_types
  const fields = ['parking', 'bedrooms', 'bathrooms', 'residents', 'internet_upload'] as const
  const location = { address: 'a', zip: 'b', neighborhood: 'c', city: 'd', state: 'e', country: 'f' }
  const patches = [
    ...fields.map((field) => ({ [field]: field === 'parking' ? 'yard' : 7 })),
    ...Object.entries(location).map(([field, value]) => ({ location: { [field]: value } })),
    ...roomType.rooms.map((room: { id: number }) => ({
      room_types: [{ id: roomType.id, rooms: [{ id: room.id, name: 'new' }] }],
    })),
  ]
  const responses = await Promise.all(
    patches.map((body, index) =>
      at(index)('PATCH', `/v1/listings/${id}`, { key: actor.key, body, repeatWhileBusy: true }),
    ),
  )
  expect(responses.map(({ status }) => status)).toEqual(Array(21).fill(200))
  const after = await read(actor, id)
  expect(after.location).toMatchObject(location)
  expect(fields.map((field) => after[field])).toEqual(['yard', 7, 7, 7, 7])
  expect(after.room_types[0].rooms.map(({ name }: { name: string }) => name)).toEqual(Array(10).fill('new'))
})

test('the stored bound on the size of a listing counts prices that came between its reading and its writing', async () => {
  const actor = await service.actor()
  const { live } = service
  const { hostId } = actor
  const { id } = await create(actor, { name: 'One', room_types: [{ id: 't', name: 'T' }] })
  const find = () => findListing(live.db, hostId, id)
  const [roomType] = (await find()).content.room_types
  const room_type_id = roomType?.id as number
  /** Returns by how much the listing is smaller than what is known of its size; null if nothing is known. */
  const slack = async () => {
    const { measured, updated_at } =
      (await listingModel(live.db).findOne({ owner_id: hostId, id }).lean()) ?? {}
    if (measured === undefined || measured.at.getTime() !== updated_at?.getTime()) return null
    return measured.bytes - bytesOf((await find()).content)
  }
  const push = (price: number, updated_at: Date) => {
    const values = { base_price: price }
    const changes = [{ listing_id: id, room_type_id, currency: null, values }]
    return inTransaction(live.db, 'rates', (session) =>
      pushPrices(live.db, session, hostId, { changes, updated_at }),
    )
  }
  const earlier = () => new Date(live.clock().getTime() - 60_000)
  const patch = (name: string) => actor.send('PATCH', `/v1/listings/${id}`, { body: { name } })
  expect(await slack()).toBe(0)
  // Prices in the same millisecond as the listing's last write
  expect(await push(1000, (await find()).updated_at)).toBe(true)
  expect(await slack()).toBeNull()
  expect((await patch('Two')).status).toBe(200)
  expect(await slack()).toBe(0)
  const read = await find()
  expect(await push(1_000_000, earlier())).toBe(true)
  expect(await changeFields(live, read, { ...read.content, parking: 'yard' })).toBe(true)
  expect(await slack()).toBeNull()
  expect((await patch('Three')).status).toBe(200)
  expect(await slack()).toBe(0)
  const again = await find()
  expect(await push(100_000_000, earlier())).toBe(true)
  const content = { ...again.content, bedrooms: 3 }
  expect(
    await inTransaction(live.db, 'listing', (session) => replaceContent(live, again, content, session)),
  ).toBe(true)
  expect(await slack()).toBeNull()
  for (const name of ['A longer name', 'B', 'Another name']) expect((await patch(name)).status).toBe(200)
  expect(await slack()).toBeGreaterThanOrEqual(0)
})

test('PATCHes that wait for a transaction leave it connections to end, and other requests too', async () => {
  const monitored = await testApp({
    MONGODB_URL: `${testEnvironment().MONGODB_URL}&monitorCommands=true`,
  })
  const { live } = monitored
  const actor = await monitored.actor()
  // More than there are connections
  const listings = await fillListings(monitored, actor, 60)
  const values = { base_price: 9 }
  const changes = listings.map((listing) => ({ ...listing, currency: null, values }))
  const first = listings[0]?.listing_id as number
  const { patches } = await inTransaction(live.db, 'rates', async (session) => {
    await pushPrices(live.db, session, actor.hostId, { changes, updated_at: live.clock() })
    let sent = 0
    live.db.getClient().on('commandStarted', ({ commandName }) => {
      if (commandName === 'update') sent += 1
    })
    const begun = listings.map(({ listing_id }) =>
      actor.send('PATCH', `/v1/listings/${listing_id}`, { body: { name: 'New' }, repeatWhileBusy: true }),
    )
    while (sent < 20) await Bun.sleep(1)
    for (let before = -1; before !== sent; await Bun.sleep(100)) before = sent
    expect((await actor.send('GET', `/v1/listings/${first}`)).status).toBe(200)
    await findListing(live.db, actor.hostId, first, session)
    return { patches: begun }
  })
  expect((await Promise.all(patches)).map(({ status }) => status)).toEqual(Array(60).fill(200))
})

test('PATCHes of one listing that merge what they send are all carried out, each with one update', async () => {
  const monitored = await testApp({
    MONGODB_URL: `${testEnvironment().MONGODB_URL}&monitorCommands=true`,
  })
  const actor = await monitored.actor()
  const [listing] = await fillListings(monitored, actor, 1)
  let updates = 0
  monitored.live.db.getClient().on('commandStarted', ({ commandName, command }) => {
    if (commandName === 'update' && command.update === 'listings') updates += 1
  })
  const patches = Array.from({ length: 120 }, (_, index) =>
    actor.send('PATCH', `/v1/listings/${listing?.listing_id}`, {
      body: { descriptions: { property: `Text ${index}` } },
    }),
  )
  expect((await Promise.all(patches)).map(({ status }) => status)).toEqual(Array(120).fill(200))
  expect(updates).toBe(120)
})
