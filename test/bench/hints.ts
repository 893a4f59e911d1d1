import { webhookDeliveryModel, webhookModel } from '../../src/changes/webhooks/model.ts'
import { systemClock } from '../../src/core/clock.ts'
import { toVersion } from '../../src/host-clock/format.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'
import { makeActor, seedBooking, sender } from '../support/app.ts'
import { type ServiceProcess, startService } from '../support/processes.ts'
import { burst, type Target, until } from './load.ts'
import { median } from './measure.ts'
import { type BenchServers, withServers } from './service.ts'
import { atLeast, type Row } from './table.ts'

const hosts = 10
/** One host's webhooks: three healthy ones, one that responds 500 to 30 % of hints, and one that hangs. */
const mixedWebhooks = ['well', 'well', 'well', 'failing', 'hanging']
const allWell = Array<string>(5).fill('well')
const changesPerSecond = Number(process.env.RATE ?? 60)
const patienceMilliseconds = 120_000

interface Round {
  kinds: string[]
  changes: number
  /** Interval in seconds at which the older sender is killed and replaced; 0 for never. */
  killEverySeconds: number
}

/** Starts a server that records the hints that reach the webhooks. A webhook's path is its name. */
function startReceiver() {
  /** When each version of a booking first reached each webhook, and how many times it arrived. */
  const arrivals = new Map<string, { at: number; times: number }>()
  /** The latest version of each booking that each webhook has accepted. */
  const taken = new Map<string, string>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const name = new URL(request.url).pathname.slice(1)
      const { data } = (await request.json()) as { data: { booking_id: number; version: string } }
      const place = `${name}/${data.booking_id}`
      const { at = Date.now(), times = 0 } = arrivals.get(`${place}/${data.version}`) ?? {}
      arrivals.set(`${place}/${data.version}`, { at, times: times + 1 })
      if (name.startsWith('hanging')) await Bun.sleep(20_000)
      if (name.startsWith('failing') && Math.random() < 0.3) return new Response(null, { status: 500 })
      if ((taken.get(place) ?? '') < data.version) taken.set(place, data.version)
      return new Response()
    },
  })
  return { came: arrivals, taken, url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
}

interface BenchEnvironment extends BenchServers {
  receiver: ReturnType<typeof startReceiver>
}

/** Starts a database, Redis and a receiver on loopback, and stops them after `work`. */
function withReceiver<T>(work: (surroundings: BenchEnvironment) => Promise<T>): Promise<T> {
  return withServers(async (servers) => {
    const receiver = startReceiver()
    try {
      return await work({ ...servers, receiver })
    } finally {
      receiver.stop()
    }
  })
}

/** Starts two processes that serve requests and send hints. */
async function startSenders(settings: Record<string, string>) {
  const running: ServiceProcess[] = await Promise.all([1, 2].map(() => startService(settings)))
  const url = () => (running.at(-1) as ServiceProcess).url
  return {
    /** Returns the URL of the newest process. */
    url,
    /** Repeats a request until it gets a response. */
    async post(key: string, path: string, body?: object) {
      const sending = { key, headers: { 'idempotency-key': crypto.randomUUID() }, ...(body ? { body } : {}) }
      for (;;) {
        const response = await sender(fetch, url())('POST', path, sending).catch(() => null)
        if (response && response.status < 300) return response.body.data
        await Bun.sleep(50)
      }
    },
    /** Repeatedly kills the older process and starts another, until the returned function is called. */
    kill(everySeconds: number) {
      let isOver = everySeconds === 0
      const killing = (async () => {
        while (!isOver) {
          await Bun.sleep(everySeconds * 1000)
          await running.shift()?.end('SIGKILL')
          running.push(await startService(settings))
        }
      })()
      return () => {
        isOver = true
        return killing
      }
    },
    stop: () => Promise.all(running.map((service) => service.stop())),
  }
}

type Senders = Awaited<ReturnType<typeof startSenders>>

interface PartnerOptions {
  host: number
  serviceUrl: string
  receiverUrl: string
  /** One kind for each webhook. */
  kinds: string[]
}

/** Creates a host with a webhook of each given kind, and a stay that can be booked. */
async function makePartner(db: Db, { host, serviceUrl, receiverUrl, kinds }: PartnerOptions) {
  const { key, send } = await makeActor({ db, clock: systemClock }, sender(fetch, serviceUrl), {
    rateLimit: 1_000_000_000,
  })
  const seeded = await seedBooking({ hostId: host, keyId: 0, key, db, send })
  const { user_id, listing_id, room_type_id } = seeded
  const names = kinds.map((kind, index) => `${kind}-${host}-${index}`)
  for (const name of names)
    await send('POST', '/v1/webhooks', {
      body: { url: `${receiverUrl}/${name}`, events: ['booking.changed'] },
    })
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  return { key, names, stay }
}

type Partner = Awaited<ReturnType<typeof makePartner>>

/** A booking's last version, the time at which the service acknowledged it, and the webhooks that expect a hint. */
interface Final {
  booking: number
  version: string
  at: number
  names: string[]
}

/** Creates and confirms bookings of all hosts concurrently, with at most `changesPerSecond` changes per second. */
async function write(senders: Senders, partners: Partner[], changes: number): Promise<Final[]> {
  const finals: Final[] = []
  const begin = Date.now()
  let made = 0
  const writeOne = async ({ key, stay, names }: Partner) => {
    while (made < changes) {
      made += 2
      await Bun.sleep(Math.max(0, begin + (made / changesPerSecond) * 1000 - Date.now()))
      const { booking_id: booking } = await senders.post(key, '/v1/bookings', stay)
      const { Booking } = await senders.post(key, `/v1/bookings/${booking}/confirm`)
      finals.push({ booking, version: Booking.meta.version, at: Date.now(), names })
    }
  }
  await Promise.all(partners.map(writeOne))
  return finals
}

/** Returns the webhook and booking of each waiting hint, and each webhook's position in the feed. */
async function waitingHints(db: Db) {
  const webhooks = await webhookModel(db).find().lean()
  const nameOf = (url: string) => new URL(url).pathname.slice(1)
  const names = new Map(webhooks.map(({ id, url }) => [id, nameOf(url)]))
  const deliveries = await webhookDeliveryModel(db)
    .find({ status: 'waiting' }, { webhook_id: 1, booking_id: 1 })
    .lean()
  return {
    places: new Set(deliveries.map(({ webhook_id, booking_id }) => `${names.get(webhook_id)}/${booking_id}`)),
    positions: new Map(webhooks.map(({ url, bookings_seen }) => [nameOf(url), toVersion(bookings_seen)])),
  }
}

/** Runs one round and returns its results. */
async function measure({ kinds, changes, killEverySeconds }: Round) {
  return withReceiver(async ({ settings, db, receiver }) => {
    const senders = await startSenders(settings)
    const partners = await Promise.all(
      Array.from({ length: hosts }, (_, host) =>
        makePartner(db, { host, serviceUrl: senders.url(), receiverUrl: receiver.url, kinds }),
      ),
    )
    const stopKilling = senders.kill(killEverySeconds)
    const finals = await write(senders, partners, changes)
    const hinted = finals.flatMap(({ names, ...final }) => names.map((name) => ({ ...final, name })))
    const place = ({ name, booking }: (typeof hinted)[number]) => `${name}/${booking}`
    const well = hinted.filter(({ name }) => name.startsWith('well'))
    const missing = () => well.filter((one) => (receiver.taken.get(place(one)) ?? '') < one.version).length
    const deadline = Date.now() + patienceMilliseconds
    while (missing() > 0 && Date.now() < deadline) await Bun.sleep(200)
    await stopKilling()
    const waiting = await waitingHints(db)
    const sick = hinted.filter(({ name }) => !name.startsWith('well'))
    const lost = sick.filter(
      (one) =>
        (receiver.taken.get(place(one)) ?? '') < one.version &&
        !receiver.came.has(`${place(one)}/${one.version}`) &&
        !waiting.places.has(place(one)) &&
        one.version <= (waiting.positions.get(one.name) ?? ''),
    )
    const lags: number[] = []
    for (const one of well) {
      const arrival = receiver.came.get(`${place(one)}/${one.version}`)
      if (arrival) lags.push(arrival.at - one.at)
    }
    lags.sort((one, other) => one - other)
    const ofWell = [...receiver.came].filter(([name]) => name.startsWith('well'))
    const outcome = {
      well: well.length,
      missing: missing(),
      sick: sick.length,
      lost: lost.length,
      doubled: ofWell.filter(([, { times }]) => times > 1).length,
      came: ofWell.length,
      lag: (share: number) => lags[Math.floor(lags.length * share)] ?? Number.NaN,
    }
    await senders.stop()
    return outcome
  })
}

type Outcome = Awaited<ReturnType<typeof measure>>

function rowsOf(name: string, { well, missing, sick, lost, doubled, came, lag }: Outcome): Row[] {
  return [
    {
      work: `${name}: commit to first attempt, healthy webhooks`,
      result: `p50 ${lag(0.5)} ms, p95 ${lag(0.95)} ms, p99 ${lag(0.99)} ms`,
      aim: '≤ 1 s',
      holds: lag(0.95) <= 1000,
    },
    {
      work: `${name}: last versions that never arrived`,
      result: `${missing} of ${well} to healthy webhooks, ${lost} of ${sick} to others (what waits for its next attempt is not lost)`,
      aim: 'none',
      holds: missing + lost === 0,
    },
    { work: `${name}: arrived twice, healthy webhooks`, result: `${doubled} of ${came}` },
  ]
}

const hookedHosts = 8
const burstMilliseconds = 4000

/** Compares the booking rate of hosts with five webhooks each to that of hosts without webhooks. */
async function besideWebhooks(): Promise<Row> {
  return withReceiver(async ({ settings, db, receiver }) => {
    const service = await startService(settings)
    const partnersWith = (kinds: string[], first: number) =>
      Promise.all(
        Array.from({ length: hookedHosts }, (_, host) =>
          makePartner(db, { host: first + host, serviceUrl: service.url, receiverUrl: receiver.url, kinds }),
        ),
      )
    const targetOf = (partners: Partner[]): Target => ({
      url: `${service.url}/v1/bookings`,
      init: (count) => {
        const { key, stay } = partners[count % partners.length] as Partner
        const headers = { 'x-api-key': key, 'content-type': 'application/json' }
        return { method: 'POST', headers, body: JSON.stringify(stay) }
      },
      pids: [service.pid],
      stores: [],
    })
    const without = targetOf(await partnersWith([], 0))
    const beside = targetOf(await partnersWith(allWell, hookedHosts))
    const perSecond = { without: [] as number[], beside: [] as number[] }
    for (let round = 0; round < 4; round += 1) {
      // All hints must be sent before other hosts are measured.
      await Bun.sleep(burstMilliseconds)
      perSecond.without.push((await burst(without, until(burstMilliseconds))).perSecond)
      perSecond.beside.push((await burst(beside, until(burstMilliseconds))).perSecond)
    }
    await service.stop()
    const ratio = median(perSecond.beside) / median(perSecond.without)
    return atLeast({
      work: 'bookings of hosts with five webhooks',
      ratio,
      limit: 0.7,
      of: 'those of hosts without',
    })
  })
}

/** Measures hints to 50 webhooks: with all healthy, with some failing, and with senders killed every few seconds. */
export async function hints(): Promise<Row[]> {
  const changes = Number(process.env.CHANGES ?? 10_000)
  const killEverySeconds = Number(process.env.KILL_EVERY ?? 4)
  const few = Math.min(2000, changes)
  const rounds: [string, Round][] = [
    [`${few} changes`, { kinds: allWell, changes: few, killEverySeconds: 0 }],
    [`${few}, failing beside healthy`, { kinds: mixedWebhooks, changes: few, killEverySeconds: 0 }],
    [`${changes}, senders killed`, { kinds: mixedWebhooks, changes, killEverySeconds }],
  ]
  const rows = [await besideWebhooks()]
  for (const [name, round] of rounds) rows.push(...rowsOf(name, await measure(round)))
  return rows
}
