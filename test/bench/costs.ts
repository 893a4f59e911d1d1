import type { TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { FeedPage, FeedPagination } from '../../src/changes/feed/schema.ts'
import { Envelope } from '../../src/http/answer/envelope.ts'
import { burst, compare, residentMebibytes } from './load.ts'
import { medianMilliseconds } from './measure.ts'
import type { BenchServers } from './servers.ts'
import { atMost, type Row } from './table.ts'

/** Measures the service's own overhead: response validation, request logging and memory. */
export async function costs(servers: BenchServers): Promise<Row[]> {
  return [
    await idleMemory(servers),
    await responseValidation(servers),
    await requestLog(servers, 'own account', '/v1/me'),
    await requestLog(servers, 'feed page', '/v1/integrations/provider_one/bookings'),
    await memorySlope(servers),
  ]
}

/** Measures the cost of checking a response against its schema, as a share of the request's CPU time. */
async function responseValidation({ service }: BenchServers): Promise<Row> {
  const page = service('/v1/integrations/provider_one/bookings')
  const { request } = await compare({ request: page }, 3)
  const response = await (await fetch(page.url, page.init(0))).json()
  const schema: TSchema = Envelope(FeedPage, { pagination: FeedPagination })
  const validator = TypeCompiler.Compile(schema)
  const checks = 2000
  const check = async () => {
    for (let count = 0; count < checks; count += 1) {
      if (!validator.Check(response)) throw new Error('The response does not match its schema')
    }
  }
  const microseconds = ((await medianMilliseconds({ check }, 9)).check / checks) * 1000
  return atMost({
    work: 'checking the response',
    ratio: microseconds / request.cpu,
    limit: 0.1,
    of: 'the CPU of a feed page',
  })
}

/** Compares requests per second with and without the request log. */
async function requestLog({ logged, unlogged }: BenchServers, name: string, path: string): Promise<Row> {
  const targets = { logged: logged(path), unlogged: unlogged(path) }
  const loads = await compare(targets, 20)
  const share = 1 - loads.logged.perSecond / loads.unlogged.perSecond
  return atMost({
    work: `request log, ${name}`,
    ratio: share,
    limit: 0.03,
    of: 'of the requests/s without it',
  })
}

/** Compares the memory of a service that has served a few requests to that of the bare server. */
async function idleMemory({ service, references }: BenchServers): Promise<Row> {
  const me = service('/v1/me')
  const bareMe = references.bare('/me')
  for (const target of [me, bareMe]) await burst(target, (sent) => sent < 100)
  await Bun.sleep(3000)
  const more = (await residentMebibytes(me.pids)) - (await residentMebibytes(bareMe.pids))
  return atMost({
    work: 'memory, idle',
    ratio: more,
    limit: 40,
    result: `${more.toFixed(0)} MiB more than bare`,
    aim: '≤ 40 MiB',
  })
}

const slopeRounds = 5
const slopeRequests = 100_000

/** Measures how much memory grows once all caches are full. */
async function memorySlope({ service }: BenchServers): Promise<Row> {
  const me = service('/v1/me')
  const after: number[] = []
  for (let round = 0; round < slopeRounds; round += 1) {
    await burst(me, (sent) => sent < slopeRequests)
    await Bun.sleep(1000)
    after.push(await residentMebibytes(me.pids))
  }
  const slope = ((after.at(-1) as number) - (after[0] as number)) / (slopeRounds - 1)
  const result = `${slope.toFixed(2)} MiB for each 100,000 requests`
  return atMost({
    work: 'memory, busy',
    ratio: slope,
    limit: 1,
    result,
    aim: '≤ 1 MiB',
  })
}
