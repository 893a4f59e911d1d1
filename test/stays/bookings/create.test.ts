import { expect, test } from 'vitest'
import { listingModel } from '../../../src/inventory/listings/model.ts'
import { bookingModel } from '../../../src/stays/bookings/model.ts'
import { messageModel } from '../../../src/stays/messages/model.ts'
import { seedBooking, testApp } from '../../support/app.ts'

const service = await testApp()
const actor = await service.actor()
const seeded = await seedBooking(actor)
const { user_id, listing_id, room_type_id } = seeded
const valid = { user_id, listing_id, room_type_id, checkin_at: '2027-05-01', checkout_at: '2027-05-31' }
const create = (more: object) => actor.send('POST', '/v1/bookings', { body: { ...valid, ...more } })

test('POST /v1/bookings responds 201 with every field of the contract', async () => {
  const { status, body } = seeded.booking
  expect(status).toBe(201)
  const { booking_id, created_at, updated_at, ...rest } = body.data
  // A version is in whole seconds, while `created_at` is the clock's exact time (decisions §6).
  expect(Date.parse(updated_at)).toBeGreaterThan(Date.parse(created_at) - 1000)
  expect(Date.parse(updated_at)).toBeLessThanOrEqual(Date.now() + 1000)
  expect(updated_at).toMatch(/\.000000Z$/)
  const message = 'I arrive with the night train, around 08:00'
  expect(rest).toMatchObject({
    booking_no: `BK-${booking_id}`,
    user_id,
    host_id: actor.hostId,
    listing_id,
    checkin_at: '2027-01-15',
    checkout_at: '2027-04-20',
    nights: 95,
    guests: 1,
    rooms: 1,
    status: 1,
    type: 'api_booking',
    currency: 'EUR',
    is_recurring: 0,
    managed: 0,
    payout_ready: 0,
    source: 'api',
    api_created: true,
    special_requests: message,
    meta: { source: 'api', api_created: true, special_requests: message },
    recurring_at: null,
    lifecycle: null,
    payment_status: null,
    lead_status: null,
    cancellation_reason: null,
    dispute_reason: null,
    paid_at: null,
    paid_to_host_at: null,
    invoiced_at: null,
    canceled_at: null,
    missed_at: null,
    confirmed_at: null,
    extended_at: null,
  })
})

/** Books January 2027 in a new listing, or a part of it. Returns the amounts of every response that shows some. */
async function amountsOf(prices: object, base_price: number, checkout_at: string) {
  const room_types = [{ name: 'T', prices: { base_price } }]
  const written = await actor.send('POST', '/v1/listings', { body: { name: 'L', prices, room_types } })
  const own = { user_id, listing_id: written.body.data.id, checkin_at: '2027-01-01', checkout_at }
  const { data } = (await actor.send('POST', '/v1/bookings', { body: own })).body
  const feed = `/v1/integrations/provider_one/bookings?include=detail&listing_id=${own.listing_id}`
  const detail = await actor.send('GET', `/v1/integrations/provider_one/bookings/${data.booking_id}`)
  const listing = await actor.send('GET', `/v1/listings/${own.listing_id}`)
  return {
    created: data,
    detail: detail.body.data.Booking.pricing,
    fed: (await actor.send('GET', feed)).body.data.Bookings[0].Booking.pricing,
    stored: listing.body.data.room_types[0].prices.base_price,
  }
}

test.each([
  ['JPY', 100_001, '2027-01-02', { price: 3226, fee: 323, deposit: 1001 }],
  ['HUF', 100_001, '2027-01-02', { price: 3225.84, fee: 322.58, deposit: 1000.55 }],
  ['KWD', 1.234, '2027-02-01', { price: 1.234, fee: 0.123, deposit: 1000.55 }],
  ['BHD', 0.001, '2027-02-01', { price: 0.001, fee: 0, deposit: 1000.55 }],
  ['CLF', 1.00005, '2027-02-01', { price: 1.0001, fee: 0.1, deposit: 1000.55 }],
  ['IDR', 100_001, '2027-01-02', { price: 3225.84, fee: 322.58, deposit: 1000.55 }],
  ['COP', 100_001, '2027-01-02', { price: 3225.84, fee: 322.58, deposit: 1000.55 }],
  ['XCG', 100_001, '2027-01-02', { price: 3225.84, fee: 322.58, deposit: 1000.55 }],
  ['BGN', 100_001, '2027-01-02', { price: 3225.84, fee: 322.58, deposit: 1000.55 }],
])(
  'amounts in %s are rounded to its minor units in every response, and the monthly price of %d stays as it was sent',
  async (code, monthly, checkout_at, { price, fee, deposit }) => {
    const extra_fees = [{ name: 'F', mandatory: 1, type: 'percent', sum: 10, frequency: 'once' }]
    const prices = { currency: code.toLowerCase(), security_deposit: 1000.55, extra_fees }
    const { created, detail, fed, stored } = await amountsOf(prices, monthly, checkout_at)
    const total = Number((price + fee).toFixed(4))
    expect(created).toMatchObject({
      currency: code,
      price,
      price_local: price,
      price_total: total,
      price_total_local: total,
      security_deposit: deposit,
      security_deposit_local: deposit,
    })
    expect(detail).toEqual({ currency: code, total, total_local: total, security_deposit: deposit })
    expect({ fed, stored }).toEqual({ fed: detail, stored: monthly })
  },
)

test('a listing without a currency is charged and rounded in DEFAULT_CURRENCY', async () => {
  const owner = await (await testApp({ DEFAULT_CURRENCY: 'KWD' })).actor()
  const own = await seedBooking(owner)
  const prices = { base_price: 1.2345 }
  await owner.send('PATCH', `/v1/listings/${own.listing_id}`, {
    body: { prices: { currency: null, extra_fees: [] }, room_types: [{ id: own.room_type_id, prices }] },
  })
  const stay = { checkin_at: '2027-01-01', checkout_at: '2027-02-01' }
  const { user_id, listing_id, room_type_id } = own
  const { body } = await owner.send('POST', '/v1/bookings', {
    body: { user_id, listing_id, room_type_id, ...stay },
  })
  const { currency, price, price_total } = body.data
  expect({ currency, price, price_total }).toEqual({ currency: 'KWD', price: 1.235, price_total: 1.235 })
})

test('a booking keeps its amounts when its currency leaves ISO 4217', async () => {
  const { created, detail } = await amountsOf({ currency: 'kwd' }, 1.234, '2027-02-01')
  const { booking_id } = created
  await bookingModel(service.live.db).updateOne(
    { owner_id: actor.hostId, id: booking_id },
    { currency: 'ZZZ' },
  )
  const { body } = await actor.send('GET', `/v1/integrations/provider_one/bookings/${booking_id}`)
  expect(body.data.Booking.pricing).toEqual({ ...detail, currency: 'ZZZ' })
})

test('no booking is refused for the wishes of a listing, and the description of each says so', async () => {
  const written = await actor.send('POST', '/v1/listings', {
    body: {
      name: 'House of wishes',
      bookings: { stay_min: 180, notice_min_days: 90, move_in_max_days: 1 },
      community: { age_min: 90, age_max: 99, gender: 'female' },
      room_types: [{ name: 'Room', max_occupancy: 0, available_at: '2099-01-01', gender: 'female' }],
    },
  })
  const refused = { listing_id: written.body.data.id, room_type_id: undefined, checkout_at: '2027-05-02' }
  const person = { first_name: 'Max', date_of_birth: '2010-01-01', gender: 'male' }
  const guest = await actor.send('POST', '/v1/users', { body: { ...person, email: 'max@example.com' } })
  expect((await create({ ...refused, user_id: guest.body.data.user_id })).status).toBe(201)
  const { schemas } = (await service.send('GET', '/openapi.json')).body.components
  const { bookings, community } = schemas.ListingCreate.properties
  const room = schemas.RoomTypeWrite.properties
  const wishes = {
    stay_min: bookings.properties.stay_min,
    notice_min_days: bookings.properties.notice_min_days,
    move_in_max_days: bookings.properties.move_in_max_days,
    age_min: community.properties.age_min,
    age_max: community.properties.age_max,
    gender_of_residents: community.properties.gender,
    gender_of_guests: room.gender,
    max_occupancy: room.max_occupancy,
    available_at: room.available_at,
  }
  for (const [name, { description }] of Object.entries(wishes))
    expect({ name, description }).toEqual({
      name,
      description: expect.stringContaining('no booking is checked'),
    })
})

test('a cancelled booking gives back what was subtracted for it, and nothing on nights that were written after it', async () => {
  const stay = { checkin_at: '2033-01-01', checkout_at: '2033-01-03' }
  const nights = { start_date: '2033-01-01', end_date: '2033-01-02' }
  const of = { listing_id, room_type_id }
  const write = (available: number, range = nights) =>
    actor.send('POST', '/v1/integrations/provider_one/availability', {
      body: { data: [{ ...of, ...range, available }] },
    })
  const left = async () => {
    const query = new URLSearchParams({
      listing_id: `${listing_id}`,
      room_type_id: `${room_type_id}`,
      ...nights,
    })
    const { body } = await actor.send('GET', `/v1/integrations/provider_one/availability/nights?${query}`)
    return body.data.nights[listing_id][room_type_id].map((night: { left: number }) => night.left)
  }
  await write(2)
  const made = await create(stay)
  expect(await left()).toEqual([1, 1])
  await write(1, { start_date: '2033-01-01', end_date: '2033-01-01' })
  expect(await left()).toEqual([1, 1])
  await actor.send('POST', `/v1/bookings/${made.body.data.booking_id}/cancel`, { body: {} })
  expect(await left()).toEqual([1, 2])
})

test('POST /v1/bookings stores its message as the first message of the guest', async () => {
  const stored = await messageModel(service.live.db)
    .find({ owner_id: actor.hostId, booking_id: seeded.booking_id })
    .lean()
  expect(stored).toMatchObject([{ sender: 'guest', sender_name: 'María José García-López', is_seen: false }])
})

test('POST /v1/bookings accepts ids as digit strings and dates in the past', async () => {
  const { status, body } = await create({
    user_id: String(user_id),
    listing_id: String(listing_id),
    room_type_id: String(room_type_id),
    checkin_at: '2020-02-28',
    checkout_at: '2020-03-01',
  })
  expect({ status, nights: body.data.nights, user_id: body.data.user_id }).toEqual({
    status: 201,
    nights: 2,
    user_id,
  })
})

test.each([
  [{ user_id: undefined }, 'user_id', 'required'],
  [{ user_id: null }, 'user_id', 'required'],
  [{ user_id: '' }, 'user_id', 'required'],
  [{ user_id: 0 }, 'user_id', 'invalid'],
  [{ user_id: 1.5 }, 'user_id', 'invalid'],
  [{ user_id: 'abc' }, 'user_id', 'invalid'],
  [{ user_id: '9007199254740992' }, 'user_id', 'invalid'],
  [{ user_id: { $gt: 0 } }, 'user_id', 'invalid'],
  [{ user_id: 999_999_999 }, 'user_id', 'invalid'],
  [{ listing_id: 999_999_999 }, 'listing_id', 'invalid'],
  [{ room_type_id: 999_999_999 }, 'room_type_id', 'invalid'],
  [{ room_type_id: undefined }, 'room_type_id', 'required'],
  [{ checkin_at: undefined }, 'checkin_at', 'required'],
  [{ checkin_at: ' ' }, 'checkin_at', 'required'],
  [{ checkin_at: '2027-02-29' }, 'checkin_at', 'invalid'],
  [{ checkin_at: '2027-5-1' }, 'checkin_at', 'invalid'],
  [{ checkout_at: '2027-05-01' }, 'checkout_at', 'invalid'],
  [{ checkout_at: '2027-04-30' }, 'checkout_at', 'invalid'],
  [{ checkout_at: '2030-05-01' }, 'checkout_at', 'max'],
  [{ message: 'm'.repeat(5001) }, 'message', 'max'],
  [{ message: 5 }, 'message', 'invalid'],
])('POST /v1/bookings with %j responds 422 at %s, %s, and creates nothing', async (change, path, code) => {
  const before = await bookingModel(service.live.db).countDocuments({ owner_id: actor.hostId })
  const { status, body } = await create(change)
  expect(status).toBe(422)
  expect(body.error.errors).toMatchObject([{ path, code }])
  expect(await bookingModel(service.live.db).countDocuments({ owner_id: actor.hostId })).toBe(before)
})

test.each(['user_id', 'listing_id', 'room_type_id'] as const)(
  'POST /v1/bookings with another host’s %s gets the response of an unknown id',
  async (field) => {
    const foreign = await seedBooking(await service.actor())
    const response = await create({ [field]: foreign[field] })
    const unknown = await create({ [field]: 999_999_999 })
    expect(response.status).toBe(422)
    expect(response.body.error.errors).toEqual(unknown.body.error.errors)
  },
)

test('POST /v1/bookings for an inactive listing responds invalid at listing_id', async () => {
  await listingModel(service.live.db).updateOne({ id: listing_id }, { listing_status: 'inactive' })
  const refused = await create({})
  await listingModel(service.live.db).updateOne({ id: listing_id }, { listing_status: 'draft' })
  expect(refused.body.error.errors).toMatchObject([{ path: 'listing_id', code: 'invalid' }])
})

test('fifty concurrent bookings get unique versions that ascend in the feed', async () => {
  const crowd = await service.actor()
  const own = await seedBooking(crowd)
  const body = { ...valid, user_id: own.user_id, listing_id: own.listing_id, room_type_id: own.room_type_id }
  const responses = await Promise.all(
    Array.from({ length: 50 }, () => crowd.send('POST', '/v1/bookings', { body, repeatWhileBusy: true })),
  )
  expect(responses.every(({ status }) => status === 201)).toBe(true)
  const feed = await crowd.send('GET', '/v1/integrations/provider_one/bookings?per_page=100')
  const versions = feed.body.data.Bookings.map(({ version }: { version: string }) => version)
  expect(new Set(versions).size).toBe(51)
  expect(versions).toEqual([...versions].sort())
})

test('concurrent bookings that share a transaction count for each other', async () => {
  const crowd = await service.actor()
  const own = await seedBooking(crowd)
  const item = { listing_id: own.listing_id, room_type_id: own.room_type_id, available: 3 }
  const year = { start_date: '2028-01-01', end_date: '2028-12-31' }
  await crowd.send('POST', '/v1/integrations/provider_one/availability', {
    body: { data: [{ ...item, ...year }] },
  })
  const stay = { user_id: own.user_id, listing_id: own.listing_id, room_type_id: own.room_type_id }
  const stays = Array.from({ length: 9 }, (_, index) => ({
    ...stay,
    checkin_at: `2028-03-0${index + 1}`,
    checkout_at: '2028-04-11',
  }))
  const responses = await Promise.all(
    stays.map((body) => crowd.send('POST', '/v1/bookings', { body, repeatWhileBusy: true })),
  )
  const statuses = responses.map(({ status }) => status).sort()
  expect(statuses).toEqual([201, 201, 201, 422, 422, 422, 422, 422, 422])
  for (const { status, body } of responses)
    if (status === 422) expect(body.error.errors).toMatchObject([{ path: 'checkin_at', code: 'unavailable' }])
})

test('POST /v1/bookings reports unknown ids together, and malformed ids together with wrong dates', async () => {
  const unknown = await create({ user_id: 999_999_999, listing_id: 999_999_998 })
  expect(unknown.body.error.errors.map(({ path }: { path: string }) => path)).toEqual([
    'user_id',
    'listing_id',
  ])
  const both = await create({ user_id: 999_999_999, room_type_id: 999_999_998 })
  expect(both.body.error.errors.map(({ path }: { path: string }) => path)).toEqual([
    'user_id',
    'room_type_id',
  ])
  const shape = await create({ user_id: 'x', checkin_at: '2030-01-02', checkout_at: '2030-01-01' })
  expect(shape.body.error.errors.map(({ path }: { path: string }) => path)).toEqual([
    'user_id',
    'checkout_at',
  ])
})
