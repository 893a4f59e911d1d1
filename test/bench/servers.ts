import { join } from 'node:path'
import { systemClock } from '../../src/core/clock.ts'
import { readConfig } from '../../src/core/config.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'
import { openEmbeddedMongod } from '../../src/platform/mongo/server/embedded.ts'
import { openDatabase } from '../../src/process/open-context.ts'
import { type Actor, makeActor, seedBooking, sender } from '../support/app.ts'
import { fillBookings } from '../support/many-bookings.ts'
import { fillPortfolio } from '../support/portfolio.ts'
import { startService, workersOf } from '../support/processes.ts'
import { startRedis } from '../support/redis.ts'
import type { Target } from './load.ts'
import { withDataDir } from './measure.ts'

/** A host for which bookings are created. */
export interface Creator extends Actor {
  stay: object
  listing_id: number
  booking_id: number
}

/** A server with which the service is compared, by its name in the table. */
export type ReferenceName = 'bare' | 'Fastify, Node' | 'Fastify, Bun' | 'Express, Node' | 'Express, Bun'

/** Returns the target for a path of a server; its requests have no body by default. */
export type Ask = (path: string, init?: (count: number) => RequestInit) => Target

/** The service and the servers with which it is compared, on the same MongoDB and Redis. */
export interface BenchServers {
  db: Db
  redis: { url: string }
  url: string
  /** A host with 100,000 bookings and 1,000 listings, and one with 2,000 bookings. */
  large: Actor & { lastVersion: Date }
  small: Actor & { lastVersion: Date }
  creators: Creator[]
  /** The service with one process, and with two. */
  service: Ask
  pair: Ask
  /** The service with and without its request log. */
  logged: Ask
  unlogged: Ask
  references: Record<ReferenceName, Ask>
}

const unlimited = 1_000_000_000
const hostsOfCreates = 8

/** Starts all servers on loopback, and stops them after `work`. */
export function withServers<T>(work: (servers: BenchServers) => Promise<T>): Promise<T> {
  return withDataDir(async (dataDir) => {
    const [mongod, redis] = await Promise.all([openEmbeddedMongod(dataDir), startRedis()])
    const { pid } = await Bun.file(join(dataDir, 'mongod.json')).json()
    const stores = [pid, redis.pid]
    const MONGODB_URL = mongod.url.replace('/?', '/partner?')
    const settings = { MONGODB_URL, REDIS_URL: redis.url, LOG_LEVEL: 'info' }
    const { db, close } = await openDatabase(readConfig(settings))
    const one = await startService(settings)
    const two = await startService({ ...settings, WORKERS: '2' })
    const program = 'test/bench/reference/request-log.ts'
    const logged = await startService(settings, [], program)
    const unlogged = await startService({ ...settings, WITHOUT_REQUEST_LOG: '1' }, [], program)
    const newActor = () =>
      makeActor({ db, clock: systemClock }, sender(fetch, one.url), { rateLimit: unlimited })
    const large = await newActor()
    const small = await newActor()
    const filled = {
      large: { ...large, ...(await fillBookings(db, large.hostId, 100_000)) },
      small: { ...small, ...(await fillBookings(db, small.hostId, 2000)) },
    }
    await fillPortfolio(db, large.hostId, 1000, 1_000_000)
    const creators = await Promise.all(
      Array.from({ length: hostsOfCreates }, async () => {
        const actor = await newActor()
        const { user_id, listing_id, room_type_id, booking_id } = await seedBooking(actor)
        return { ...actor, listing_id, booking_id, stay: { user_id, listing_id, room_type_id } }
      }),
    )
    const references = await startReferences({
      ...settings,
      HOST_ID: String(large.hostId),
      API_KEY: large.key,
    })
    const ask =
      (base: string, pids: number[]): Ask =>
      (path, init = () => ({ headers: { 'x-api-key': large.key } })) => ({
        url: base + path,
        init,
        pids,
        stores,
      })
    const asking = references.map(({ name, url, pid }) => [name, ask(url, [pid])])
    try {
      return await work({
        db,
        redis,
        ...filled,
        creators,
        url: one.url,
        service: ask(one.url, [one.pid]),
        pair: ask(two.url, await workersOf(two.pid)),
        logged: ask(logged.url, [logged.pid]),
        unlogged: ask(unlogged.url, [unlogged.pid]),
        references: Object.fromEntries(asking) as Record<ReferenceName, Ask>,
      })
    } finally {
      for (const { end } of references) end()
      await Promise.all([one.end('SIGTERM'), two.end('SIGTERM'), logged.stop(), unlogged.stop()])
      await close()
      await Promise.all([redis.stop(), mongod.close()])
    }
  })
}

interface Reference {
  name: ReferenceName
  url: string
  pid: number
  end(): void
}

/** Starts the servers with which the service is compared. */
export async function startReferences(environment: Record<string, string>): Promise<Reference[]> {
  const folder = new URL('reference/', import.meta.url).pathname
  // Node must find the packages next to this file, and it cannot read TypeScript.
  const outdir = new URL('../../node_modules/.cache/bench/', import.meta.url).pathname
  const entrypoints = ['fastify', 'express'].map((name) => join(folder, `${name}.ts`))
  await Bun.build({ entrypoints, outdir, target: 'node', packages: 'external', naming: '[name].mjs' })
  const programs: Record<ReferenceName, string[]> = {
    bare: [process.execPath, join(folder, 'bare.ts')],
    'Fastify, Node': ['node', join(outdir, 'fastify.mjs')],
    'Fastify, Bun': [process.execPath, join(folder, 'fastify.ts')],
    'Express, Node': ['node', join(outdir, 'express.mjs')],
    'Express, Bun': [process.execPath, join(folder, 'express.ts')],
  }
  const started: Reference[] = []
  // One after another: each server stores the same key, and two that start at once would both insert it.
  for (const [name, command] of Object.entries(programs)) {
    const env = { ...environment, PATH: process.env.PATH ?? '' }
    const child = Bun.spawn(command, { env, stdout: 'pipe', stderr: 'inherit' })
    const { value } = await child.stdout.getReader().read()
    const url = new TextDecoder().decode(value).trim()
    if (!url) throw new Error(`${name} did not start`)
    started.push({ name: name as ReferenceName, url, pid: child.pid, end: () => child.kill('SIGKILL') })
  }
  return started
}
