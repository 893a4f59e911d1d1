import { join } from 'node:path'
import { systemClock } from '../../src/core/clock.ts'
import { readConfig } from '../../src/core/config.ts'
import { openEmbeddedMongod } from '../../src/platform/mongo/server/embedded.ts'
import { openDatabase } from '../../src/process/open-context.ts'
import { makeActor, sender, type TestResponse } from '../support/app.ts'
import { type Gate, type PassingCommand, startDelayingProxy } from '../support/delaying-proxy.ts'
import { startService } from '../support/processes.ts'
import { startRedis } from '../support/redis.ts'
import { allowedWithoutRedis, prepareTrips, type TripName, trips } from '../support/trips.ts'
import { median, timed, withDataDir } from './measure.ts'
import type { Row } from './table.ts'

/** How long the proxies hold each answer. The aims are for 20 ms. */
const delay = Number(process.env.MILLISECONDS ?? 20)
const aimsDelay = 20
/** A checkout of the release before, whose service is measured beside this one. */
const oldCheckout = process.env.OLD

const warmUps = 10
const repetitions = 15
/** Between two requests, the outbox and others finish what a write leaves behind. */
const pauseMilliseconds = 150 + 10 * delay

/** Commands that no request causes: the driver watches its server, and change streams wait. */
const ofConnections = new Set(['hello', 'ismaster', 'ping', 'getmore', 'endsessions', 'client', 'info'])

type Send = () => Promise<TestResponse>

/** A service process whose answers are held, and its requests. */
interface Side {
  release: 'new' | 'old'
  hasRedis: boolean
  requests: Map<TripName, Send>
  /** Starts to count the commands that pass the proxies, by server. */
  startCounting(): void
  /** Returns the counts since. */
  counted(): Counts
  startDelay(): void
  stop(): Promise<void>
}

interface Counts {
  mongodb: number
  redis: number
}

/** A side's figures for one request. */
interface Figures extends Counts {
  /** Round trips in sequence: the median time divided by the delay. */
  sequence: number
}

/**
 * Counts the round trips of single requests: a proxy holds each answer of MongoDB and of Redis, and the median time of a
 * request alone, divided by the delay, is the count.
 */
export function countTrips(): Promise<Row[]> {
  return withDataDir(async (dataDir) => {
    const [mongod, redis] = await Promise.all([openEmbeddedMongod(dataDir), startRedis()])
    const releases = oldCheckout ? (['new', 'old'] as const) : (['new'] as const)
    const sides: Side[] = []
    for (const release of releases)
      for (const hasRedis of [true, false])
        sides.push(await startSide({ release, hasRedis }, mongod.url, redis.url))
    try {
      for (const side of sides) side.startDelay()
      const rows: Row[] = []
      for (const name of Object.keys(trips) as TripName[]) rows.push(...(await rowsOf(name, sides)))
      return rows
    } finally {
      for (const side of sides) await side.stop()
      await Promise.all([redis.stop(), mongod.close()])
    }
  })
}

/** Measures one request on all sides in turn, so that changes in the machine's speed affect them equally. */
async function rowsOf(name: TripName, sides: Side[]): Promise<Row[]> {
  const times = new Map(sides.map((side): [Side, number[]] => [side, []]))
  const counts = new Map(sides.map((side): [Side, Counts[]] => [side, []]))
  for (let round = -warmUps; round < repetitions; round += 1) {
    for (const side of sides) {
      const send = side.requests.get(name) as Send
      side.startCounting()
      const milliseconds = await timed(async () => requireSuccess(name, await send()))
      if (round < 0) continue
      times.get(side)?.push(milliseconds)
      counts.get(side)?.push(side.counted())
    }
    if (round >= 0) await Bun.sleep(pauseMilliseconds)
  }
  const figures = sides.map((side) => figuresOf(side, times.get(side) ?? [], counts.get(side) ?? []))
  const ofCurrent = figures.filter(({ side }) => side.release === 'new')
  return ofCurrent.map(({ side, ...current }) => {
    const before = figures.find((one) => one.side.release === 'old' && one.side.hasRedis === side.hasRedis)
    const aim = trips[name].aim + (side.hasRedis ? 0 : allowedWithoutRedis)
    const result = describe(current) + (before ? `; before ${describe(before)}` : '')
    const work = trips[name].name + (side.hasRedis ? '' : ', without Redis')
    if (delay !== aimsDelay) return { work, result }
    return { work, result, aim: `≤ ${aim.toFixed(1)}`, holds: Number(current.sequence.toFixed(1)) <= aim }
  })
}

function requireSuccess(name: string, { status, text }: TestResponse): void {
  if (status >= 300) throw new Error(`${name} responded ${status}: ${text}`)
}

/** Takes the fewest commands of any repetition, because some also fetch a block of ids or meet work in the background. */
function figuresOf(side: Side, times: number[], counts: Counts[]): Figures & { side: Side } {
  return {
    side,
    sequence: median(times) / delay,
    mongodb: Math.min(...counts.map(({ mongodb }) => mongodb)),
    redis: Math.min(...counts.map(({ redis }) => redis)),
  }
}

function describe({ sequence, mongodb, redis }: Figures): string {
  return `${sequence.toFixed(1)} (commands ${mongodb} + ${redis})`
}

/** Starts a service on a database of its own behind proxies, and a host with a key for each request. */
async function startSide(
  { release, hasRedis }: Pick<Side, 'release' | 'hasRedis'>,
  mongodbUrl: string,
  redisUrl: string,
): Promise<Side> {
  const database = `trips_${release}_${hasRedis ? 'redis' : 'alone'}`
  const direct = mongodbUrl.replace('/?', `/${database}?`)
  let held = 0
  let counts: Counts = { mongodb: 0, redis: 0 }
  const gate = (server: keyof Counts): Gate => ({
    onCommand({ name }: PassingCommand) {
      if (!ofConnections.has(name.toLowerCase())) counts[server] += 1
    },
    hold: () => (held > 0 ? Bun.sleep(held) : Promise.resolve()),
  })
  const mongodb = await startDelayingProxy(direct, gate('mongodb'))
  const redis = await startDelayingProxy(redisUrl, gate('redis'))
  const service = await startService(
    { MONGODB_URL: mongodb.url, ...(hasRedis ? { REDIS_URL: redis.url } : {}), LOG_LEVEL: 'fatal' },
    [],
    join(release === 'old' ? (oldCheckout as string) : '', 'src/main.ts'),
  )
  // The service has created its collections, and another release may define them otherwise.
  const { db, close } = await openDatabase(readConfig({ MONGODB_URL: direct }), { skipMigrations: true })
  const requests = new Map<TripName, Send>()
  for (const name of Object.keys(trips) as TripName[]) {
    // With hosts of their own, no request meets what another has changed.
    const actor = await makeActor({ db, clock: systemClock }, sender(fetch, service.url))
    requests.set(name, (await prepareTrips(actor))[name])
  }
  return {
    release,
    hasRedis,
    requests,
    startCounting() {
      counts = { mongodb: 0, redis: 0 }
    },
    counted: () => ({ ...counts }),
    startDelay() {
      held = delay
    },
    async stop() {
      await service.stop()
      await close()
      mongodb.stop()
      redis.stop()
    },
  }
}
