import { toVersion } from '../../src/bookings/version.ts'
import { FeedPage, FeedPagination } from '../../src/feed/schema.ts'
import { PageEnvelope } from '../../src/http/envelope.ts'
import { databaseAndRedis, responseValidation } from './costs.ts'
import { creates } from './creates.ts'
import { type Burst, burst, compare, type Target } from './load.ts'
import { atLeast, atMost, noted, type Row } from './measure.ts'
import { idleMemory, memorySlope } from './memory.ts'
import { type BenchServers, withServers } from './servers.ts'

const rounds = 9
const feedPath = '/v1/integrations/provider_one/bookings'

/** The service over HTTP, compared with a bare server that runs the same query and sends the same bytes. */
export function httpBench(): Promise<Row[]> {
  return withServers(async (servers) => [
    await idleMemory(servers),
    ...(await reads(servers)),
    ...(await workers(servers)),
    ...(await databaseAndRedis(servers)),
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
  const row = (
    measure: string,
    measured: keyof typeof targets,
    reference: keyof typeof targets,
    aim: number | null,
  ): Row => {
    const ratio = result[measured].perSecond / result[reference].perSecond
    const seen = figures(result[measured], result[reference])
    return aim === null ? noted(measure, ratio, seen) : atLeast(measure, ratio, aim, seen)
  }
  return [
    row('feed page of 50, the last one, against bare', 'lastPage', 'bareFeed', 0.7),
    row('feed page of 50 with a next page, against the same bare page', 'nextPage', 'bareFeed', 0.7),
    row('idle poll against a last feed page', 'idle', 'lastPage', 3),
    row('idle poll against a feed page with a next page', 'idle', 'nextPage', 3),
    row('GET /v1/me against bare with the same Redis script', 'me', 'bareMeWithRedis', 0.7),
    row('GET /v1/me against bare that only sends the bytes', 'me', 'bareMe', null),
    row('listings page of 50 against bare', 'listings', 'bareListings', 0.6),
    await responseValidation(targets.lastPage, result.lastPage, PageEnvelope(FeedPage, FeedPagination)),
  ]
}

function sinceOf(lastVersion: Date) {
  return (seconds: number) =>
    `updated_after=${encodeURIComponent(toVersion(new Date(lastVersion.getTime() - seconds * 1000)))}`
}

/**
 * One connection for each worker: more would saturate the machine, and the result would say how two busy
 * processes share its cores with the database.
 */
async function workers({ service, pair, lastVersion }: BenchServers): Promise<Row[]> {
  const path = `${feedPath}?${sinceOf(lastVersion)(50)}`
  // The single worker has served all measurements so far: its code is fully optimized already.
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

/** A reference that sends different bytes would not be one. */
async function expectSameBytes(one: Target, other: Target): Promise<void> {
  const read = async ({ url, init }: Target) =>
    (await (await fetch(url, init)).text()).replace(/"request_id":"[^"]*"/, '')
  const sorted = (text: string) => [...text].sort().join('')
  if (sorted(await read(one)) !== sorted(await read(other)))
    throw new Error(`${one.url} and ${other.url} send different bytes`)
}

function figures(measured: Burst, reference: Burst): string {
  const of = ({ perSecond, cpuMicroseconds, bad }: Burst) =>
    `${Math.round(perSecond)}/s, ${Math.round(cpuMicroseconds)} µs CPU${bad > 0 ? `, ${bad} BAD RESPONSES` : ''}`
  return `${of(measured)} against ${of(reference)}`
}
