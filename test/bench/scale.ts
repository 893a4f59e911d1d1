import { createHash } from 'node:crypto'
import { keyModel } from '../../src/access/keys/model.ts'
import { systemClock } from '../../src/core/clock.ts'
import { readConfig } from '../../src/core/config.ts'
import { toVersion } from '../../src/host-clock/format.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'
import { openEmbeddedMongod } from '../../src/platform/mongo/server/embedded.ts'
import { openDatabase } from '../../src/process/open-context.ts'
import { type Actor, makeActor, sender } from '../support/app.ts'
import { fillBookings } from '../support/many-bookings.ts'
import { fillPortfolio } from '../support/portfolio.ts'
import { startService } from '../support/processes.ts'
import { startRedis } from '../support/redis.ts'
import { median, medianMilliseconds, timed, withDataDir } from './measure.ts'
import { atMost, type Row } from './table.ts'

/** The size of one host, and the number of keys of all hosts. */
interface Size {
  bookings: number
  listings: number
  keys: number
}

const small: Size = { bookings: 10_000, listings: 100, keys: 1000 }
const large: Size = { bookings: 1_000_000, listings: 10_000, keys: 100_000 }
const feedPath = '/v1/integrations/provider_one/bookings'

/** Compares a host with 1,000,000 bookings and 10,000 listings, beside 100,000 keys, to one a hundredth of the size. */
export async function scale(): Promise<Row[]> {
  const few = await measure(small)
  const many = await measure(large)
  const names = Object.keys(few) as (keyof typeof few)[]
  return names.map((name) =>
    atMost({
      work: `${name}, a hundred times as much: ${many[name].toFixed(1)} ms`,
      ratio: many[name] / few[name],
      limit: 1.5,
      result: `${(many[name] / few[name]).toFixed(2)} × ${few[name].toFixed(1)} ms`,
    }),
  )
}

/** Returns the duration of each kind of work in milliseconds. */
function measure(size: Size) {
  return withDataDir(async (dataDir) => {
    const [mongod, redis] = await Promise.all([openEmbeddedMongod(dataDir), startRedis()])
    const settings = { MONGODB_URL: mongod.url.replace('/?', '/partner?'), REDIS_URL: redis.url }
    const { db, close } = await openDatabase(readConfig(settings))
    const first = await startService(settings)
    const actor = await makeActor({ db, clock: systemClock }, sender(fetch, first.url), {
      rateLimit: 1_000_000_000,
    })
    await first.end('SIGTERM')
    const { lastVersion } = await fill(db, actor, size)
    const starts: number[] = []
    for (let round = 0; round < 5; round += 1) {
      const start = performance.now()
      const service = await startService(settings)
      starts.push(performance.now() - start)
      await service.end('SIGTERM')
    }
    const service = await startService(settings)
    const { send } = await withUrl(actor, service.url)
    const get = async (path: string) => {
      const { status } = await send('GET', path)
      if (status !== 200) throw new Error(`${path} responded ${status}`)
    }
    const idle = `${feedPath}?updated_after=${encodeURIComponent(toVersion(lastVersion))}`
    try {
      const firstPoll = await timed(() => get(feedPath))
      const warm = await medianMilliseconds(
        {
          'first page of the feed again': () => get(feedPath),
          'idle poll': () => get(idle),
          'first page of listings': () => get('/v1/listings'),
          'listing page in the middle': () => get(`/v1/listings?page=${Math.floor(size.listings / 100)}`),
        },
        100,
      )
      return { start: median(starts), 'first poll after the start': firstPoll, ...warm }
    } finally {
      await service.end('SIGTERM')
      await close()
      await Promise.all([redis.stop(), mongod.close()])
    }
  })
}

function withUrl({ key }: Actor, url: string) {
  const send = sender(fetch, url)
  return { send: (method: string, path: string) => send(method, path, { key }) }
}

async function fill(db: Db, { hostId }: Actor, { bookings, listings, keys }: Size) {
  await fillPortfolio(db, hostId, listings, 1_000_000)
  for (let start = 0; start < keys; start += 10_000) {
    const documents = Array.from({ length: Math.min(10_000, keys - start) }, (_, at) =>
      keyDocument(start + at),
    )
    await keyModel(db).collection.insertMany(documents)
  }
  return fillBookings(db, hostId, bookings)
}

/** Returns the document of another host's key. */
function keyDocument(index: number) {
  const hash = createHash('sha256').update(String(index)).digest('hex')
  return {
    id: 1_000_000 + index,
    host_id: 1_000_000 + (index % 5000),
    name: 'Key',
    permissions: ['bookings.read'],
    secrets: [{ hash, prefix: hash.slice(0, 12), expires_at: null }],
    active: true,
    revoked_at: null,
    expires_at: null,
    rate_limit: null,
    usage_count: 0,
    last_used_at: null,
    addresses: [],
    created_at: new Date(),
  }
}
