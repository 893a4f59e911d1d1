import { mintKey } from '../../src/access/keys/store.ts'
import { systemClock } from '../../src/core/clock.ts'
import { toVersion } from '../../src/host-clock/format.ts'
import { permissions } from '../../src/http/permissions.ts'
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
/** A key may ask for its health 60 times a minute, so several keys of the host take turns. */
const keys = 10
const warmUpRounds = 8
const rounds = 50
/** Time after which the positions in the feeds are stored. */
const flushMilliseconds = 2500

/** Measures `GET /v1/health` of a host with many bookings and listings beside a feed page of one booking. */
export function health(): Promise<Row[]> {
  return withService(async ({ db, service }) => {
    const send = sender(fetch, service.url)
    const { hostId } = await makeActor({ db, clock: systemClock }, send)
    const { lastVersion } = await fillBookings(db, hostId, bookings)
    await fillPortfolio(db, hostId, listings, 1_000_000)
    await publishWithPrices(db, hostId)
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
    const work = 'GET /v1/health, 100,000 bookings, 1,000 listings'
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
