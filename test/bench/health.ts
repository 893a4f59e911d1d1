import { mintKey } from '../../src/access/keys/store.ts'
import { addDays, systemClock, toDay } from '../../src/core/clock.ts'
import { toVersion } from '../../src/host-clock/format.ts'
import { permissions } from '../../src/http/permissions.ts'
import { availabilityWrittenModel } from '../../src/inventory/availability/model.ts'
import { calendarModel, type StoredCalendar } from '../../src/inventory/calendars/model.ts'
import { listingModel } from '../../src/inventory/listings/model.ts'
import { listingStatuses } from '../../src/inventory/listings/schema.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'
import { makeActor, sender } from '../support/app.ts'
import { fillBookings } from '../support/many-bookings.ts'
import { fillPortfolio } from '../support/portfolio.ts'
import { timed } from './measure.ts'
import { withService } from './service.ts'
import { atMost, type Row } from './table.ts'

const bookings = 100_000
const listings = 1000
/** Number of rooms with a calendar in each room type, and of ranges of nights that each calendar blocks. */
const calendarsPerRoomType = 2
const rangesPerCalendar = 60
/** A key may ask for its health 60 times a minute, so several keys of the host take turns. */
const keys = 10
const warmUpRounds = 8
const rounds = 50
/** Time after which the positions in the feeds are stored. */
const flushMilliseconds = 2500

/** Measures `GET /v1/health` of a host with many bookings, listings and calendars beside a feed page of one booking. */
export function health(): Promise<Row[]> {
  return withService(async ({ db, service }) => {
    const send = sender(fetch, service.url)
    const { hostId } = await makeActor({ db, clock: systemClock }, send)
    const { lastVersion } = await fillBookings(db, hostId, bookings)
    await fillPortfolio(db, hostId, listings, 1_000_000)
    await publishWithPrices(db, hostId)
    await limitNights(db, hostId)
    const readTo = toVersion(new Date(lastVersion.getTime() - 400_000))
    const page = `/v1/integrations/provider_one/bookings?per_page=1&updated_after=${encodeURIComponent(readTo)}`
    const readers = await Promise.all(Array.from({ length: keys }, () => newKey(db, hostId)))
    const get = async (key: string, path: string) => {
      const { status, text } = await send('GET', path, { key })
      if (status !== 200) throw new Error(`${path} responded ${status}: ${text}`)
    }
    for (const key of readers) await get(key, page)
    await Bun.sleep(flushMilliseconds)
    const times = { health: [] as number[], page: [] as number[] }
    for (let round = 0; round < warmUpRounds + rounds; round += 1)
      for (const key of readers) {
        const ofHealth = await timed(() => get(key, '/v1/health'))
        const ofPage = await timed(() => get(key, page))
        if (round < warmUpRounds) continue
        times.health.push(ofHealth)
        times.page.push(ofPage)
      }
    const work = 'GET /v1/health, 100,000 bookings, 1,000 listings, 2,000 calendars'
    const ratio = at(times.health, 0.5) / at(times.page, 0.5)
    const result = `p50 ${at(times.health, 0.5).toFixed(2)} ms, ${ratio.toFixed(2)} × a feed page of one`
    return [
      { work, server: 'partner', connections: 1, result },
      atMost({ work, ratio: at(times.health, 0.95), limit: 20, of: 'ms at p95' }),
      { work: 'a feed page of one, in the same run', result: `p95 ${at(times.page, 0.95).toFixed(2)} ms` },
    ]
  })
}

function at(times: number[], share: number): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length * share)] as number
}

async function newKey(db: Db, host: number): Promise<string> {
  const limits = { permissions: [...permissions], rateLimit: 1_000_000_000 }
  const { key } = await mintKey(db, systemClock, { host, name: 'Reader', ...limits })
  return key
}

/** Publishes a host's listings and gives each room type a price, so that all are looked at and none is found. */
async function publishWithPrices(db: Db, owner_id: number): Promise<void> {
  const { collection } = listingModel(db)
  const found = await collection
    .find({ owner_id }, { projection: { id: 1, 'content.room_types.id': 1 } })
    .toArray()
  const writes = found.map(({ id, content }) => {
    const priced = content.room_types.map((roomType: { id: number }) => [roomType.id, { base_price: 700 }])
    const prices = Object.fromEntries(priced)
    const status_rank = listingStatuses.indexOf('published')
    const update = { $set: { prices, status_rank, listing_status: 'published' as const } }
    return { updateOne: { filter: { owner_id, id }, update } }
  })
  await collection.bulkWrite(writes)
}

/** Gives each room type availability and calendars that have been read well, so that all are looked at and none is found. */
async function limitNights(db: Db, owner_id: number): Promise<void> {
  const found = await listingModel(db).collection.find({ owner_id }).toArray()
  const roomTypes = found.flatMap(({ id, content }) =>
    content.room_types.map((roomType: { id: number }) => ({ listing_id: id, room_type_id: roomType.id })),
  )
  await availabilityWrittenModel(db).collection.insertMany(
    roomTypes.map(({ room_type_id }) => ({
      owner_id,
      room_type_id,
      rows: 1,
      asked_at: 0,
      sequence: 1,
      newest_as_of: null,
      last_day: '2049-12-31',
    })),
  )
  const calendars = roomTypes.flatMap((roomType) =>
    Array.from({ length: calendarsPerRoomType }, (_, at) =>
      calendarOf(owner_id, { ...roomType, room_id: roomType.room_type_id * calendarsPerRoomType + at }),
    ),
  )
  await calendarModel(db).collection.insertMany(calendars)
}

function calendarOf(
  owner_id: number,
  room: Pick<StoredCalendar, 'listing_id' | 'room_type_id' | 'room_id'>,
): StoredCalendar {
  const now = new Date()
  const far = new Date(now.getTime() + 86_400_000)
  const ranges = Array.from({ length: rangesPerCalendar }, (_, at) => ({
    from: addDays(toDay(now), at * 10),
    to: addDays(toDay(now), at * 10 + 4),
  }))
  return {
    owner_id,
    ...room,
    url: 'https://calendars.example.com/room.ics',
    origin: 'https://calendars.example.com',
    is_inactive: false,
    is_limited: false,
    set_at: now,
    status: 'ok',
    error: null,
    response_status: 200,
    read_at: now,
    changed_at: now,
    attempted_at: now,
    next_read_at: far,
    failures: 0,
    hold_since: null,
    claim: null,
    claimable_at: far,
    etag: null,
    last_modified: null,
    full_read_at: now,
    refresh_seconds: null,
    has_been_read: true,
    events: { read: rangesPerCalendar, blocking: rangesPerCalendar, skipped: 0 },
    skipped: [],
    conflicts: [],
    is_noted: false,
    blocks: ranges.map(({ from, to }) => ({
      start_date: from,
      end_date: addDays(to, 1),
      seen_at: now,
      is_gone: false,
    })),
    nights: ranges.map((range) => ({ ...range, sequence: 1, at: now })),
    missing: [],
  }
}
