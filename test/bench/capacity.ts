import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { addDays, systemClock } from '../../src/core/clock.ts'
import { readConfig } from '../../src/core/config.ts'
import { toVersion } from '../../src/host-clock/format.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'
import { serverVersion } from '../../src/platform/mongo/connection.ts'
import { openEmbeddedMongod } from '../../src/platform/mongo/server/embedded.ts'
import { openDatabase } from '../../src/process/open-context.ts'
import { type Actor, makeActor, seedBooking, sender } from '../support/app.ts'
import { readFixture } from '../support/fixtures.ts'
import { startService } from '../support/processes.ts'
import { startRedis } from '../support/redis.ts'
import {
  afterEverything,
  compare,
  type Load,
  manyConnections,
  residentMebibytes,
  type Target,
} from './load.ts'
import { withDataDir } from './measure.ts'
import type { Row } from './table.ts'

const provider = '/v1/integrations/provider_one'
const rounds = 5
const hosts = 100
/** Number of held requests per key. */
const heldPerKey = 5
const storedListings = 1000

type Host = Actor & Awaited<ReturnType<typeof seedBooking>>

/** Measures, in absolute numbers, the load that one process, its database and its disk can handle on this machine. */
export function capacity(): Promise<Row[]> {
  return withDataDir(async (dataDir) => {
    const [mongod, redis] = await Promise.all([openEmbeddedMongod(dataDir), startRedis()])
    const { pid } = await Bun.file(join(dataDir, 'mongod.json')).json()
    const settings = { MONGODB_URL: mongod.url.replace('/?', '/partner?'), REDIS_URL: redis.url }
    const { db, close } = await openDatabase(readConfig(settings))
    const others = await connections(db)
    const service = await startService(settings)
    const idle = (await connections(db)) - others
    const all: Host[] = []
    for (let count = 0; count < hosts; count += 1) {
      const store = { db, clock: systemClock }
      const actor = await makeActor(store, sender(fetch, service.url), { rateLimit: 1_000_000_000 })
      all.push({ ...actor, ...(await seedBooking(actor)) })
    }
    const target = (path: string, init: Target['init']): Target => {
      return { url: service.url + path, init, pids: [service.pid], stores: [pid, redis.pid] }
    }
    try {
      const machine = `${cpus().length} × ${cpus()[0]?.model}, ${(totalmem() / 1024 ** 3).toFixed(0)} GiB`
      return [
        { work: 'seen on', result: `${machine}; MongoDB ${await serverVersion(db)}, Bun ${Bun.version}` },
        await held(all, service),
        ...(await requests(all, target)),
        ...(await bytes(db, all, target)),
        {
          work: 'database connections of a process',
          result: `${idle} idle, ${(await connections(db)) - others} after this load`,
        },
      ]
    } finally {
      await service.stop()
      await close()
      await Promise.all([redis.stop(), mongod.close()])
    }
  })
}

type Ask = (path: string, init: Target['init']) => Target

/** Measures each kind of request: requests per second in total, and per core of the service. */
async function requests(all: Host[], target: Ask): Promise<Row[]> {
  const get = (path: (host: Host) => string) => {
    // A target has only one URL, so all reads are for the same host.
    const [host] = all as [Host]
    return target(path(host), () => ({ headers: { 'x-api-key': host.key } }))
  }
  const newest = encodeURIComponent(toVersion(new Date(Date.now() + 86_400_000)))
  const kinds: Record<string, Target> = {
    'GET /v1/me': get(() => '/v1/me'),
    'poll without news': get(() => `${provider}/bookings?updated_after=${newest}`),
    'feed page of 50': get(() => `${provider}/bookings`),
    'booking in full': get(({ booking_id }) => `${provider}/bookings/${booking_id}`),
    'listing in full': get(({ listing_id }) => `/v1/listings/${listing_id}`),
    'PATCH of a listing': target(`/v1/listings/${all[0]?.listing_id}`, (count) =>
      sending(all[0] as Host, { name: `House ${count}` }, 'PATCH'),
    ),
    'availability, 100 items': target(`${provider}/availability`, (count) => nights(all, count)),
    'keyed booking': target('/v1/bookings', (count) => booking(all, count)),
  }
  // Creates bookings first, so that the pages measured below are full.
  await compare({ bookings: kinds['keyed booking'] as Target }, rounds * 4)
  const rows: Row[] = []
  for (const [work, kind] of Object.entries(kinds)) {
    const { load } = (await compare({ load: kind }, rounds)) as { load: Load }
    const stores = ((load.cpuOfAll - load.cpu) / 1000).toFixed(2)
    const result = `${(1e6 / load.cpu).toFixed(0)}/s a core of the service, ${stores} ms of the stores`
    rows.push({ work, connections: manyConnections, load, result })
  }
  return rows
}

/** Measures the memory that a request takes while it waits for a change. */
async function held(all: Host[], { url, pid }: { url: string; pid: number }): Promise<Row> {
  // A new process's memory grows with its first requests, whether or not they are held.
  for (let round = 0; round < 20; round += 1)
    await Promise.all(all.map((host) => host.send('GET', `${provider}/bookings`)))
  await Bun.sleep(3000)
  const before = await residentMebibytes([pid])
  const ending = new AbortController()
  let answered = 0
  const waits = all.flatMap(({ key }) =>
    Array.from({ length: heldPerKey }, () =>
      fetch(`${url}${provider}/bookings?updated_after=${afterEverything()}&wait=30`, {
        headers: { 'x-api-key': key },
        signal: ending.signal,
      }).then(
        () => (answered += 1),
        () => {},
      ),
    ),
  )
  await Bun.sleep(5000)
  const kibibytes = (((await residentMebibytes([pid])) - before) * 1024) / waits.length
  if (answered > 0) throw new Error(`${answered} requests were not held`)
  ending.abort()
  await Promise.all(waits)
  return { work: 'held request', result: `${kibibytes.toFixed(0)} KiB of memory, ${waits.length} held` }
}

/** Measures the size of documents and their indexes, in bytes before compression. */
async function bytes(db: Db, all: Host[], target: Ask): Promise<Row[]> {
  const first = await sizes(db)
  const listing = await readFixture('listings/tokyo-share-house')
  for (let count = 0; count < storedListings; count += 1) {
    const host = all[count % hosts] as Host
    await host.send('POST', '/v1/listings', { body: { ...listing, original_id: `house-${count}` } })
  }
  const second = await sizes(db)
  const made = target('/v1/bookings', (count) => booking(all, count))
  await compare({ made }, rounds * 4)
  // The request log is written every 1.5 s.
  await Bun.sleep(3000)
  const third = await sizes(db)
  const bookings = {
    before: second,
    after: third,
    per: countOf(third, 'bookings') - countOf(second, 'bookings'),
  }
  const logged = {
    before: second,
    after: third,
    per: countOf(third, 'requests') - countOf(second, 'requests'),
  }
  return [
    row('a listing of 3 room types', ['listings'], { before: first, after: second, per: storedListings }),
    row('a booking with its message', ['bookings', 'conversations', 'messages'], bookings),
    row('its stored response, for a day', ['stored_responses'], bookings),
    row('a logged request', ['requests'], logged),
  ]
}

/** The number of documents, their bytes and their indexes' bytes, by collection name. */
type Sizes = Map<string, { count: number; size: number; indexes: number }>

async function sizes(db: Db): Promise<Sizes> {
  // Reported index sizes are as of the last checkpoint.
  await db.getClient().db('admin').command({ fsync: 1 })
  const all: Sizes = new Map()
  for (const { collectionName: name } of (await db.db?.collections()) ?? []) {
    const stats = await db.db?.command({ collStats: name })
    all.set(name, { count: stats?.count, size: stats?.size, indexes: stats?.totalIndexSize })
  }
  return all
}

const countOf = (of: Sizes, name: string) => of.get(name)?.count ?? 0

function row(
  work: string,
  names: string[],
  { before, after, per }: { before: Sizes; after: Sizes; per: number },
): Row {
  const grown = (field: 'size' | 'indexes') =>
    names.reduce((sum, name) => sum + (after.get(name)?.[field] ?? 0) - (before.get(name)?.[field] ?? 0), 0) /
    per
  const result = `${grown('size').toFixed(0)} + ${grown('indexes').toFixed(0)} bytes of data and indexes`
  return { work, result }
}

/** Returns the number of open connections to the database. */
async function connections(db: Db): Promise<number> {
  return Number((await db.getClient().db('admin').command({ serverStatus: 1 })).connections.current)
}

function booking(all: Host[], count: number): RequestInit {
  const host = all[count % hosts] as Host
  const { user_id, listing_id, room_type_id } = host
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  return sending(host, { ...stay, message: 'Is a desk in the room?' })
}

function nights(all: Host[], count: number): RequestInit {
  const host = all[count % hosts] as Host
  const { listing_id, room_type_id } = host
  const data = Array.from({ length: 100 }, (_, night) => {
    const date = addDays('2033-01-01', night)
    return { listing_id, room_type_id, available: (count + night) % 5, start_date: date, end_date: date }
  })
  return sending(host, { data })
}

function sending({ key }: Host, body: object, method = 'POST'): RequestInit {
  const headers = {
    'x-api-key': key,
    'content-type': 'application/json',
    'idempotency-key': crypto.randomUUID(),
  }
  return { method, headers, body: JSON.stringify(body) }
}
