import { type Actor, seedBooking, type TestResponse } from './app.ts'
import { readFixture } from './fixtures.ts'

/** A request whose round trips are counted. */
export interface Trip {
  name: string
  /** The most round trips in sequence that the request should take with Redis, with a share for computing. */
  aim: number
}

/** How much longer than its aim a request may take without Redis. */
export const allowedWithoutRedis = 0.2

/** The requests in the order of the bench's table. `prepareTrips` has a function for each. */
export const trips = {
  me: { name: 'GET /v1/me', aim: 1.2 },
  feedPage: { name: 'feed page', aim: 1.3 },
  idlePoll: { name: 'idle poll', aim: 1.3 },
  bookingDetail: { name: 'booking detail', aim: 1.3 },
  listingsPage: { name: 'listings page', aim: 1.3 },
  listing: { name: 'one listing', aim: 1.3 },
  replay: { name: 'replay of a keyed booking', aim: 1.3 },
  keyedBooking: { name: 'keyed booking', aim: 6.5 },
  keyedBookingWithMessage: { name: 'keyed booking with a message', aim: 7.5 },
  booking: { name: 'booking without a key', aim: 5.5 },
  message: { name: 'message', aim: 6 },
  rename: { name: "PATCH of a listing's name", aim: 3 },
  matchingListing: { name: 'matching POST /v1/listings, keyed', aim: 6.5 },
  availability: { name: 'availability, one item, keyed', aim: 7 },
  rates: { name: 'rates, one item', aim: 4.5 },
  health: { name: 'GET /v1/health', aim: 2.5 },
} satisfies Record<string, Trip>

export type TripName = keyof typeof trips

/** What a request may cost: first with Redis, then without. */
export interface Budget {
  /** Round trips in sequence, to MongoDB or Redis. */
  sequence: [withRedis: number, alone: number]
  /** Commands to MongoDB. */
  commands: [withRedis: number, alone: number]
}

/** What each request costs, exactly: `test/performance/trips.test.ts` also fails if one takes less. */
export const budgets: Record<TripName, Budget> = {
  me: { sequence: [1, 0], commands: [0, 0] },
  feedPage: { sequence: [1, 1], commands: [1, 1] },
  idlePoll: { sequence: [1, 1], commands: [1, 1] },
  bookingDetail: { sequence: [1, 1], commands: [1, 1] },
  listingsPage: { sequence: [1, 1], commands: [2, 2] },
  listing: { sequence: [1, 1], commands: [1, 1] },
  replay: { sequence: [1, 1], commands: [3, 3] },
  keyedBooking: { sequence: [6, 6], commands: [8, 8] },
  keyedBookingWithMessage: { sequence: [7, 7], commands: [9, 9] },
  booking: { sequence: [5, 5], commands: [6, 6] },
  message: { sequence: [5, 5], commands: [6, 6] },
  rename: { sequence: [2, 1], commands: [1, 1] },
  matchingListing: { sequence: [5, 5], commands: [6, 6] },
  availability: { sequence: [6, 6], commands: [9, 9] },
  rates: { sequence: [4, 4], commands: [4, 4] },
  health: { sequence: [1, 1], commands: [6, 6] },
}

const provider = '/v1/integrations/provider_one'

/** Gives a host what the requests need, and returns a function that sends each. */
export async function prepareTrips(actor: Actor): Promise<Record<TripName, () => Promise<TestResponse>>> {
  const { user_id, listing_id, room_type_id, booking_id } = await seedBooking(actor)
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const room = { listing_id, room_type_id }
  const house = await readFixture('listings/barcelona-house')
  const get = (path: string) => () => actor.send('GET', path)
  const post = (path: string, body: () => object) => () => actor.send('POST', path, { body: body() })
  const postKeyed = (path: string, body: () => object) => () =>
    actor.send('POST', path, { body: body(), headers: { 'idempotency-key': crypto.randomUUID() } })
  const units = { ...room, available: 1000, start_date: '2031-01-01', end_date: '2031-01-31' }
  await actor.send('POST', `${provider}/availability`, { body: { data: [units] } })
  const replayed = { body: stay, headers: { 'idempotency-key': crypto.randomUUID() } }
  await actor.send('POST', '/v1/bookings', replayed)
  const feed = await actor.send('GET', `${provider}/bookings`)
  const last = encodeURIComponent(feed.body.data.Bookings.at(-1).version)
  let count = 0
  const next = () => {
    count += 1
    return count
  }
  return {
    me: get('/v1/me'),
    feedPage: get(`${provider}/bookings`),
    idlePoll: get(`${provider}/bookings?updated_after=${last}`),
    bookingDetail: get(`${provider}/bookings/${booking_id}`),
    listingsPage: get('/v1/listings'),
    listing: get(`/v1/listings/${listing_id}`),
    replay: () => actor.send('POST', '/v1/bookings', replayed),
    keyedBooking: postKeyed('/v1/bookings', () => stay),
    keyedBookingWithMessage: postKeyed('/v1/bookings', () => ({ ...stay, message: 'Is there a desk?' })),
    booking: post('/v1/bookings', () => stay),
    message: post(`/v1/bookings/${booking_id}/messages`, () => ({ message: { text: `Hello ${next()}` } })),
    rename: () => actor.send('PATCH', `/v1/listings/${listing_id}`, { body: { name: `House ${next()}` } }),
    matchingListing: postKeyed('/v1/listings', () => ({ ...house, name: `House ${next()}` })),
    availability: postKeyed(`${provider}/availability`, () => ({
      data: [{ ...room, available: 5 + (next() % 5), start_date: '2035-01-01', end_date: '2035-01-31' }],
    })),
    rates: post(`${provider}/rates`, () => ({
      data: [{ ...room, base_price: 500 + (next() % 100), currency: 'EUR' }],
    })),
    health: get('/v1/health'),
  }
}
