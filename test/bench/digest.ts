import { systemClock } from '../../src/core/clock.ts'
import { readConfig } from '../../src/core/config.ts'
import { openEmbeddedMongod } from '../../src/platform/mongo/server/embedded.ts'
import { openDatabase } from '../../src/process/open-context.ts'
import { bookingModel } from '../../src/stays/bookings/model.ts'
import { makeActor, sender } from '../support/app.ts'
import { fillBookings } from '../support/many-bookings.ts'
import { startService } from '../support/processes.ts'
import { startRedis } from '../support/redis.ts'
import { residentMebibytes } from './load.ts'
import { median, timed, withDataDir } from './measure.ts'
import { atMost, type Row } from './table.ts'

const path = '/v1/integrations/provider_one/bookings/digest'
/** The limits that decisions §23 sets for 100,000 bookings, in milliseconds. */
const bounds = { first: 3000, changed: 1000, again: 50 }

/** Measures the digest of a host with 100,000 bookings, then 1,000,000, and the digest's effect on other hosts. */
export async function digest(): Promise<Row[]> {
  return withDataDir(async (dataDir) => {
    const [mongod, redis] = await Promise.all([openEmbeddedMongod(dataDir), startRedis()])
    const settings = { MONGODB_URL: mongod.url.replace('/?', '/partner?'), REDIS_URL: redis.url }
    const { db, close } = await openDatabase(readConfig(settings))
    const rows: Row[] = []
    try {
      for (const count of [100_000, 1_000_000]) rows.push(...(await measure(db, settings, count)))
      return rows
    } finally {
      await close()
      await Promise.all([redis.stop(), mongod.close()])
    }
  })
}

async function measure(
  db: Parameters<typeof fillBookings>[0],
  settings: Record<string, string>,
  count: number,
): Promise<Row[]> {
  const service = await startService(settings)
  const send = sender(fetch, service.url)
  const partner = () => makeActor({ db, clock: systemClock }, send, { rateLimit: 1_000_000_000 })
  const [actor, other] = await Promise.all([partner(), partner()])
  await fillBookings(db, actor.hostId, count)
  const read = async () => {
    const { status } = await actor.send('GET', path)
    if (status !== 200) throw new Error(`The digest responded ${status}`)
  }
  const before = await residentMebibytes([service.pid])
  const calm = await othersWhile(other, () => Bun.sleep(3000))
  let first = 0
  const beside = await othersWhile(other, async () => {
    first = await timed(read)
  })
  const after = await residentMebibytes([service.pid])
  const again = await medianOf(read)
  const changed = await medianOf(read, async () => {
    const newest = await bookingModel(db)
      .findOne({ owner_id: actor.hostId })
      .sort({ updated_at: -1 })
      .orFail()
    newest.updated_at = new Date(newest.updated_at.getTime() + 1000)
    await newest.save()
  })
  await service.end('SIGTERM')
  const many = count.toLocaleString('en')
  const within = (what: string, milliseconds: number, bound: number): Row =>
    atMost({
      work: `digest of ${many}, ${what}: ${milliseconds.toFixed(0)} ms`,
      ratio: milliseconds / bound,
      limit: 1,
      of: `${bound} ms`,
    })
  return [
    within('the first of a process', first, bounds.first),
    within('after a change', changed, bounds.changed),
    within('again', again, bounds.again),
    {
      work: `digest of ${many}: memory of the service`,
      result: `${before.toFixed(0)} → ${after.toFixed(0)} MiB`,
    },
    {
      work: `digest of ${many}: p95 of other requests beside the first`,
      result: `${calm.toFixed(1)} → ${beside.toFixed(1)} ms`,
    },
  ]
}

async function medianOf(run: () => Promise<unknown>, before = async () => {}): Promise<number> {
  const samples: number[] = []
  for (let count = 0; count < 7; count += 1) {
    await before()
    samples.push(await timed(run))
  }
  return median(samples)
}

/** Returns the p95 of another host's requests while `work` runs, in milliseconds. */
async function othersWhile(
  { send }: Awaited<ReturnType<typeof makeActor>>,
  work: () => Promise<unknown>,
): Promise<number> {
  const samples: number[] = []
  let isOver = false
  const others = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      samples.push(await timed(() => send('GET', '/v1/integrations/provider_one/bookings')))
      await Bun.sleep(5)
    }
  })
  await work()
  isOver = true
  await Promise.all(others)
  return samples.sort((one, next) => one - next)[Math.floor(samples.length * 0.95)] ?? 0
}
