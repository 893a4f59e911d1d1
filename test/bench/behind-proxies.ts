import { join } from 'node:path'
import { readConfig } from '../../src/core/config.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'
import { openEmbeddedMongod } from '../../src/platform/mongo/server/embedded.ts'
import { openDatabase } from '../../src/process/open-context.ts'
import { type Gate, startDelayingProxy } from '../support/delaying-proxy.ts'
import { type ServiceProcess, startService } from '../support/processes.ts'
import { startRedis } from '../support/redis.ts'
import { withDataDir } from './measure.ts'

/** A checkout of the release before, whose service is measured beside this one. */
const oldCheckout = process.env.OLD

/** Whether to print the commands of each request. */
export const showsCommands = process.env.COMMANDS === '1'

/** Commands that no request causes: the driver watches its server, and change streams wait. */
const ofConnections = new Set(['hello', 'ismaster', 'getmore', 'endsessions', 'client', 'info'])

/** Collections on which the service works in the background. */
const backgroundCollections = new Set([
  'alarms',
  'calendars',
  'certifications',
  'leases',
  'outbox',
  'request_counts',
  'requests',
  'sandbox_keys',
  'sandboxes',
  'webhook_deliveries',
  'webhooks',
])

type Release = 'new' | 'old'
export type Server = 'mongodb' | 'redis'

/** A command that the service sent. */
export interface Noted {
  server: Server
  /** For example `find listings`. */
  text: string
  at: number
}

/** A service on a database of its own. */
export interface Side {
  release: Release
  hasRedis: boolean
  /** The settings with which a server uses the database and Redis behind the proxies. */
  settings: Record<string, string>
  /** The addresses of its processes. */
  urls: string[]
  /** The database, without the delay. */
  db: Db
  /** Starts to note the commands that pass the proxies. */
  startNoting(): void
  /** Returns the commands since. */
  noted(): Noted[]
  /** Begins to hold each answer. */
  startDelay(milliseconds: number): void
  stop(): Promise<void>
}

/**
 * Starts this release with Redis and without, and the release before if `OLD` names its checkout, all behind proxies that
 * do not hold anything yet. Stops them after `work`.
 */
export function withSides<T>(processes: number, work: (sides: Side[]) => Promise<T>): Promise<T> {
  return withDataDir(async (dataDir) => {
    const [mongod, redis] = await Promise.all([openEmbeddedMongod(dataDir), startRedis()])
    const releases: Release[] = oldCheckout ? ['new', 'old'] : ['new']
    const sides: Side[] = []
    try {
      for (const release of releases)
        for (const hasRedis of [true, false])
          sides.push(await startSide({ release, hasRedis, processes }, mongod.url, redis.url))
      return await work(sides)
    } finally {
      for (const side of sides) await side.stop()
      await Promise.all([redis.stop(), mongod.close()])
    }
  })
}

/** Returns the old side that a new one is compared with; undefined if only one release is measured. */
export function before(sides: Side[], { hasRedis }: Side): Side | undefined {
  return sides.find((side) => side.release === 'old' && side.hasRedis === hasRedis)
}

/** Returns whether a command is one of the service's own work. The use of a key is one, but requests read its record. */
export function isOfBackground({ text }: Noted): boolean {
  const [name, collection = ''] = text.split(' ')
  return backgroundCollections.has(collection) || (collection === 'keys' && name !== 'find')
}

async function startSide(
  { release, hasRedis, processes }: Pick<Side, 'release' | 'hasRedis'> & { processes: number },
  mongodbUrl: string,
  redisUrl: string,
): Promise<Side> {
  const direct = mongodbUrl.replace('/?', `/${release}_${hasRedis ? 'redis' : 'alone'}?`)
  let held = 0
  let noted: Noted[] = []
  const gate = (server: Server): Gate => ({
    onCommand({ name, collection }) {
      if (ofConnections.has(name.toLowerCase())) return
      noted.push({ server, text: `${name} ${collection}`, at: performance.now() })
    },
    hold: () => (held > 0 ? Bun.sleep(held) : Promise.resolve()),
  })
  const mongodb = await startDelayingProxy(direct, gate('mongodb'))
  const redis = await startDelayingProxy(redisUrl, gate('redis'))
  const settings = {
    MONGODB_URL: mongodb.url,
    ...(hasRedis ? { REDIS_URL: redis.url } : {}),
    LOG_LEVEL: 'fatal',
  }
  const main = join(release === 'old' ? (oldCheckout as string) : '', 'src/main.ts')
  const services: ServiceProcess[] = []
  for (let count = 0; count < processes; count += 1) services.push(await startService(settings, [], main))
  // The service has created its collections, and another release may define them otherwise.
  const { db, close } = await openDatabase(readConfig({ MONGODB_URL: direct }), { skipMigrations: true })
  return {
    release,
    hasRedis,
    settings,
    urls: services.map(({ url }) => url),
    db,
    startNoting() {
      noted = []
    },
    noted: () => [...noted],
    startDelay(milliseconds) {
      held = milliseconds
    },
    async stop() {
      await Promise.all(services.map((service) => service.stop()))
      await close()
      mongodb.stop()
      redis.stop()
    },
  }
}
