import { expect, test } from 'vitest'
import { testApp } from '../../support/app.ts'
import { readFixture } from '../../support/fixtures.ts'
import { asRead } from '../../support/listing-diff.ts'

const service = await testApp()

test.each(['barcelona-house', 'tokyo-share-house', 'warsaw-tower'])(
  'GET /v1/listings/{id} of %s shows every posted field, with integer ids',
  async (name) => {
    const actor = await service.actor()
    const sent = await readFixture(`listings/${name}`)
    const created = await actor.send('POST', '/v1/listings', { body: sent })
    expect(created.status).toBe(201)
    const { id } = created.body.data
    expect(created.body).toEqual({
      action: 'created',
      data: {
        id,
        original_id: sent.original_id,
        links: { preview: `http://127.0.0.1:3000/preview/listings/${id}` },
      },
      meta: { request_id: created.headers.get('x-request-id') },
    })
    const { data } = (await actor.send('GET', `/v1/listings/${id}`)).body
    const { id: readId, unique_id, listing_status, created_at, updated_at, ...content } = data
    expect([readId, listing_status, typeof unique_id, created_at]).toEqual([
      id,
      'draft',
      'string',
      updated_at,
    ])
    expect(content).toEqual(asRead(sent, content))
  },
)

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
