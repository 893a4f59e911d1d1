import { createHash, randomUUID } from 'node:crypto'
import { MongoClient } from 'mongodb'
import mongoose from 'mongoose'

/**
 * Returns the database operations of the reference servers: the minimum that yields the same bytes as the service, with
 * the same durability. Runs on Bun and on Node.
 *
 * A feed page is one query for the returned fields; the request contains its `pagination`, so nothing is counted. A
 * booking is one transaction with three inserts (booking, message and stored response) and invented ids; it uses no
 * clock, counts no units and looks nothing up. A rename is one update, and an availability write is one bulk write of
 * replacements. A majority acknowledges each write once it is in the journal. A page of listings is one query, whose
 * documents are sent unchanged.
 */
export async function openReferenceStore(environment: NodeJS.ProcessEnv) {
  const { MONGODB_URL = '', HOST_ID, API_KEY = '' } = environment
  const hostId = Number(HOST_ID)
  const majority = { w: 'majority', journal: true } as const
  const client = new MongoClient(MONGODB_URL, { readConcernLevel: 'majority', writeConcern: majority })
  await client.connect()
  const service = client.db()
  const own = client.db('reference')
  await own.collection('listings').createIndex({ id: 1 })
  await own.collection('availability').createIndex({ room_type_id: 1, date: 1 })
  const keys = own.collection<{ _id: string; host_id: number }>('keys')
  await keys.replaceOne({ _id: hashOf(API_KEY) }, { host_id: hostId }, { upsert: true })
  const changes = service.collection('bookings')
  const bookings = own.collection('bookings')
  const messages = own.collection('messages')
  const answers = own.collection<{ _id?: string; first?: boolean; body?: string }>('answers')
  for (const collection of [bookings, messages, answers]) await collection.insertOne({ first: true })
  let lastId = 0

  return {
    /** Returns the stored key or null, for the servers that check keys. */
    findKey: (key: string) => keys.findOne({ _id: hashOf(key) }),

    /** Reads a document by its id and returns it in the shape of `/v1/me`. */
    async point() {
      const host = await service.collection('hosts').findOne({ id: hostId })
      return envelope({
        name: host?.name,
        email: host?.email,
        created_at: timestamp(host?.created_at),
        last_login_at: '',
      })
    },

    /** Returns a page of changes after a version, with the given pagination. */
    async feedPage(query: URLSearchParams) {
      const after = new Date(`${query.get('updated_after')?.replace(' ', 'T')}Z`)
      const filter = { owner_id: hostId, updated_at: { $gt: after } }
      const rows = await changes
        .find(filter, { projection: shownOfChange })
        .sort({ updated_at: 1 })
        .limit(50)
        .toArray()
      const Bookings = rows.map((row) => ({
        booking_id: row.id,
        listing_id: row.listing_id,
        room_type_id: row.room_type_id,
        status: statusWords[row.status],
        checkin_at: row.checkin_at,
        checkout_at: row.checkout_at,
        version: timestamp(row.updated_at),
      }))
      return envelope({ Bookings }, { pagination: JSON.parse(query.get('pagination') ?? '{}') })
    },

    /** Returns the first 50 listings as they are stored. */
    async listingsPage() {
      const rows = await service
        .collection('listings')
        .find({ owner_id: hostId })
        .sort({ id: 1 })
        .limit(50)
        .toArray()
      return envelope(rows)
    },

    /** Stores a booking as it was sent, its message, and the response. */
    async createBooking({ message, ...sent }: Record<string, unknown>) {
      const now = new Date()
      lastId += 1
      const booking = {
        ...sent,
        ...priced,
        id: lastId,
        owner_id: hostId,
        special_requests: message,
        created_at: now,
      }
      const response = envelope({ ...booking, booking_id: lastId, updated_at: now })
      const text = { booking_id: lastId, text: message, sent_at: now }
      await client.withSession((session) =>
        session.withTransaction(async () => {
          await bookings.insertOne({ ...booking, updated_at: now }, { session })
          await messages.insertOne(text, { session })
          await answers.insertOne({ _id: randomUUID(), body: JSON.stringify(response) }, { session })
        }),
      )
      return response
    },

    /** Changes the name of a listing. */
    async rename(id: number, name: string) {
      await own
        .collection('listings')
        .updateOne({ id }, { $set: { 'content.name': name, updated_at: new Date() } })
      const links = { preview: `https://www.example.com/listings/${id}` }
      return { action: 'updated', ...envelope({ id, original_id: null, links }) }
    },

    /** Replaces the availability of single nights. */
    async replaceAvailability(items: Record<string, unknown>[]) {
      await own.collection('availability').bulkWrite(
        items.map((item) => ({
          replaceOne: {
            filter: { room_type_id: item.room_type_id, date: item.start_date },
            replacement: { ...item, date: item.start_date, updated_at: new Date() },
            upsert: true,
          },
        })),
        { ordered: false },
      )
      return { status: 'success', ...envelope({ processed: items.length }) }
    },
  }
}

export type ReferenceStore = Awaited<ReturnType<typeof openReferenceStore>>

/**
 * Returns a function that stores a keyed booking through mongoose, as the frameworks do. It looks up the claim, then
 * inserts booking, message and response in one transaction. It looks up no listing, price or guest and counts no units.
 */
export async function openKeyedBookings({ MONGODB_URL = '', HOST_ID }: NodeJS.ProcessEnv) {
  const host_id = Number(HOST_ID)
  const db = await mongoose
    .createConnection(MONGODB_URL, { writeConcern: { w: 'majority', journal: true }, autoIndex: false })
    .asPromise()
  const own = db.useDb(`reference_${randomUUID().slice(0, 8)}`)
  const anything = (fields: mongoose.SchemaDefinition) => new mongoose.Schema(fields, { strict: false })
  const bookings = own.model('bookings', anything({ id: Number }).index({ host_id: 1, id: 1 }))
  const messages = own.model('messages', anything({ booking_id: Number }).index({ booking_id: 1 }))
  const answers = own.model(
    'answers',
    anything({ claim: String, body: String }).index({ claim: 1 }, { unique: true }),
  )
  for (const model of [bookings, messages, answers]) {
    await model.createCollection()
    await model.createIndexes()
  }
  let lastId = 0
  return async (claim: string, { message, ...sent }: Record<string, unknown>) => {
    const earlier = await answers.findOne({ claim }).lean()
    if (earlier) return JSON.parse(String(earlier.body))
    const now = new Date()
    lastId += 1
    const booking = { ...sent, ...priced, id: lastId, host_id, special_requests: message, created_at: now }
    const response = envelope({ ...booking, booking_id: lastId, updated_at: now })
    await db.transaction(async (session) => {
      await bookings.create([{ ...booking, updated_at: now }], { session })
      await messages.create([{ booking_id: lastId, text: message, sent_at: now }], { session })
      await answers.create([{ claim, body: JSON.stringify(response) }], { session })
    })
    return response
  }
}

const statusWords = ['', 'pending', 'confirmed', 'cancelled']
const shownOfChange = {
  _id: 0,
  id: 1,
  listing_id: 1,
  room_type_id: 1,
  status: 1,
  checkin_at: 1,
  checkout_at: 1,
  updated_at: 1,
}
const priced = {
  nights: 31,
  status: 1,
  currency: 'EUR',
  decimal_places: 2,
  price_minor: 90_000,
  discount_minor: 0,
  price_total_minor: 90_000,
  security_deposit_minor: 0,
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

function timestamp(date: Date): string {
  return date.toISOString().slice(0, 19).replace('T', ' ')
}

function envelope(data: object, more: object = {}) {
  return { data, meta: { request_id: randomUUID(), ...more } }
}
