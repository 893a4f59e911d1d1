import type { TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Redis } from 'ioredis'
import { FeedPage, FeedPagination } from '../../src/feed/schema.ts'
import { toVersion } from '../../src/feed/version.ts'
import { PageEnvelope } from '../../src/http/envelope.ts'
import { type Burst, burst, compare, residentMebibytes, type Target } from './load.ts'
import { atLeast, atMost, medianMilliseconds, noted, type Row, times } from './measure.ts'
import { type BenchServers, withServers } from './servers.ts'

const rounds = 9
const feedPath = '/v1/integrations/provider_one/bookings'

/** The service over HTTP, beside a bare server that does the same query and sends the same bytes. */
export function httpBench(): Promise<Row[]> {
  return withServers(async (servers) => [
    await idleMemory(servers),
    ...(await reads(servers)),
    ...(await workers(servers)),
    ...(await roundTrips(servers)),
    ...(await creates(servers)),
    await memorySlope(servers),
  ])
}

async function reads(servers: BenchServers): Promise<Row[]> {
  const { service, bare, lastVersion } = servers
  const since = sinceOf(lastVersion)
  const targets = {
    bareFeed: bare(`/feed?${since(50)}`),
    lastPage: service(`${feedPath}?${since(50)}`),
    nextPage: service(`${feedPath}?${since(400)}`),
    idle: service(`${feedPath}?${since(0)}`),
    bareMe: bare('/me'),
    bareMeWithRedis: bare('/me-with-redis'),
    me: service('/v1/me'),
    bareListings: bare('/listings'),
    listings: service('/v1/listings'),
  }
  await expectSameBytes(targets.bareFeed, targets.lastPage)
  await expectSameBytes(targets.bareListings, targets.listings)
  const result = await compare(targets, rounds)
  const throughput = (reference: keyof typeof targets, measured: keyof typeof targets) =>
    result[measured].perSecond / result[reference].perSecond
  return [
    atLeast(
      'feed page of 50, the last of its walk, against bare',
      throughput('bareFeed', 'lastPage'),
      0.7,
      figures(result.lastPage, result.bareFeed),
    ),
    atLeast(
      'feed page of 50 with a next page, against the same bare page',
      throughput('bareFeed', 'nextPage'),
      0.7,
      figures(result.nextPage, result.bareFeed),
    ),
    atLeast(
      'idle poll against a feed page, the last of its walk',
      throughput('lastPage', 'idle'),
      3,
      figures(result.idle, result.lastPage),
    ),
    atLeast(
      'idle poll against a feed page with a next page',
      throughput('nextPage', 'idle'),
      3,
      figures(result.idle, result.nextPage),
    ),
    atLeast(
      'GET /v1/me against bare with the same Redis script',
      throughput('bareMeWithRedis', 'me'),
      0.7,
      figures(result.me, result.bareMeWithRedis),
    ),
    noted(
      'GET /v1/me against bare that only sends bytes',
      throughput('bareMe', 'me'),
      figures(result.me, result.bareMe),
    ),
    atLeast(
      'listings page of 50 against bare',
      throughput('bareListings', 'listings'),
      0.6,
      figures(result.listings, result.bareListings),
    ),
    await responseValidation(targets.lastPage, result.lastPage, PageEnvelope(FeedPage, FeedPagination)),
  ]
}

function sinceOf(lastVersion: Date) {
  return (seconds: number) =>
    `updated_after=${encodeURIComponent(toVersion(new Date(lastVersion.getTime() - seconds * 1000)))}`
}

/**
 * One connection for each worker: with more, the machine is full, and what is measured is how two busy
 * processes share its cores with the database.
 */
async function workers({ service, pair, lastVersion }: BenchServers): Promise<Row[]> {
  const path = `${feedPath}?${sinceOf(lastVersion)(50)}`
  // The single worker has served all that was measured before: its code is compiled as well as it gets.
  await burst(pair(path), (sent) => sent < 30_000)
  const { one, two } = await compare({ one: service(path), two: pair(path) }, rounds, 2)
  return [
    atMost(
      'CPU of a feed page with WORKERS=2 against 1',
      two.cpuMicroseconds / one.cpuMicroseconds,
      1.1,
      figures(two, one),
    ),
  ]
}

/** A reference that sends other bytes would be none. */
async function expectSameBytes(one: Target, other: Target): Promise<void> {
  const read = async ({ url, init }: Target) =>
    (await (await fetch(url, init)).text()).replace(/"request_id":"[^"]*"/, '')
  const sorted = (text: string) => [...text].sort().join('')
  if (sorted(await read(one)) !== sorted(await read(other)))
    throw new Error(`${one.url} and ${other.url} send different bytes`)
}

function figures(measured: Burst, reference: Burst): string {
  const of = ({ perSecond, cpuMicroseconds, bad }: Burst) =>
    `${Math.round(perSecond)}/s, ${Math.round(cpuMicroseconds)} µs CPU${bad > 0 ? `, ${bad} BAD ANSWERS` : ''}`
  return `${of(measured)} against ${of(reference)}`
}

/** What it costs to check an answer against its schema, as a part of the request's CPU time. */
async function responseValidation({ url, init }: Target, request: Burst, schema: TSchema): Promise<Row> {
  const answer = await (await fetch(url, init)).json()
  const validator = TypeCompiler.Compile(schema)
  const checks = 2000
  const check = async () => {
    for (let count = 0; count < checks; count += 1) {
      if (!validator.Check(answer)) throw new Error('The answer breaks its schema')
    }
  }
  const microseconds = ((await medianMilliseconds({ check }, 9)).check / checks) * 1000
  return atMost(
    'response validation as a part of a feed page',
    microseconds / request.cpuMicroseconds,
    0.1,
    `${microseconds.toFixed(1)} µs of ${Math.round(request.cpuMicroseconds)} µs CPU`,
  )
}

/** What one warm `GET /v1/me` asks of Redis and of the database. */
async function roundTrips({ db, redis, creator }: BenchServers): Promise<Row[]> {
  const requests = 1000
  const client = new Redis(redis.url)
  const monitor = await client.monitor()
  let trips = 0
  // What a script calls is shown as coming from "lua"; the probes of the services are pings.
  monitor.on('monitor', (_time: string, [command = '']: string[], source: string) => {
    if (source !== 'lua' && !/^(ping|info|monitor)$/i.test(command)) trips += 1
  })
  await db.db?.command({ profile: 2 })
  for (let count = 0; count < requests; count += 1) await creator.send('GET', '/v1/me')
  await db.db?.command({ profile: 0 })
  const profile = db.collection('system.profile')
  // Its usage is written every two seconds, its record read again every five, whatever the number of requests.
  const operations = await profile.countDocuments({ ns: /\.(api_keys|hosts|usage)/ })
  await Bun.sleep(200)
  monitor.disconnect()
  client.disconnect()
  return [
    atMost('Redis round trips of a GET /v1/me', trips / requests, 1, `${trips} in ${requests} requests`),
    atMost(
      'database operations of a GET /v1/me',
      operations / requests,
      0.01,
      `${operations} in ${requests} requests, by the clock and not by the request`,
    ),
  ]
}

/** A keyed create one after the other: first time, again, and as a bare transaction with the same writes. */
async function creates({ service, bare, bookable, creator }: BenchServers): Promise<Row[]> {
  const body = JSON.stringify({ ...bookable, checkin_at: '2030-01-01', checkout_at: '2030-02-01' })
  const post = async ({ url, init }: Target, key: string) => {
    const headers = { ...(init?.headers as Record<string, string>), 'idempotency-key': key }
    const response = await fetch(url, { method: 'POST', headers, body })
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`A create was answered ${response.status}`)
  }
  let count = 0
  const time = await medianMilliseconds(
    {
      bare: () => post(bare('/bookings'), 'none'),
      first: () => post(service('/v1/bookings', creator), `bench-${count++}`),
      replay: () => post(service('/v1/bookings', creator), `bench-${count - 1}`),
    },
    400,
  )
  return [
    atMost(
      'keyed POST /v1/bookings against a bare transaction',
      time.first / time.bare,
      1.3,
      times(time.bare, time.first),
    ),
    atMost('its replay against the first', time.replay / time.first, 0.5, times(time.first, time.replay)),
  ]
}

const mebibytes = (value: number) => `${value.toFixed(1)} MiB`

/** A freshly started service that has answered a little. */
async function idleMemory({ service, bare }: BenchServers): Promise<Row> {
  const [me, bareMe] = [service('/v1/me'), bare('/me')]
  for (const target of [me, bareMe]) await burst(target, (sent) => sent < 100)
  await Bun.sleep(3000)
  const [idle, bareIdle] = [await residentMebibytes(me.pids), await residentMebibytes(bareMe.pids)]
  return atMost(
    'MiB of memory above bare, idle after the start',
    idle - bareIdle,
    40,
    `${mebibytes(idle)} against ${mebibytes(bareIdle)}`,
  )
}

const slopeRounds = 5
const slopeRequests = 100_000

/** What the memory grows by, once everything that is kept is there. */
async function memorySlope({ service }: BenchServers): Promise<Row> {
  const me = service('/v1/me')
  const after: number[] = []
  for (let round = 0; round < slopeRounds; round += 1) {
    await burst(me, (sent) => sent < slopeRequests)
    await Bun.sleep(1000)
    after.push(await residentMebibytes(me.pids))
  }
  const slope = ((after.at(-1) as number) - (after[0] as number)) / (slopeRounds - 1)
  return atMost(
    'MiB of memory for each 100,000 requests',
    slope,
    1,
    `after each: ${after.map(mebibytes).join(', ')}`,
  )
}
