import { toVersion } from '../../src/host-clock/format.ts'
import { burst, compare, type Load, manyConnections, type Target } from './load.ts'
import type { BenchServers } from './servers.ts'
import { atLeast, atMost, type Row } from './table.ts'

const rounds = 3
const feedPath = '/v1/integrations/provider_one/bookings'

/** Compares read requests of the service, a minimal server and two frameworks. */
export async function reads(servers: BenchServers): Promise<Row[]> {
  const { service, references, large } = servers
  const since = (seconds: number) =>
    `updated_after=${encodeURIComponent(toVersion(new Date(large.lastVersion.getTime() - seconds * 1000)))}`
  const page = `${feedPath}?${since(400)}`
  const { meta, data } = (await large.send('GET', page)).body
  const bare = `/feed?${since(400)}&pagination=${encodeURIComponent(JSON.stringify(meta.pagination))}`
  const cursor = `${feedPath}?cursor=${meta.pagination.next_cursor}`
  const idle = `${feedPath}?${since(0)}`
  const second = toVersion(new Date(`${data.Bookings.at(-1).version.replace(' ', 'T')}Z`))
  const bareSecond = bare.replace(since(400), `updated_after=${encodeURIComponent(second)}`)
  await expectSameBytes(service(page), references.bare(bare))
  return [
    ...(await beside(servers, {
      work: 'GET /v1/me',
      path: '/v1/me',
      reference: '/me',
      aim: 1,
      withFrameworks: true,
    })),
    ...(await beside(servers, {
      work: 'feed page of 50, one to follow',
      path: page,
      reference: bare,
      aim: 0.5,
      withFrameworks: true,
    })),
    ...(await beside(servers, {
      work: 'the same by cursor',
      path: cursor,
      reference: bareSecond,
      aim: 0.8,
    })),
    ...(await beside(servers, {
      work: 'idle poll, against a point read',
      path: idle,
      reference: '/me',
      aim: 0.7,
    })),
    ...(await beside(servers, {
      work: 'page of 50 listings',
      path: '/v1/listings?per_page=50',
      reference: '/listings',
      aim: 0.85,
    })),
    ...(await inFull(servers, page, data.Bookings[0].booking_id)),
    await growth(servers),
    await workers(servers),
  ]
}

interface Reading {
  work: string
  path: string
  /** The path of the same read at the other servers. */
  reference: string
  aim: number
  withFrameworks?: boolean
}

/** Compares a read request to the service and to the other servers, over one connection and over many. */
async function beside(
  { service, references }: BenchServers,
  { work, path, reference, aim, withFrameworks = false }: Reading,
): Promise<Row[]> {
  const { bare, ...frameworks } = references
  const others = Object.entries(frameworks).map(([name, ask]) => [name, ask(reference)])
  const targets: Record<string, Target> = {
    bare: bare(reference),
    partner: service(path),
    ...(withFrameworks ? Object.fromEntries(others) : {}),
  }
  const many = await compare(targets, rounds)
  const { bare: bareAlone, partner: partnerAlone } = targets as { bare: Target; partner: Target }
  const alone = await compare({ bare: bareAlone, partner: partnerAlone }, rounds, 1)
  return [...lines(work, alone, 1), ...lines(work, many, manyConnections, aim)]
}

/** Returns one row per server; only the service's row has a result. */
function lines(work: string, loads: Record<string, Load>, connections: number, aim?: number): Row[] {
  const bare = loads.bare as Load
  return Object.entries(loads).map(([server, load]) => {
    const line = { server, connections, load }
    if (server !== 'partner') return { work, ...line }
    const ratio = load.perSecond / bare.perSecond
    if (aim !== undefined)
      return atLeast({
        work,
        ratio,
        limit: aim,
        of: 'the requests/s of bare',
        ...line,
      })
    return { work, ...line, result: `${(load.p50 / bare.p50).toFixed(2)} × the p50 of bare` }
  })
}

/** Compares a page of full bookings to the plain page, and to 50 requests for one booking each. */
async function inFull({ service }: BenchServers, page: string, bookingId: number): Promise<Row[]> {
  const targets = {
    page: service(page),
    full: service(`${page}&include=detail`),
    detail: service(`${feedPath}/${bookingId}`),
  }
  const loads = (await compare(targets, rounds, 1)) as Record<keyof typeof targets, Load>
  const work = 'feed page with include=detail'
  const line = { server: 'partner', connections: 1, load: loads.full }
  return [
    atMost({
      work,
      ratio: loads.full.p50 / loads.page.p50,
      limit: 4,
      of: 'the p50 of the page without',
      ...line,
    }),
    atMost({
      work,
      ratio: loads.full.p50 / (50 * loads.detail.p50),
      limit: 0.2,
      of: 'the p50 of 50 details',
    }),
  ]
}

/** Compares a poll of a host with many bookings to a poll of a host with few. */
async function growth({ service, large, small }: BenchServers): Promise<Row> {
  const poll = ({ key, lastVersion }: BenchServers['large']) => {
    const since = toVersion(new Date(lastVersion.getTime() - 50_000))
    return service(`${feedPath}?updated_after=${encodeURIComponent(since)}`, () => ({
      headers: { 'x-api-key': key },
    }))
  }
  const load = await compare({ small: poll(small), large: poll(large) }, rounds, 1)
  const line = { server: 'partner', connections: 1, load: load.large }
  return atMost({
    work: 'poll at 100,000 bookings',
    ratio: load.large.p50 / load.small.p50,
    limit: 1.15,
    of: 'the p50 at 2,000',
    ...line,
  })
}

/**
 * Compares two workers to one, over two connections. More connections would saturate the machine, and the result would
 * show how two busy processes share its cores with the database.
 */
async function workers({ service, pair, large }: BenchServers): Promise<Row> {
  const since = toVersion(new Date(large.lastVersion.getTime() - 50_000))
  const path = `${feedPath}?updated_after=${encodeURIComponent(since)}`
  // The single worker has served all previous measurements, so its code is already fully optimized.
  await burst(pair(path), (sent) => sent < 20_000)
  const { one, two } = await compare({ one: service(path), two: pair(path) }, rounds, 2)
  const line = { server: 'partner', connections: 2, load: two }
  return atMost({
    work: 'feed page with WORKERS=2',
    ratio: two.cpu / one.cpu,
    limit: 1.15,
    of: 'the CPU with one',
    ...line,
  })
}

/** Throws if a reference sends different bytes, because the comparison would be invalid. */
async function expectSameBytes(one: Target, other: Target): Promise<void> {
  const read = async ({ url, init }: Target) =>
    (await (await fetch(url, init(0))).text()).replace(/"request_id":"[^"]*"/, '')
  const sorted = (text: string) => [...text].sort().join('')
  if (sorted(await read(one)) !== sorted(await read(other)))
    throw new Error(`${one.url} and ${other.url} send different bytes`)
}
