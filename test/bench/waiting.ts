import { systemClock } from '../../src/core/clock.ts'
import { readConfig } from '../../src/core/config.ts'
import { openEmbeddedMongod } from '../../src/platform/mongo/server/embedded.ts'
import { openDatabase } from '../../src/process/open-context.ts'
import { type Actor, makeActor, seedBooking, sender } from '../support/app.ts'
import { partnerctl, type ServiceProcess, startService } from '../support/processes.ts'
import { startRedis } from '../support/redis.ts'
import { afterEverything, cpuSeconds, residentMebibytes } from './load.ts'
import { withDataDir } from './measure.ts'
import { atMost, type Row } from './table.ts'

const hosts = 100
const clientsPerHost = 5
const changes = 200
const byCommand = 20
const quietSeconds = 10
const provider = '/v1/integrations/provider_one'

/** A host whose bookings change. */
interface Host extends Actor {
  stay: object
  booking_id: number
}

/** A partner that waits for changes and records when it read each version. */
class Client {
  readonly readAt = new Map<string, number>()
  failures = 0
  doubled = 0
  requests = 0
  private stopped = false
  private last = ''
  private running: Promise<void>

  constructor(
    private readonly urls: () => string[],
    private readonly host: Host,
  ) {
    this.running = this.follow()
  }

  async stop(): Promise<void> {
    this.stopped = true
    await this.running
  }

  private async follow(): Promise<void> {
    while (!this.stopped) {
      const urls = this.urls()
      const url = urls[Math.floor(Math.random() * urls.length)] as string
      const query = new URLSearchParams({ wait: '30', ...(this.last ? { updated_after: this.last } : {}) })
      this.requests += 1
      const response = await sender(fetch, url)('GET', `${provider}/bookings?${query}`, {
        key: this.host.key,
      }).catch(() => null)
      if (this.stopped) return
      if (response?.status !== 200) {
        this.failures += 1
        await Bun.sleep(200)
        continue
      }
      const now = performance.now()
      for (const { version } of response.body.data.Bookings) {
        if (this.readAt.has(version)) this.doubled += 1
        this.readAt.set(version, now)
        this.last = version
      }
    }
  }
}

/** Measures 500 partners that wait for changes on two processes, while other requests make changes. */
export function waiting(): Promise<Row[]> {
  return withDataDir(async (dataDir) => {
    const [mongod, redis] = await Promise.all([openEmbeddedMongod(dataDir), startRedis()])
    const settings = {
      MONGODB_URL: mongod.url.replace('/?', '/partner?'),
      REDIS_URL: redis.url,
      LOG_LEVEL: 'warn',
    }
    const { db, close } = await openDatabase(readConfig(settings))
    const services = await Promise.all([1, 2, 3].map(() => startService(settings)))
    const [writer, ...waited] = services as [ServiceProcess, ServiceProcess, ServiceProcess]
    const all: Host[] = []
    for (let count = 0; count < hosts; count += 1) {
      const actor = await makeActor({ db, clock: systemClock }, sender(fetch, writer.url), {
        rateLimit: 1_000_000,
      })
      const { user_id, listing_id, room_type_id, booking_id } = await seedBooking(actor)
      const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
      all.push({ ...actor, stay, booking_id })
    }
    const pids = waited.map(({ pid }) => pid)
    // A new process's memory grows with its first requests, whether or not they are held.
    for (const { url } of waited)
      for (let round = 0; round < 20; round += 1)
        await Promise.all(all.map(({ key }) => sender(fetch, url)('GET', `${provider}/bookings`, { key })))
    await Bun.sleep(3000)
    const alone = await cpuShare(pids)
    const before = await residentMebibytes(pids)
    const clients = all.flatMap((host) =>
      Array.from({ length: clientsPerHost }, () => new Client(() => waited.map(({ url }) => url), host)),
    )
    await Bun.sleep(3000)
    const held = await residentMebibytes(pids)
    const idle = await cpuShare(pids)
    const measured = { all, clients, settings }
    const plain = await spread(measured)
    const crowd = await flood(all[0] as Host, waited[0] as ServiceProcess)
    const crowded = await spread(measured, { when: ' beside 1,000 requests of one key' })
    crowd.abort()
    const restarted = await spread(measured, {
      when: ' while both processes restart',
      async meanwhile() {
        for (const [index, service] of waited.entries()) {
          await service.end('SIGTERM')
          waited[index] = await startService({ ...settings, PORT: new URL(service.url).port })
        }
      },
      // The limit is higher because there is no proxy, so each client must notice by itself that a process is gone.
      limit: 5000,
    })
    const withoutRedis = await spread(measured, {
      when: ' while Redis is killed',
      async meanwhile() {
        await Bun.sleep(1000)
        await redis.stop()
      },
    })
    for (const service of [writer, ...waited]) await service.end('SIGKILL')
    await Promise.all(clients.map((client) => client.stop()))
    await close()
    await mongod.close()
    const perRequest = ((held - before) / clients.length) * 1024
    return [
      ...plain,
      ...crowded,
      ...restarted,
      ...withoutRedis,
      atMost({
        work: 'CPU of both processes while 500 only wait',
        ratio: idle - alone,
        limit: 2,
        result: `${idle.toFixed(1)} % of a core; without them ${alone.toFixed(1)} %`,
        aim: '≤ 2 % more',
      }),
      { work: 'memory for each held request', result: `${perRequest.toFixed(0)} KiB` },
    ]
  })
}

/** Keeps 1,000 requests with one key open at a process. Repeats each request a second after its response. */
async function flood({ key }: Host, { url }: ServiceProcess): Promise<AbortController> {
  const controller = new AbortController()
  const path = () => `${url}${provider}/bookings?updated_after=${afterEverything()}&wait=30`
  for (let count = 0; count < 1000; count += 1)
    (async () => {
      while (!controller.signal.aborted) {
        await fetch(path(), { headers: { 'x-api-key': key }, signal: controller.signal }).then(
          (response) => response.arrayBuffer(),
          () => {},
        )
        await Bun.sleep(1000)
      }
    })()
  await Bun.sleep(1000)
  return controller
}

/** Returns the CPU use of processes in percent of a core. */
async function cpuShare(pids: number[]): Promise<number> {
  const before = await cpuSeconds(pids)
  await Bun.sleep(quietSeconds * 1000)
  return (((await cpuSeconds(pids)) - before) / quietSeconds) * 100
}

interface Measured {
  all: Host[]
  clients: Client[]
  settings: Record<string, string>
}

interface Disturbance {
  /** The end of the row's name. */
  when?: string
  /** Causes a disturbance during the changes. */
  meanwhile?: () => Promise<void>
  /** Of the 95th percentile, in milliseconds. */
  limit?: number
}

/** Makes changes through routes and commands, and measures the time until all clients of the host have read them. */
async function spread(
  { all, clients, settings }: Measured,
  { when = '', meanwhile = async () => {}, limit = 300 }: Disturbance = {},
): Promise<Row[]> {
  const answered: { hostIndex: number; version: string; at: number }[] = []
  const failuresBefore = sum(clients, ({ failures }) => failures)
  const trouble = meanwhile()
  for (let count = 0; count < changes; count += 1) {
    const hostIndex = count % all.length
    const host = all[hostIndex] as Host
    const isByCommand = when === '' && count < byCommand
    const version = isByCommand ? await confirm(host, settings) : await book(host)
    answered.push({ hostIndex, version, at: performance.now() })
    await Bun.sleep(20)
  }
  await trouble
  await Bun.sleep(3000)
  const delays: number[] = []
  let lost = 0
  for (const { hostIndex, version, at } of answered)
    for (const client of clients.slice(hostIndex * clientsPerHost, (hostIndex + 1) * clientsPerHost)) {
      const readAt = client.readAt.get(version)
      if (readAt === undefined) lost += 1
      // A version that was read before its writer received the response counts as 0 ms.
      else delays.push(Math.max(0, readAt - at))
    }
  delays.sort((a, b) => a - b)
  const at = (share: number) => delays[Math.floor((delays.length - 1) * share)] as number
  const doubled = sum(clients, (client) => client.doubled)
  const retried = sum(clients, ({ failures }) => failures) - failuresBefore
  const figures = `p50 ${at(0.5).toFixed(0)}, p95 ${at(0.95).toFixed(0)}, all ${at(1).toFixed(0)} ms`
  return [
    atMost({
      work: `${changes} changes to ${clients.length} waiting clients${when}`,
      ratio: at(0.95),
      limit,
      result: `${figures}; ${lost} lost, ${doubled} doubled, ${retried} requests retried`,
      aim: `p95 ≤ ${limit} ms, 0 lost`,
      holds: at(0.95) <= limit && lost === 0,
    }),
  ]
}

function sum(clients: Client[], of: (client: Client) => number): number {
  return clients.reduce((total, client) => total + of(client), 0)
}

async function book({ send, stay }: Host): Promise<string> {
  const { body } = await send('POST', '/v1/bookings', { body: stay })
  return body.data.updated_at.slice(0, 19).replace('T', ' ')
}

/** Confirms a booking with an administrator's command, in a separate process, and returns the new version. */
async function confirm({ booking_id }: Host, settings: Record<string, string>): Promise<string> {
  const { stdout, stderr } = await partnerctl(['bookings', 'confirm', String(booking_id), '--json'], settings)
  if (!stdout) throw new Error(stderr)
  return JSON.parse(stdout).version
}
