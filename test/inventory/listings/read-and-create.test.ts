import { expect, test } from 'vitest'
import { testApp } from '../../support/app.ts'
import { readFixture, readWholeFixture } from '../../support/fixtures.ts'
import { asRead } from '../../support/listing-diff.ts'

const service = await testApp()

const houses = ['barcelona-house', 'tokyo-share-house', 'warsaw-tower']

test.each(houses)('GET /v1/listings/{id} of %s shows every posted field, with integer ids', async (name) => {
  const actor = await service.actor()
  const sent = await readWholeFixture(`listings/${name}`)
  const created = await actor.send('POST', '/v1/listings', { body: sent })
  expect(created.status).toBe(201)
  const { id, room_types } = created.body.data
  expect(created.body).toEqual({
    action: 'created',
    data: {
      id,
      original_id: sent.original_id,
      links: { preview: `http://127.0.0.1:3000/preview/listings/${id}` },
      room_types,
    },
    meta: { request_id: created.headers.get('x-request-id') },
  })
  const { data } = (await actor.send('GET', `/v1/listings/${id}`)).body
  const { id: readId, unique_id, listing_status, created_at, updated_at, ...content } = data
  expect({ readId, unique_id, listing_status, created_at }).toEqual({
    readId: id,
    unique_id: expect.any(String),
    listing_status: 'draft',
    created_at: updated_at,
  })
  expect(content).toEqual(asRead(sent, content))
  expect(room_types).toEqual(data.room_types.map(idsOf))
  const [listed] = (await actor.send('GET', '/v1/listings')).body.data
  expect(listed.room_types.map(idsOf)).toEqual(room_types)
})

test('no two houses of the fixtures share a sentence, an address, a person or a telephone number', async () => {
  const housesOf = new Map<string, Set<string>>()
  for (const house of houses) {
    const fixture = JSON.stringify(await readFixture(`listings/${house}`))
    // Codes and times, which houses may have in common, have neither a blank nor a slash.
    for (const [text] of fixture.matchAll(/"[^"]*[ /][^"]*"/g))
      housesOf.set(text, (housesOf.get(text) ?? new Set()).add(house))
  }
  expect([...housesOf].filter(([, sharing]) => sharing.size > 1).map(([text]) => text)).toEqual([])
})

interface Ids {
  id: number
  original_id: string | null
}
const ownIds = ({ id, original_id }: Ids) => ({ id, original_id })
const idsOf = (roomType: Ids & { rooms: Ids[] }) => ({
  ...ownIds(roomType),
  rooms: roomType.rooms.map(ownIds),
})

test("reads and write results contain the partner's own ids sent on create, and null for an element without one", async () => {
  const actor = await service.actor()
  const body = {
    name: 'Own ids',
    room_types: [
      { id: 'studio', name: 'Studio', rooms: [{ id: 's-1' }, { name: 'Without id' }] },
      { name: 'Without id' },
    ],
  }
  const created = (await actor.send('POST', '/v1/listings', { body })).body.data
  const own = (roomTypes: (Ids & { rooms: Ids[] })[]) =>
    roomTypes.map(({ original_id, rooms }) => [original_id, ...rooms.map((room) => room.original_id)])
  expect(own(created.room_types)).toEqual([['studio', 's-1', null], [null]])
  expect(created.room_types[0].id).toEqual(expect.any(Number))
  const path = `/v1/listings/${created.id}`
  expect((await actor.send('PATCH', path, { body: { parking: 'none' } })).body.data).toEqual(created)
  const more = { room_types: [{ id: 'loft', name: 'Loft' }] }
  const added = (await actor.send('PATCH', path, { body: more })).body.data.room_types
  expect(own(added)).toEqual([['studio', 's-1', null], [null], ['loft']])
  expect(own((await actor.send('GET', path)).body.data.room_types)).toEqual(own(added))
})

test('GET /v1/listings/{id} shows fields that were never sent as nulls, objects of nulls and empty lists', async () => {
  const actor = await service.actor()
  const created = await actor.send('POST', '/v1/listings', {
    body: { name: 'Bare', room_types: [{ name: 'R', rooms: [{}] }] },
  })
  const { data } = (await actor.send('GET', `/v1/listings/${created.body.data.id}`)).body
  expect(data).toMatchObject({
    name: 'Bare',
    original_id: null,
    property_size: null,
    descriptions: { property: null, neighborhood: null, community: null },
    location: { address: null, lat: null, lng: null },
    amenities: [],
    prices: { currency: null, security_deposit_type: null, security_deposit: null, extra_fees: [] },
    community: { community_manager: { name: null, photo: null, onsite: null }, events: [], types: [] },
    media: {
      '3d_tour': null,
      video_tour: { type: null, url: null },
      photos: { property: [], community: [] },
    },
    faq: [],
    rating: { places_id: null },
  })
  expect(data.room_types[0]).toMatchObject({
    name: 'R',
    prices: { base_price: null, price_jan: null },
    amenities: [],
  })
  expect(data.room_types[0].rooms[0]).toEqual({
    id: expect.any(Number),
    original_id: null,
    name: null,
    description: null,
    availability: { ical: null },
  })
})

test('POST /v1/listings ignores unknown fields', async () => {
  const actor = await service.actor()
  const body = {
    name: 'X',
    listing_status: 'published',
    host_id: 1,
    surprise: 1,
    location: { city: 'Y', surprise: 1 },
  }
  const created = await actor.send('POST', '/v1/listings', { body })
  const read = await actor.send('GET', `/v1/listings/${created.body.data.id}`)
  expect(read.body.data.listing_status).toBe('draft')
  expect(read.text).not.toContain('surprise')
})
