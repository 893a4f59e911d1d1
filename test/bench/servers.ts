import { systemClock } from '../../src/clock.ts'
import { openDatabase } from '../../src/compose.ts'
import { readConfig } from '../../src/config.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'
import { openEmbeddedMongod } from '../../src/platform/mongo/embedded.ts'
import { type Actor, makeActor, seedBooking, sender } from '../support/app.ts'
import { fillBookings } from '../support/many-bookings.ts'
import { fillPortfolio } from '../support/portfolio.ts'
import { startService } from '../support/processes.ts'
import { startRedis } from '../support/redis.ts'
import type { Target } from './load.ts'
import { withDataDir } from './measure.ts'

/** The service with one and with two workers, and the bare server, on the same MongoDB and Redis. */
export interface BenchServers {
  db: Db
  redis: { url: string }
  /** A request to the service with one worker, by default with the key of the host of 10,000 bookings. */
  service(path: string, actor?: Actor): Target
  /** A request to the service with two workers. */
  pair(path: string): Target
  /** A request to the bare server. */
  bare(path: string): Target
  /** The host that bookings are created for. */
  creator: Actor
  /** A user, listing and room type that can be booked. */
  bookable: { user_id: number; listing_id: number; room_type_id: number }
  /** The version of the last of the 10,000 bookings. */
  lastVersion: Date
}

const unlimited = 1_000_000_000

/** Starts everything on loopback and stops it after `work`. */
export function withServers<T>(work: (servers: BenchServers) => Promise<T>): Promise<T> {
  return withDataDir(async (dataDir) => {
    const [mongod, redis] = await Promise.all([openEmbeddedMongod(dataDir), startRedis()])
    const MONGODB_URL = mongod.url.replace('/?', '/partner?')
    const settings = { MONGODB_URL, REDIS_URL: redis.url, LOG_LEVEL: 'info' }
    const { db, close } = await openDatabase(readConfig(settings))
    const one = await startService(settings)
    const rich = await makeActor({ db, clock: systemClock }, sender(fetch, one.url), { rateLimit: unlimited })
    const { lastVersion } = await fillBookings(db, rich.hostId, 10_000)
    await fillPortfolio(db, rich.hostId, 200, 1_000_000)
    const two = await startService({ ...settings, WORKERS: '2' })
    const bare = await startBare({ ...settings, HOST_ID: String(rich.hostId) })
    const creator = await makeActor({ db, clock: systemClock }, sender(fetch, one.url), {
      rateLimit: unlimited,
    })
    const request =
      (base: string, pids: number[]) =>
      (path: string, { key } = rich) => ({
        url: base + path,
        init: { headers: { 'x-api-key': key, 'content-type': 'application/json' } },
        pids,
      })
    const workers = (await Bun.$`pgrep -P ${two.pid}`.text()).trim().split('\n').map(Number)
    try {
      return await work({
        db,
        redis,
        creator,
        lastVersion,
        bookable: await seedBooking(creator),
        service: request(one.url, [one.pid]),
        pair: request(two.url, workers),
        bare: request(bare.url, [bare.pid]),
      })
    } finally {
      bare.end()
      await Promise.all([one.end('SIGTERM'), two.end('SIGTERM')])
      await close()
      await Promise.all([redis.stop(), mongod.close()])
    }
  })
}

async function startBare(environment: Record<string, string>) {
  const script = new URL('bare-server.ts', import.meta.url).pathname
  const child = Bun.spawn([process.execPath, script], { env: environment, stdout: 'pipe', stderr: 'inherit' })
  const { value } = await child.stdout.getReader().read()
  return { url: new TextDecoder().decode(value).trim(), pid: child.pid, end: () => child.kill('SIGKILL') }
}
