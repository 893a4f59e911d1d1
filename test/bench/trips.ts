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
/** Whether to print the commands of each request. */
const showsCommands = process.env.COMMANDS === '1'
/** The requests to measure, by their names in `trips`; all by default. */
const wanted = process.env.REQUESTS?.split(',')

const warmUps = 10
const repetitions = 15
/** Between two requests, the outbox and others finish what a write leaves behind. */
const pauseMilliseconds = 150 + 10 * delay

/** Commands that no request causes: the driver watches its server, and change streams wait. */
const ofConnections = new Set(['hello', 'ismaster', 'getmore', 'endsessions', 'client', 'info'])

const names = (Object.keys(trips) as TripName[]).filter((name) => wanted?.includes(name) ?? true)

type Send = () => Promise<TestResponse>

/** A service process whose answers are held, and its requests. */
interface Side {
  release: 'new' | 'old'
  hasRedis: boolean
  requests: Map<TripName, Send>
  /** Starts to note the commands that pass the proxies. */
  startNoting(): void
  /** Returns the commands since. */
  noted(): Noted[]
  startDelay(): void
  stop(): Promise<void>
}

type Server = 'mongodb' | 'redis'

/** A command that a request caused. */
interface Noted {
  server: Server
  text: string
  at: number
}

/** One request: when it was sent, how long it took, and its commands. */
interface Sent {
  at: number
  milliseconds: number
  commands: Noted[]
}

/** A side's figures for one request. */
interface Figures {
  /** Round trips in sequence: the median time divided by the delay. */
  sequence: number
  /** The number of commands. */
  mongodb: number
  redis: number
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
      for (const name of names) rows.push(...(await rowsOf(name, sides)))
      return rows
    } finally {
      for (const side of sides) await side.stop()
      await Promise.all([redis.stop(), mongod.close()])
    }
  })
}

/** Measures one request on all sides in turn, so that changes in the machine's speed affect them equally. */
async function rowsOf(name: TripName, sides: Side[]): Promise<Row[]> {
  const all = new Map(sides.map((side): [Side, Sent[]] => [side, []]))
  for (let round = -warmUps; round < repetitions; round += 1) {
    for (const side of sides) {
      side.startNoting()
      const at = performance.now()
      const milliseconds = await timed(async () => requireSuccess(name, await requestOf(side, name)()))
      if (round >= 0) all.get(side)?.push({ at, milliseconds, commands: side.noted() })
    }
    if (round >= 0) await Bun.sleep(pauseMilliseconds)
  }
  const figures = new Map([...all].map(([side, sent]) => [side, figuresOf(sent)]))
  if (showsCommands) for (const [side, sent] of all) print(name, side, sent)
  return sides
    .filter(({ release }) => release === 'new')
    .map((side) => {
      const current = figures.get(side) as Figures
      const old = sides.find(({ release, hasRedis }) => release === 'old' && hasRedis === side.hasRedis)
      const before = old ? `; before ${describe(figures.get(old) as Figures)}` : ''
      const row = { work: workOf(name, side), result: describe(current) + before }
      if (delay !== aimsDelay) return row
      const aim = trips[name].aim + (side.hasRedis ? 0 : allowedWithoutRedis)
      return { ...row, aim: `≤ ${aim.toFixed(1)}`, holds: Number(current.sequence.toFixed(1)) <= aim }
    })
}

function requestOf({ requests }: Side, name: TripName): Send {
  return requests.get(name) as Send
}

function workOf(name: TripName, { hasRedis }: Side): string {
  return trips[name].name + (hasRedis ? '' : ', without Redis')
}

function requireSuccess(name: string, { status, text }: TestResponse): void {
  if (status >= 300) throw new Error(`${name} responded ${status}: ${text}`)
}

/** Takes the fewest commands of any request, because some also fetch a block of ids or meet work in the background. */
function figuresOf(sent: Sent[]): Figures {
  const fewest = (server: Server) => Math.min(...sent.map(({ commands }) => count(commands, server)))
  return {
    sequence: median(sent.map(({ milliseconds }) => milliseconds)) / delay,
    mongodb: fewest('mongodb'),
    redis: fewest('redis'),
  }
}

function count(commands: Noted[], of: Server): number {
  return commands.filter(({ server }) => server === of).length
}

/** Prints the commands of the request that took the median time, and when each was sent, in round trips. */
function print(name: TripName, side: Side, sent: Sent[]): void {
  const byTime = sent.toSorted((a, b) => a.milliseconds - b.milliseconds)
  const { at, milliseconds, commands } = byTime[Math.floor(byTime.length / 2)] as Sent
  const trips = (time: number) => (time / delay).toFixed(1).padStart(6)
  console.error(`\n${workOf(name, side)}, ${side.release}:`)
  for (const command of commands) console.error(`${trips(command.at - at)} ${command.text}`)
  console.error(`${trips(milliseconds)} response`)
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
  let noted: Noted[] = []
  const gate = (server: Server): Gate => ({
    onCommand({ name, collection }: PassingCommand) {
      if (ofConnections.has(name.toLowerCase())) return
      noted.push({ server, text: `${name} ${collection}`, at: performance.now() })
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
  for (const name of names) {
    // With hosts of their own, no request meets what another has changed.
    const actor = await makeActor({ db, clock: systemClock }, sender(fetch, service.url))
    requests.set(name, (await prepareTrips(actor))[name])
  }
  return {
    release,
    hasRedis,
    requests,
    startNoting() {
      noted = []
    },
    noted: () => [...noted],
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
