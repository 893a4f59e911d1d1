import { beforeAll, expect, test } from 'vitest'
import { bookingModel } from '../../../src/stays/bookings/model.ts'
import { type Actor, seedBooking, testApp } from '../../support/app.ts'
import { digestOf, type HeldByPartner } from '../../support/digest.ts'
import { fillBookings } from '../../support/many-bookings.ts'

const service = await testApp()
const feed = '/v1/integrations/provider_one/bookings'
const read = (actor: Actor, query = '', prefix = feed) => actor.send('GET', `${prefix}/digest?${query}`)

let actor: Actor
let listing_id: number
let bookings: (HeldByPartner & { listing_id: number; version: string })[]

beforeAll(async () => {
  actor = await service.actor()
  const seeded = await seedBooking(actor)
  listing_id = seeded.listing_id
  const { user_id } = seeded
  const second = await actor.send('POST', '/v1/listings', {
    body: { name: 'Second', room_types: [{ name: 'Only' }] },
  })
  for (const [at, checkin_at] of ['2027-01-15', '2027-01-31', '2026-12-31', '2027-02-01'].entries()) {
    const stay = { user_id, listing_id: second.body.data.id, checkin_at, checkout_at: '2027-06-01' }
    const { booking_id } = (await actor.send('POST', '/v1/bookings', { body: stay })).body.data
    if (at % 2 === 0) await actor.send('POST', `/v1/bookings/${booking_id}/confirm`)
  }
  await actor.send('POST', `/v1/bookings/${seeded.booking_id}/cancel`)
  await seedBooking(await service.actor())
  bookings = (await actor.send('GET', feed)).body.data.Bookings
})

test('the digest covers the bookings of the feed, by month, by day and one by one', async () => {
  const version = bookings.at(-1)?.version
  expect(bookings).toHaveLength(5)
  const whole = await read(actor)
  expect(whole.body.data).toEqual({ digest: { version, ...digestOf(bookings, 7) } })
  expect(whole.body.data.digest.parts.map(({ key }: { key: string }) => key)).toEqual([
    '2026-12',
    '2027-01',
    '2027-02',
  ])
  const ofJanuary = bookings.filter(({ checkin_at }) => checkin_at.startsWith('2027-01'))
  const january = await read(actor, 'month=2027-01')
  expect(january.body.data).toEqual({ digest: { version, ...digestOf(ofJanuary, 10) } })
  const ofDay = bookings
    .filter(({ checkin_at }) => checkin_at === '2027-01-15')
    .sort((one, other) => one.booking_id - other.booking_id)
  const day = await read(actor, 'day=2027-01-15')
  expect(day.body.data.digest).toEqual({
    version,
    ...digestOf(ofDay),
    next_after: null,
    bookings: ofDay.map(({ booking_id, version, status, checkin_at, checkout_at }) => ({
      booking_id,
      version,
      status,
      checkin_at,
      checkout_at,
    })),
  })
  expect(ofDay).toHaveLength(2)
})

test('listing_id limits the digest but not its version, and a host without bookings gets an empty digest', async () => {
  const version = bookings.at(-1)?.version
  const ofListing = bookings.filter((booking) => booking.listing_id === listing_id)
  expect(ofListing).toHaveLength(1)
  const { body } = await read(actor, `listing_id=${listing_id}`)
  expect(body.data.digest).toEqual({ version, ...digestOf(ofListing, 7) })
  const stranger = await service.actor()
  expect((await read(stranger, `listing_id=${listing_id}`)).status).toBe(404)
  expect((await read(stranger)).body.data.digest).toEqual({ version: null, ...digestOf([], 7) })
  const none = await read(stranger, 'day=2027-01-15')
  expect(none.body.data.digest).toEqual({ version: null, ...digestOf([]), bookings: [], next_after: null })
})

test('a change appears in the next digest, in the sandbox as well, and an unchanged digest is not sent again', async () => {
  const sandboxFeed = '/sandbox/integrations/provider_one/bookings'
  const partner = await service.actor()
  for (const prefix of [feed, sandboxFeed]) {
    const { booking_id } = await seedBooking(partner, prefix === feed ? '/v1' : '/sandbox')
    const pending = await read(partner, '', prefix)
    const etag = pending.headers.get('etag') as string
    const same = await partner.send('GET', `${prefix}/digest`, { headers: { 'if-none-match': etag } })
    expect({ status: same.status, text: same.text }).toEqual({ status: 304, text: '' })
    const root = prefix === feed ? '/v1' : '/sandbox'
    await partner.send('POST', `${root}/bookings/${booking_id}/confirm`)
    const confirmed = await partner.send('GET', `${prefix}/digest`, { headers: { 'if-none-match': etag } })
    const items = (await partner.send('GET', prefix)).body.data.Bookings
    expect(confirmed.body.data.digest).toEqual({ version: items.at(-1).version, ...digestOf(items, 7) })
    expect(confirmed.body.data.digest.sha256).not.toBe(pending.body.data.digest.sha256)
  }
})

test('the bookings of a day come in parts of 10,000 that share one digest', async () => {
  const partner = await service.actor()
  await fillBookings(service.live.db, partner.hostId, 10_003)
  const change = { $set: { checkin_at: '2027-01-01', checkout_at: '2027-02-01' } }
  await bookingModel(service.live.db).updateMany({ owner_id: partner.hostId }, change)
  const first = (await read(partner, 'day=2027-01-01')).body.data.digest
  const second = (await read(partner, `day=2027-01-01&after=${first.next_after}`)).body.data.digest
  expect({ count: first.count, listed: first.bookings.length, next_after: first.next_after }).toEqual({
    count: 10_003,
    listed: 10_000,
    next_after: first.bookings.at(-1).booking_id,
  })
  expect({ count: second.count, listed: second.bookings.length, next_after: second.next_after }).toEqual({
    count: 10_003,
    listed: 3,
    next_after: null,
  })
  const all = [...first.bookings, ...second.bookings]
  expect(digestOf(all).sha256).toBe(first.sha256)
})

test.each([
  ['month=2026-13', 'month', 'invalid'],
  ['month=2026-1', 'month', 'invalid'],
  ['month=', 'month', 'invalid'],
  ['day=2026-02-30', 'day', 'invalid'],
  ['day=', 'day', 'invalid'],
  ['day=2026-12', 'day', 'invalid'],
  ['month=2026-12&day=2026-12-01', 'day', 'invalid'],
  ['after=5', 'after', 'invalid'],
  ['day=2026-12-01&after=x', 'after', 'invalid'],
  ['day=2026-12-01&after=0', 'after', 'invalid'],
  ['listing_id=x', 'listing_id', 'invalid'],
  ['listing_id=', 'listing_id', 'invalid'],
])('the digest refuses ?%s', async (query, path, code) => {
  const { status, body } = await read(actor, query)
  expect({ status, errors: body.error.errors }).toEqual({
    status: 422,
    errors: [{ path, code, message: expect.any(String) }],
  })
})

test('the digest requires a provider and the permission to read bookings', async () => {
  expect((await actor.send('GET', '/v1/integrations/nobody/bookings/digest')).status).toBe(404)
  const writer = await service.actor({ permissions: ['bookings.write'] })
  expect((await read(writer)).status).toBe(403)
})
