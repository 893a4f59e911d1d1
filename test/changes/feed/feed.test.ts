import { beforeAll, expect, test } from 'vitest'
import { type Actor, seedBooking, testApp } from '../../support/app.ts'
import { awaitDay } from '../../support/midnight.ts'

const service = await testApp()
const path = '/v1/integrations/provider_one/bookings'
let actor: Actor
let seeded: Awaited<ReturnType<typeof seedBooking>>
let otherListing: number

beforeAll(async () => {
  await awaitDay()
  actor = await service.actor()
  seeded = await seedBooking(actor)
  const { user_id } = seeded
  const written = await actor.send('POST', '/v1/listings', {
    body: { name: 'Second', room_types: [{ name: 'Only' }] },
  })
  otherListing = written.body.data.id
  for (const checkout_at of ['2026-01-10', '2026-02-10']) {
    await actor.send('POST', '/v1/bookings', {
      body: { user_id, listing_id: otherListing, checkin_at: '2026-01-01', checkout_at },
    })
  }
  await seedBooking(await service.actor())
})

const poll = (query = '') => actor.send('GET', path + query)

test('GET bookings of a provider lists the bookings of the host by version, with the fields of the contract', async () => {
  const { body } = await poll()
  expect(body.data.Bookings).toHaveLength(3)
  expect(body.data.Bookings[0]).toEqual({
    booking_id: seeded.booking_id,
    listing_id: seeded.listing_id,
    room_type_id: seeded.room_type_id,
    status: 'pending',
    checkin_at: '2027-01-15',
    checkout_at: '2027-04-20',
    version: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
  })
  expect(body.meta.pagination).toMatchObject({
    current_page: 1,
    per_page: 50,
    total: 3,
    last_page: 1,
    from: 1,
    to: 3,
  })
})

test('GET bookings excludes the version in updated_after, so nothing follows the last one', async () => {
  const versions: string[] = (await poll()).body.data.Bookings.map(
    ({ version }: { version: string }) => version,
  )
  const after = await Promise.all(
    versions.map((version) => poll(`?updated_after=${encodeURIComponent(version)}`)),
  )
  expect(after.map(({ body }) => body.meta.pagination.total)).toEqual([2, 1, 0])
  expect(after[2]?.body.data.Bookings).toEqual([])
})

test('GET bookings with a date in updated_after starts at the beginning of that day', async () => {
  const today = new Date().toISOString().slice(0, 10)
  expect((await poll(`?updated_after=${today}`)).body.meta.pagination.total).toBe(3)
  expect((await poll('?updated_after=2999-01-01')).body.meta.pagination.total).toBe(0)
})

test('GET bookings filters by checkout_after and by listing_id', async () => {
  expect((await poll('?checkout_after=2026-02-10')).body.meta.pagination.total).toBe(2)
  expect((await poll('?checkout_after=2026-02-11')).body.meta.pagination.total).toBe(1)
  expect((await poll(`?listing_id=${otherListing}`)).body.meta.pagination.total).toBe(2)
  expect(
    (await poll(`?listing_id=${otherListing}&checkout_after=2026-02-10`)).body.meta.pagination.total,
  ).toBe(1)
})

test('GET bookings with include=detail gives each item the booking as the detail route returns it', async () => {
  const plain = await poll()
  const full = await poll('?include=detail')
  const details = await Promise.all(
    plain.body.data.Bookings.map(async (item: { booking_id: number }) => {
      const { body } = await actor.send('GET', `${path}/${item.booking_id}`)
      return { ...item, ...body.data }
    }),
  )
  expect(full.body.data.Bookings).toEqual(details)
  for (const { version, Booking } of full.body.data.Bookings) expect(Booking.meta.version).toBe(version)
  expect(full.body.meta.pagination).toEqual(plain.body.meta.pagination)
})

test('a cursor and a page serve a walk with and without include=detail', async () => {
  const first = await poll('?per_page=1&include=detail')
  const { next_cursor } = first.body.meta.pagination
  const all = (await poll()).body.data.Bookings
  const second = await poll(`?per_page=1&cursor=${next_cursor}`)
  expect(second.body.data.Bookings).toEqual([all[1]])
  const inFull = await poll(`?per_page=1&cursor=${next_cursor}&include=detail`)
  expect(inFull.body.data.Bookings).toMatchObject([all[1]])
  expect((await poll('?per_page=1&page=2')).body.data.Bookings).toEqual([all[1]])
})

test('the ETag of a page with include=detail covers the details', async () => {
  const quiet = await service.actor()
  const { listing_id } = await seedBooking(quiet)
  const read = (etag = '') =>
    quiet.send('GET', `${path}?include=detail`, { headers: etag ? { 'if-none-match': etag } : {} })
  const etag = (await read()).headers.get('etag') ?? ''
  expect((await read(etag)).status).toBe(304)
  const { body } = await quiet.send('GET', `/v1/listings/${listing_id}`)
  const [{ id }] = body.data.room_types
  await quiet.send('PATCH', `/v1/listings/${listing_id}`, {
    body: { room_types: [{ id, name: 'Renamed' }] },
  })
  const changed = await read(etag)
  expect({
    status: changed.status,
    room_type_name: changed.body.data.Bookings[0].Booking.room_type_name,
  }).toEqual({ status: 200, room_type_name: 'Renamed' })
})

test.each([
  ['?include=', 'include'],
  ['?include=guest', 'include'],
  ['?include=detail&include=detail', 'include'],
  ['?updated_after=2026-11-20T12:00:00', 'updated_after'],
  ['?updated_after=2026-02-30', 'updated_after'],
  ['?updated_after=2026-02-28%2024:00:00', 'updated_after'],
  ['?updated_after=', 'updated_after'],
  ['?updated_after=now', 'updated_after'],
  ['?checkout_after=20260101', 'checkout_after'],
  ['?checkout_after=', 'checkout_after'],
  ['?listing_id=abc', 'listing_id'],
  ['?listing_id=-1', 'listing_id'],
  ['?listing_id=', 'listing_id'],
  ['?listing_id=1&listing_id=2', 'listing_id'],
])('GET bookings with %s responds 422 invalid at %s', async (query, field) => {
  const { status, body } = await poll(query)
  expect(status).toBe(422)
  expect(body.error.errors).toMatchObject([{ path: field, code: 'invalid' }])
})

test('GET bookings of another host’s listing responds 404, as for a listing that does not exist', async () => {
  const foreign = await seedBooking(await service.actor())
  const response = await poll(`?listing_id=${foreign.listing_id}`)
  const unknown = await poll('?listing_id=999999999')
  expect(response.status).toBe(404)
  expect({ status: response.status, message: response.body.error.message }).toEqual({
    status: unknown.status,
    message: unknown.body.error.message,
  })
})

test("GET one booking shows its guest, its prices and its room type's current name", async () => {
  const { body } = await actor.send('GET', `${path}/${seeded.booking_id}`)
  const { meta, pricing, ...detail } = body.data.Booking
  expect(detail).toEqual({
    booking_id: seeded.booking_id,
    booking_reference: `BK-${seeded.booking_id}`,
    listing_id: seeded.listing_id,
    room_type_id: seeded.room_type_id,
    room_type_name: 'Single room',
    room_id: null,
    status: 'pending',
    checkin_at: '2027-01-15',
    checkout_at: '2027-04-20',
    nights: 95,
    guests: { total: 1, rooms: 1 },
    guest: {
      name: 'María José García-López',
      email: 'maria.jose@example.com',
      phone: '+34 611 222 333',
      country: 'ES',
    },
    cancellation_reason: null,
    notes: 'I arrive with the night train, around 08:00',
    erased_at: null,
  })
  const { price_total, security_deposit } = seeded.booking.body.data
  expect(pricing).toEqual({ currency: 'EUR', total: price_total, total_local: price_total, security_deposit })
  expect(Date.parse(`${meta.version.replace(' ', 'T')}Z`)).toBe(Date.parse(meta.updated_at))
})
