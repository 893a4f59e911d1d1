import { join } from 'node:path'
import { systemClock } from '../../src/core/clock.ts'
import { readConfig } from '../../src/core/config.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'
import { openEmbeddedMongod } from '../../src/platform/mongo/server/embedded.ts'
import { openDatabase } from '../../src/process/open-context.ts'
import { type Actor, makeActor, seedBooking, sender } from '../support/app.ts'
import { type ServiceProcess, startService } from '../support/processes.ts'
import { startRedis } from '../support/redis.ts'
import { cpuSeconds } from './load.ts'
import { withDataDir } from './measure.ts'
import type { Row } from './table.ts'

/** A host for which bookings are created. */
type Creator = Actor & { stay: object }

const processCounts = [1, 2, 4, 8]
const hostCounts = [1, 4, 64]
const connections = 64
const milliseconds = 6000
const warmUpMilliseconds = 8000

/** The rate at which several processes create bookings for several hosts, and the cost of a booking. */
interface Outcome {
  perSecond: number
  /** Transactions per booking, including those restarted after a conflict with another process. */
  attempts: number
  p99: number
  /** Microseconds of CPU per booking, for the services and for the database. */
  service: number
  database: number
}

/**
 * Measures how fast 1 to 8 processes create keyed bookings for 1 to 64 hosts over 64 connections. Each process stands
 * for a machine.
 */
export function machines(): Promise<Row[]> {
  return withDataDir(async (dataDir) => {
    const [mongod, redis] = await Promise.all([openEmbeddedMongod(dataDir), startRedis()])
    const { pid } = await Bun.file(join(dataDir, 'mongod.json')).json()
    const settings = { MONGODB_URL: mongod.url.replace('/?', '/partner?'), REDIS_URL: redis.url }
    const { db, close } = await openDatabase(readConfig(settings))
    const services: ServiceProcess[] = []
    const rows: Row[] = []
    const first = new Map<number, number>()
    let creators: Creator[] | undefined
    for (const count of processCounts) {
      const fresh: ServiceProcess[] = []
      while (services.length + fresh.length < count) fresh.push(await startService(settings))
      services.push(...fresh)
      const { url } = services[0] as ServiceProcess
      creators ??= await Promise.all(
        Array.from({ length: Math.max(...hostCounts) }, async (): Promise<Creator> => {
          const options = { rateLimit: 1_000_000_000 }
          const actor = await makeActor({ db, clock: systemClock }, sender(fetch, url), options)
          const { user_id, listing_id, room_type_id } = await seedBooking(actor)
          const stay = {
            user_id,
            listing_id,
            room_type_id,
            checkin_at: '2031-01-01',
            checkout_at: '2031-02-01',
          }
          return { ...actor, stay }
        }),
      )
      // Each process is warmed up alone, because uncompiled code is several times slower.
      for (const service of fresh)
        await create(db, { services: [service], creators, database: pid, duration: warmUpMilliseconds })
      for (const hosts of hostCounts) {
        const round = {
          services,
          creators: creators.slice(0, hosts),
          database: pid,
          duration: milliseconds,
        }
        const outcome = await create(db, round)
        const one = first.get(hosts) ?? outcome.perSecond
        first.set(hosts, one)
        rows.push(rowOf(`${count} processes, ${hosts} hosts`, outcome, one))
        if (count === 1 || hosts === 1) continue
        const pinned = await create(db, { ...round, isPinned: true })
        rows.push(rowOf(`${count} processes, ${hosts} hosts, each at one process`, pinned, one))
      }
    }
    await Promise.all(services.map((service) => service.stop()))
    await close()
    await mongod.close()
    await redis.stop()
    return rows
  })
}

function rowOf(what: string, outcome: Outcome, one: number): Row {
  const { perSecond, attempts, p99, service, database } = outcome
  const times = (perSecond / one).toFixed(2)
  return {
    work: `keyed booking, ${what}`,
    connections,
    result: `${perSecond.toFixed(0)}/s, ${times} × one process; p99 ${p99.toFixed(0)} ms; ${attempts.toFixed(2)} attempts; CPU ${service.toFixed(0)} + ${database.toFixed(0)} µs`,
  }
}

/** Returns the number of transactions that the server has started. */
async function transactions(db: Db): Promise<number> {
  const status = await db.getClient().db('admin').command({ serverStatus: 1 })
  return Number(status.transactions.totalStarted)
}

interface Round {
  services: ServiceProcess[]
  creators: Creator[]
  /** Process id of the database. */
  database: number
  /** In milliseconds. */
  duration: number
  /** True to send all of a host's requests to the same process, as a proxy can be configured to do. */
  isPinned?: boolean
}

/** Creates bookings for the time of a round. Retries with the same key after a conflict, as partners do. */
async function create(
  db: Db,
  { services, creators, database, duration, isPinned = false }: Round,
): Promise<Outcome> {
  const pids = services.map(({ pid }) => pid)
  const times: number[] = []
  let sent = 0
  const begunBefore = await transactions(db)
  const own = await cpuSeconds(pids)
  const stores = await cpuSeconds([database])
  const start = performance.now()
  const send = async (number: number): Promise<void> => {
    const { key, stay } = creators[number % creators.length] as Creator
    const headers = {
      'x-api-key': key,
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
    }
    const begun = performance.now()
    for (;;) {
      const chosen = isPinned ? number % creators.length : Math.floor(Math.random() * services.length)
      const { url } = services[chosen % services.length] as ServiceProcess
      const response = await fetch(`${url}/v1/bookings`, {
        method: 'POST',
        headers,
        body: JSON.stringify(stay),
      })
      const text = await response.text()
      if (response.status === 201) break
      if (response.status !== 409) throw new Error(`${response.status}: ${text}`)
    }
    times.push(performance.now() - begun)
  }
  const client = async () => {
    while (performance.now() - start < duration) await send(sent++)
  }
  await Promise.all(Array.from({ length: connections }, client))
  const seconds = (performance.now() - start) / 1000
  times.sort((a, b) => a - b)
  return {
    perSecond: times.length / seconds,
    attempts: ((await transactions(db)) - begunBefore) / times.length,
    p99: times[Math.floor(times.length * 0.99)] as number,
    service: (((await cpuSeconds(pids)) - own) / times.length) * 1e6,
    database: (((await cpuSeconds([database])) - stores) / times.length) * 1e6,
  }
}
