import { expect, test } from 'vitest'
import { jobModel } from '../../src/platform/outbox/outbox.ts'
import { seedBooking, testApp } from '../support/app.ts'

const service = await testApp({ WEBHOOKS_ALLOW_PRIVATE: 'on' })
const { db } = service.live
const owner = await service.actor()
const thief = await service.actor()
const own = await seedBooking(owner)
const stolen = await seedBooking(thief)

/** Creates an endpoint with a delivery that no receiver accepts. */
async function seedWebhook({ send }: typeof owner) {
  const body = { url: 'http://127.0.0.1:1/', events: ['booking.changed'] }
  const webhook_id = (await send('POST', '/v1/webhooks', { body })).body.data.id as number
  const delivery_id = (await send('POST', `/v1/webhooks/${webhook_id}/test`)).body.data.id as string
  return { webhook_id, delivery_id }
}
const ownHook = await seedWebhook(owner)
const stolenHook = await seedWebhook(thief)

/** Returns everything stored about a host except jobs and the request log, which change in the background. */
async function stateOf(hostId: number): Promise<string> {
  const names = (await db.listCollections())
    .map(({ name }) => name)
    .filter((name) => !['outbox', 'requests', 'request_counts'].includes(name))
    .sort()
  const documents = await Promise.all(
    names.map((name) => db.collection(name).find({ host_id: hostId }).sort({ _id: 1 }).toArray()),
  )
  return JSON.stringify(documents, (key, value) =>
    ['usage_count', 'last_used_at', 'addresses', 'due_at'].includes(key) ? undefined : value,
  )
}

const nobody = 999_999_999
const noDelivery = `msg_${'f'.repeat(24)}`
const provider = '/v1/integrations/provider_one'
const unit = (ids: { listing_id: number; room_type_id: number }) => ({
  listing_id: ids.listing_id,
  room_type_id: ids.room_type_id,
})
const stay = { checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
const range = { available: 0, start_date: '2031-01-01', end_date: '2031-12-31' }

/** Every place that takes an id, with a function that returns the request for the given ids. */
const places: [string, (ids: typeof own & typeof ownHook) => [string, string, object?]][] = [
  ['listing in the path of a read', (ids) => ['GET', `/v1/listings/${ids.listing_id}`]],
  [
    'listing in the path of a PATCH',
    (ids) => ['PATCH', `/v1/listings/${ids.listing_id}`, { name: 'Stolen' }],
  ],
  [
    'room type in the body of a PATCH',
    (ids) => [
      'PATCH',
      `/v1/listings/${stolen.listing_id}`,
      { room_types: [{ id: ids.room_type_id, name: 'Stolen' }] },
    ],
  ],
  ['user in the path of a read', (ids) => ['GET', `/v1/users/${ids.user_id}`]],
  [
    'user of a booking',
    (ids) => ['POST', '/v1/bookings', { ...unit(stolen), ...stay, user_id: ids.user_id }],
  ],
  [
    'listing of a booking',
    (ids) => [
      'POST',
      '/v1/bookings',
      { ...unit(stolen), ...stay, user_id: stolen.user_id, listing_id: ids.listing_id },
    ],
  ],
  [
    'room type of a booking',
    (ids) => [
      'POST',
      '/v1/bookings',
      { ...unit(stolen), ...stay, user_id: stolen.user_id, room_type_id: ids.room_type_id },
    ],
  ],
  ['booking in the path of the detail', (ids) => ['GET', `${provider}/bookings/${ids.booking_id}`]],
  ['booking in the path of its messages', (ids) => ['GET', `/v1/bookings/${ids.booking_id}/messages`]],
  [
    'booking in the path of a new message',
    (ids) => ['POST', `/v1/bookings/${ids.booking_id}/messages`, { message: { text: 'Stolen' } }],
  ],
  [
    'booking in the query of the message feed',
    (ids) => ['GET', `${provider}/messages?booking_id=${ids.booking_id}`],
  ],
  ['listing in the query of the feed', (ids) => ['GET', `${provider}/bookings?listing_id=${ids.listing_id}`]],
  [
    'listing in the query of availability',
    (ids) => ['GET', `${provider}/availability?listing_id=${ids.listing_id}`],
  ],
  [
    'room type in the query of availability',
    (ids) => ['GET', `${provider}/availability?room_type_id=${ids.room_type_id}`],
  ],
  [
    'listing of an availability write',
    (ids) => [
      'POST',
      `${provider}/availability`,
      { data: [{ ...range, ...unit(stolen), listing_id: ids.listing_id }] },
    ],
  ],
  [
    'room type of an availability write',
    (ids) => [
      'POST',
      `${provider}/availability`,
      { data: [{ ...range, ...unit(stolen), room_type_id: ids.room_type_id }] },
    ],
  ],
  [
    'listing of a rates write',
    (ids) => [
      'POST',
      `${provider}/rates`,
      { data: [{ base_price: 1, ...unit(stolen), listing_id: ids.listing_id }] },
    ],
  ],
  [
    'room type of a rates write',
    (ids) => [
      'POST',
      `${provider}/rates`,
      { data: [{ base_price: 1, ...unit(stolen), room_type_id: ids.room_type_id }] },
    ],
  ],
  ['webhook in the path of a read', (ids) => ['GET', `/v1/webhooks/${ids.webhook_id}`]],
  [
    'webhook in the path of a PATCH',
    (ids) => ['PATCH', `/v1/webhooks/${ids.webhook_id}`, { enabled: false }],
  ],
  ['webhook in the path of a DELETE', (ids) => ['DELETE', `/v1/webhooks/${ids.webhook_id}`]],
  ['webhook whose secret is rotated', (ids) => ['POST', `/v1/webhooks/${ids.webhook_id}/secret/rotate`]],
  ['webhook that is tested', (ids) => ['POST', `/v1/webhooks/${ids.webhook_id}/test`]],
  ['webhook in the path of its deliveries', (ids) => ['GET', `/v1/webhooks/${ids.webhook_id}/deliveries`]],
  [
    'webhook of a delivery that is sent again',
    (ids) => ['POST', `/v1/webhooks/${ids.webhook_id}/deliveries/${ids.delivery_id}/resend`],
  ],
  [
    'delivery that is sent again',
    (ids) => ['POST', `/v1/webhooks/${stolenHook.webhook_id}/deliveries/${ids.delivery_id}/resend`],
  ],
]

test.each(places)(
  "another host's id as the %s gets the response of an unknown id and changes nothing",
  async (_, request) => {
    const before = await stateOf(owner.hostId)
    const ids = { user_id: nobody, listing_id: nobody, room_type_id: nobody, booking_id: nobody }
    const unknown = { ...own, ...ids, webhook_id: nobody, delivery_id: noDelivery }
    const ask = async (ids: typeof own & typeof ownHook) => {
      const [method, path, body] = request(ids)
      const response = await thief.send(method, path, body ? { body } : {})
      const { request_id: _id, ...error } = response.body.error ?? {}
      const known = new RegExp(
        `\\b(${[...Object.values(ids), ...Object.values(stolen)].filter(Number.isInteger).join('|')})\\b`,
        'g',
      )
      return `${response.status} ${JSON.stringify(error).replace(known, 'ID')}`
    }
    const foreign = await ask({ ...own, ...ownHook })
    const expected = await ask(unknown)
    expect(foreign).toBe(expected)
    expect(foreign).toMatch(/^(400|403|404|422) /)
    expect(await stateOf(owner.hostId)).toBe(before)
  },
)

test('lists never show data of another host', async () => {
  const nothing = await service.actor()
  for (const path of ['/v1/users', '/v1/listings', `${provider}/bookings`, `${provider}/availability`]) {
    const { text, body } = await nothing.send('GET', path)
    expect(body.meta.pagination.total).toBe(0)
    expect(text).not.toMatch(/BCN-0042|maria\.jose/)
  }
})

test('bookings and listings ignore fields that a partner may not set', async () => {
  const extra = {
    host_id: owner.hostId,
    id: own.listing_id,
    status: 2,
    listing_status: 'published',
    status_rank: 2,
    api_created: false,
    price: 1,
    price_total: 1,
    price_minor: 1,
    updated_at: '2000-01-01',
    booking_id: own.booking_id,
    user_id: stolen.user_id,
  }
  const before = await stateOf(owner.hostId)
  const booking = await thief.send('POST', '/v1/bookings', {
    body: { ...extra, ...unit(stolen), ...stay, user_id: stolen.user_id },
  })
  expect(booking.body.data).toMatchObject({ host_id: thief.hostId, status: 1, api_created: true })
  expect(booking.body.data.price).toBeGreaterThan(1)
  const listing = await thief.send('POST', '/v1/listings', { body: { ...extra, name: 'Mass' } })
  const read = await thief.send('GET', `/v1/listings/${listing.body.data.id}`)
  expect(read.body.data).toMatchObject({ listing_status: 'draft', name: 'Mass' })
  await thief.send('PATCH', `/v1/listings/${listing.body.data.id}`, { body: extra })
  expect((await thief.send('GET', `/v1/listings/${listing.body.data.id}`)).body.data.listing_status).toBe(
    'draft',
  )
  expect(await stateOf(owner.hostId)).toBe(before)
})

test('URL and iCal fields of a listing never cause a connection', async () => {
  let connections = 0
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { open: () => void connections++, data: () => {} },
  })
  const url = `http://127.0.0.1:${listener.port}/`
  const room = { name: 'R', availability: { ical: `${url}a.ics` } }
  const body = {
    name: 'Lure',
    original_url: url,
    bookings: { application_url: url },
    community: { community_manager: { photo: url } },
    media: {
      '3d_tour': url,
      video_tour: { type: 'x', url },
      photos: { property: [{ url }], community: [{ url }] },
    },
    room_types: [{ name: 'T', application_url: url, photos: [{ url }], rooms: [room] }],
  }
  const created = await thief.send('POST', '/v1/listings', { body })
  expect(created.status).toBe(201)
  await thief.send('GET', `/v1/listings/${created.body.data.id}`)
  // No job is left that could connect later.
  await expect.poll(() => jobModel(service.live.db).exists({ host_id: thief.hostId })).toBeNull()
  listener.stop(true)
  expect(connections).toBe(0)
})
