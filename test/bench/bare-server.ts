import { Redis } from 'ioredis'
import { MongoClient } from 'mongodb'
import { hitScript, type RateLimitCommands } from '../../src/platform/redis/rate-limiter.ts'

/**
 * The reference for the service: nothing but `Bun.serve` and the native driver, with the same query and the
 * same bytes sent. No key, no rate limit, no validation, no log.
 *
 * Environment: `MONGODB_URL` with the database, `REDIS_URL`, `HOST_ID`. Prints its address.
 */
const { MONGODB_URL = '', REDIS_URL = '', HOST_ID } = process.env
const hostId = Number(HOST_ID)
const majority = { w: 'majority', journal: true } as const
const client = new MongoClient(MONGODB_URL, {
  readConcern: { level: 'majority' },
  writeConcern: majority,
})
const db = (await client.connect()).db()
const redis = new Redis(REDIS_URL, { scripts: { hitWindow: { lua: hitScript, numberOfKeys: 2 } } }) as Redis &
  RateLimitCommands
const json = { headers: { 'content-type': 'application/json' } }
const meta = () => ({ request_id: crypto.randomUUID() })
const bookings = db.collection('bookings')
const listings = db.collection('listings')
const statusWords = ['', 'pending', 'confirmed', 'cancelled']
const seconds = (date: Date) => date.toISOString().slice(0, 19).replace('T', ' ')

async function feed(query: URLSearchParams) {
  const updatedAfter = new Date(`${query.get('updated_after')?.replace(' ', 'T')}Z`)
  const rows = await bookings
    .find({ host_id: hostId, updated_at: { $gt: updatedAfter } })
    .project({
      _id: 0,
      id: 1,
      listing_id: 1,
      room_type_id: 1,
      status: 1,
      checkin_at: 1,
      checkout_at: 1,
      updated_at: 1,
    })
    .sort({ updated_at: 1 })
    .limit(51)
    .toArray()
  const items = rows.slice(0, 50).map((row) => ({
    booking_id: row.id,
    listing_id: row.listing_id,
    room_type_id: row.room_type_id,
    status: statusWords[row.status],
    checkin_at: row.checkin_at,
    checkout_at: row.checkout_at,
    version: seconds(row.updated_at),
  }))
  return items
}

async function feedPage(query: URLSearchParams) {
  const items = await feed(query)
  const total = items.length
  const pagination = {
    current_page: 1,
    per_page: 50,
    total,
    last_page: 1,
    from: 1,
    to: total,
    next_cursor: null,
  }
  return { data: { Bookings: items }, meta: { ...meta(), pagination } }
}

async function listingsPage() {
  const [total, rows] = await Promise.all([
    listings.countDocuments({ host_id: hostId }),
    listings
      .find({ host_id: hostId })
      .project({
        id: 1,
        unique_id: 1,
        listing_status: 1,
        updated_at: 1,
        'content.original_id': 1,
        'content.name': 1,
        'content.room_types.id': 1,
        'content.room_types.name': 1,
        'content.room_types.rooms.id': 1,
        'content.room_types.rooms.name': 1,
      })
      .sort({ status_rank: 1, name_key: 1, updated_at: -1, id: 1 })
      .limit(50)
      .toArray(),
  ])
  const data = rows.map(({ content, updated_at, _id, ...row }) => ({
    ...row,
    original_id: content.original_id,
    name: content.name,
    updated_at: `${updated_at.toISOString().slice(0, -1)}000Z`,
    room_types: content.room_types,
  }))
  const pagination = {
    current_page: 1,
    per_page: 50,
    total,
    last_page: Math.ceil(total / 50),
    from: 1,
    to: 50,
  }
  return { data, meta: { ...meta(), pagination } }
}

/** One transaction with the writes of a keyed booking (clock, booking, stored response), after the one of its id. */
async function createBooking(body: Record<string, unknown>) {
  const taken = await db
    .collection<{ _id: string; value: number }>('sequences')
    .findOneAndUpdate({ _id: 'booking' }, { $inc: { value: 1 } }, { returnDocument: 'after' })
  const id = taken?.value
  return client.withSession((session) =>
    session.withTransaction(
      async () => {
        const clock = await db
          .collection<{ _id: number; last: number }>('host_clocks')
          .findOneAndUpdate(
            { _id: hostId },
            { $inc: { last: 1, sequence: 1 } },
            { session, returnDocument: 'after' },
          )
        const at = new Date((clock?.last ?? 0) * 1000)
        const booking = {
          ...body,
          id,
          host_id: hostId,
          nights: 31,
          status: 1,
          currency: 'EUR',
          price_cents: 90_000,
          discount_cents: 0,
          price_total_cents: 90_000,
          security_deposit_cents: 0,
          special_requests: null,
          cancellation_reason: null,
          confirmed_at: null,
          canceled_at: null,
          created_sequence: 1,
          created_at: at,
          updated_at: at,
        }
        await bookings.insertOne(booking, { session })
        const response = { data: booking, meta: meta() }
        await db.collection('idempotency_answers').insertOne(
          {
            key_id: -1,
            endpoint: 'bare',
            idempotency_key: crypto.randomUUID(),
            fingerprint: 'bare',
            status: 201,
            body: JSON.stringify(response),
            expires_at: new Date(Date.now() + 86_400_000),
          },
          { session },
        )
        return response
      },
      { readConcern: { level: 'snapshot' }, writeConcern: majority, readPreference: 'primary' },
    ),
  )
}

const me = { name: 'Bench', email: 'bench@example.com', created_at: seconds(new Date()), last_login_at: '' }

async function respond(request: Request): Promise<object> {
  const url = new URL(request.url)
  if (url.pathname === '/feed') return feedPage(url.searchParams)
  if (url.pathname === '/listings') return listingsPage()
  if (url.pathname === '/bookings') return createBooking((await request.json()) as Record<string, unknown>)
  if (url.pathname === '/me-with-redis') await redis.hitWindow('bare', 'epoch:bare', 1_000_000, 60_000, 1)
  return { data: me, meta: meta() }
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async (request) => new Response(JSON.stringify(await respond(request)), json),
})
console.log(server.url.origin)
