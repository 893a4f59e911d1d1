import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { openMongo } from '../../../src/platform/mongo/connection.ts'
import { type Actor, makeActor, seedBooking, sender, testApp, testEnvironment } from '../../support/app.ts'
import { calendarOf, listingWithCalendars, startCalendarServer } from '../../support/calendars.ts'
import { mongodbUrlOf } from '../../support/databases.ts'
import { type ServiceProcess, startService } from '../../support/processes.ts'
import { type Prometheus, readPanels, readRules, startPrometheus } from '../../support/prometheus.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startRedis } from '../../support/redis.ts'
import { startReplicaSet } from '../../support/replica-set.ts'
import { hookedPartner } from '../../support/webhooks.ts'

/** Divisor of all Prometheus times: scrapes are 1.5 s apart, and five minutes become thirty seconds. */
const factor = 10
const METRICS_TOKEN = 'a-token-of-the-operator'
const feed = '/v1/integrations/provider_one/bookings'
const messages = '/v1/integrations/provider_one/messages'

/** A service that a partner polls, monitored by its own Prometheus. */
interface Watched {
  service: ServiceProcess
  prometheus: Prometheus
  /** A partner whose requests go over a socket. */
  partner: Actor
}

interface Fault {
  name: string
  /** The alerts that must fire; no other alert may. */
  fires: string[]
  watched: Watched
  begin(): Promise<unknown>
  repair(): Promise<unknown>
}

const settings = (database: string) => ({
  MONGODB_URL: mongodbUrlOf(database),
  METRICS_TOKEN,
  LOG_LEVEL: 'silent',
  WEBHOOKS_ALLOW_PRIVATE: 'on',
})

/** Returns a function that sends requests to a service and, as partners do, repeats them if asked to. */
function overSocket({ url }: ServiceProcess): ReturnType<typeof sender> {
  const send = sender(fetch, url)
  return (method, path, sending) => send(method, path, { repeatWhileBusy: true, ...sending })
}

async function watch(environment: Record<string, string>, main?: string): Promise<Watched> {
  const service = await startService(testEnvironment(environment), [], main)
  onTestFinished(() => service.stop())
  const prometheus = await startPrometheus(service.url, METRICS_TOKEN, factor)
  onTestFinished(() => prometheus.stop())
  const db = await openMongo(environment.MONGODB_URL ?? '')
  onTestFinished(() => db.close())
  const partner = await makeActor({ db, clock: systemClock }, overSocket(service))
  return { service, prometheus, partner }
}

let isOver = false

/** Polls the feed about eight times a second until the test is over. */
async function poll({ partner }: Watched): Promise<void> {
  const loop = async () => {
    while (!isOver) {
      await partner.send('GET', feed).catch(() => {})
      await Bun.sleep(250)
    }
  }
  await Promise.all([loop(), loop()])
}

/** Writes two messages a second until the test is over, while a reader waits for them. */
async function converse(partner: Actor, bookingId: number): Promise<void> {
  const write = async () => {
    while (!isOver) {
      const body = { message: { text: crypto.randomUUID() } }
      await partner.send('POST', `/v1/bookings/${bookingId}/messages`, { body }).catch(() => {})
      await Bun.sleep(500)
    }
  }
  const read = async () => {
    let after = '2020-01-01'
    while (!isOver) {
      const query = `wait=2&updated_after=${encodeURIComponent(after)}`
      const page = await partner.send('GET', `${messages}?${query}`).catch(() => null)
      after = page?.body?.data?.messages.at(-1)?.version ?? after
    }
  }
  await Promise.all([write(), read()])
}

/** Waits until exactly the wanted alerts fire; returns each alert's delay in seconds, and all alerts seen. */
async function secondsUntil({ prometheus }: Watched, wanted: string[], before: string[], since: number) {
  const seconds: Record<string, number> = {}
  const seen = new Set(before)
  while (!isOver) {
    const firing = await prometheus.firing()
    for (const name of firing) seen.add(name)
    for (const name of new Set([...wanted, ...before]))
      if (wanted.includes(name) === firing.includes(name))
        seconds[name] ??= Math.round(performance.now() - since) / 1000
    if (firing.join() === wanted.join()) return { seconds, seen: [...seen].sort() }
    await Bun.sleep(200)
  }
  throw new Error('The test ended')
}

/** Causes a fault and repairs it. Expects only the fault's own alerts to fire, and then to resolve. */
async function runFault({ name, fires, watched, begin, repair }: Fault) {
  await secondsUntil(watched, [], [], 0)
  const begun = performance.now()
  await begin()
  const fired = await secondsUntil(watched, fires, [], begun)
  expect(fired.seen, name).toEqual(fires)
  const mended = performance.now()
  await repair()
  const resolved = await secondsUntil(watched, [], fires, mended)
  expect(resolved.seen, name).toEqual(fires)
  return fires.map((alert) => ({
    fault: name,
    alert,
    'fires after (s)': fired.seconds[alert],
    'ends after (s)': resolved.seconds[alert],
  }))
}

async function redisStopped(): Promise<Fault> {
  let redis = await startRedis()
  onTestFinished(() => redis.stop())
  const watched = await watch({ ...settings('alerts'), REDIS_URL: redis.url })
  return {
    name: 'Redis stopped',
    fires: ['RedisDegraded'],
    watched,
    begin: () => redis.stop(),
    async repair() {
      redis = await startRedis(Number(new URL(redis.url).port))
    },
  }
}

async function primaryFrozen(): Promise<Fault> {
  const replicas = await startReplicaSet(1)
  onTestFinished(() => replicas.stop())
  const watched = await watch({ ...settings('none'), MONGODB_URL: replicas.url })
  let thaw: () => Promise<void> = async () => {}
  return {
    name: 'primary frozen',
    fires: ['ErrorsBurnFast', 'ErrorsBurnSlowly', 'NotReady', 'ResponsesSlow'],
    watched,
    async begin() {
      thaw = await replicas.freezePrimary()
    },
    async repair() {
      await thaw()
      // The alerts measure the share of errors, so many successful responses replace hours of waiting.
      const flood = async () => {
        while (!isOver) await watched.partner.send('GET', '/v1/me').catch(() => {})
      }
      for (let connection = 0; connection < 8; connection += 1) void flood()
    },
  }
}

async function receiverDead(): Promise<Fault> {
  const watched = await watch(settings('alerts_hints'))
  let isDead = false
  const { url } = startReceiver({ onTestFinished }, () => new Response(null, { status: isDead ? 500 : 200 }))
  const owner = { actor: async () => watched.partner }
  const { booking_id, book } = await hookedPartner(owner, url, ['booking.changed'])
  // The dashboard shows the age of the oldest reading.
  const calendars = startCalendarServer((stop) => onTestFinished(() => stop().then(() => {})))
  calendars.serve('/room', calendarOf([]))
  await listingWithCalendars(watched.partner, [`${calendars.url}/room`])
  void converse(watched.partner, booking_id)
  return {
    name: 'receiver dead',
    fires: ['HintsFailing'],
    watched,
    async begin() {
      isDead = true
      for (let count = 0; count < 3; count += 1) await book()
    },
    async repair() {
      isDead = false
      for (let count = 0; count < 40; count += 1) await book()
    },
  }
}

async function consumerSilent(): Promise<Fault> {
  // The consumer has read all changes, which are an hour old. The next change is dated forty minutes ago.
  let minutesAgo = 60
  const now = () => new Date(Date.now() - minutesAgo * 60_000)
  const watched = await watch(settings('alerts_feed'))
  const actor = await (await testApp(settings('alerts_feed'), now)).actor()
  const { booking_id } = await seedBooking(actor)
  const send = overSocket(watched.service)
  const handle = async () => {
    const { key } = actor
    const page = await send('GET', `${feed}?consumer=sync`, { key })
    const acknowledged = page.body.data.Bookings.at(-1).version
    await send('PUT', `${feed}/consumers/sync`, { key, body: { acknowledged } })
  }
  await send('PUT', `${feed}/consumers/sync`, { key: actor.key, body: { acknowledged: null } })
  await handle()
  return {
    name: 'consumer silent',
    fires: ['FeedUnread', 'PollerSilent'],
    watched,
    async begin() {
      minutesAgo = 40
      await actor.send('POST', `/v1/bookings/${booking_id}/confirm`)
    },
    repair: handle,
  }
}

/** A sender that responds with errors to all calendars of a house, until it is mended. */
async function calendarsFail(): Promise<Fault> {
  const watched = await watch(settings('alerts_calendars'))
  const { partner } = watched
  const server = startCalendarServer((stop) => onTestFinished(() => stop().then(() => {})))
  const paths = Array.from({ length: 12 }, (_, at) => `/room-${at}`)
  let roomIds: number[] = []
  return {
    name: 'calendars fail',
    fires: ['CalendarsFailing'],
    watched,
    async begin() {
      const urls = paths.map((path) => server.url + path)
      roomIds = (await listingWithCalendars(partner, urls)).roomIds
    },
    async repair() {
      for (const path of paths) server.serve(path, calendarOf([]))
      const read = '/v1/integrations/provider_one/calendars'
      for (const id of roomIds) await partner.send('POST', `${read}/${id}/read`, { body: { accept: true } })
    },
  }
}

async function clockOff(): Promise<Fault> {
  const watched = await watch(settings('alerts'), 'test/soak/observability/moving-clock.program.ts')
  const move = async () => process.kill(watched.service.pid, 'SIGUSR2')
  return { name: 'clock off', fires: ['ClockOff', 'NotReady'], watched, begin: move, repair: move }
}

test('each fault fires only its own alerts, which end once it is repaired, and every query of the dashboard has data', async () => {
  onTestFinished(() => {
    isOver = true
  })
  const begun = performance.now()
  const faults = await Promise.all([
    redisStopped(),
    primaryFrozen(),
    receiverDead(),
    consumerSilent(),
    clockOff(),
    calendarsFail(),
  ])
  const ready = performance.now()
  const polling = Promise.all(faults.map(({ watched }) => poll(watched)))
  const times = await Promise.all(faults.map(runFault))
  const known = new Set((await readRules()).map(({ alert }) => alert))
  for (const { fires } of faults) for (const alert of fires) expect([...known]).toContain(alert)
  // The service that sends hints has data for everything on the dashboard.
  const { prometheus } = faults[2].watched
  for (const { title, targets } of await readPanels())
    for (const { expr } of targets) {
      const query = expr.replaceAll('$__rate_interval', '15s')
      await expect.poll(() => prometheus.count(query), { message: `${title}: ${query}` }).toBeGreaterThan(0)
    }
  isOver = true
  await polling
  const seconds = (from: number) => Math.round((performance.now() - from) / 1000)
  console.table(times.flat())
  console.info(`${seconds(begun)} s, of which ${seconds(begun) - seconds(ready)} s to start everything`)
})
