import { afterAll, expect, test } from 'vitest'
import { type Actor, makeActor, sender, testApp, testEnvironment } from '../../support/app.ts'
import { calendarOf, dayFromNow, listingWithCalendars, startCalendarServer } from '../../support/calendars.ts'
import { ownDatabase } from '../../support/databases.ts'
import { startService } from '../../support/processes.ts'
import { isSoak, soakFactor } from '../../support/soak.ts'

/**
 * Readings and bookings race for the last unit. In the soak, they are sent to two processes. Each lane has a host and a
 * server of its own, because readings at one server take turns.
 */
const lanes = isSoak ? 5 : 2
const roundsPerLane = isSoak ? 100 * soakFactor : 6

const MONGODB_URL = await ownDatabase()
const environment = { MONGODB_URL, WEBHOOKS_ALLOW_PRIVATE: 'on' }
const service = await testApp(environment)
const { reading, booking } = isSoak ? await twoProcesses() : { reading: service.send, booking: service.send }

async function twoProcesses() {
  const settings = { ...testEnvironment(environment), LOG_LEVEL: 'silent' }
  const started = await Promise.all([startService(settings), startService(settings)])
  afterAll(() => Promise.all(started.map((one) => one.stop())).then(() => {}))
  const [one, other] = started
  return { reading: sender(fetch, one.url), booking: sender(fetch, other.url) }
}

interface Round {
  isBooked: boolean
  /** True if the reading shows the night on which both took the only room. */
  isShown: boolean
}

test(`of the last unit, in ${lanes * roundsPerLane} races, a booking is refused or the reading shows the conflict`, async () => {
  const rounds = (await Promise.all(Array.from({ length: lanes }, () => runLane()))).flat()
  const wrong = rounds.filter(({ isBooked, isShown }) => isBooked !== isShown)
  expect({ rounds: rounds.length, wrong }).toEqual({ rounds: lanes * roundsPerLane, wrong: [] })
  const first = rounds.filter(({ isBooked }) => isBooked).length
  if (isSoak) console.log(`In ${first} of ${rounds.length} races, the booking came first`)
}, 600_000)

async function runLane(): Promise<Round[]> {
  const actor = await makeActor(service.live, service.send, {})
  const server = startCalendarServer((stop) => afterAll(() => stop().then(() => {})))
  server.serve('/', calendarOf([]))
  const { roomIds, ...ids } = await listingWithCalendars(actor, [`${server.url}/`])
  const entry = `/v1/integrations/provider_one/calendars/${roomIds[0]}`
  await expect.poll(async () => (await actor.send('GET', entry)).body.data.calendar.status).toBe('ok')
  const rounds: Round[] = []
  for (let round = 0; round < roundsPerLane; round += 1) {
    const night = { checkin_at: dayFromNow(3 * round + 3), checkout_at: dayFromNow(3 * round + 4) }
    // Two nights, because a block with a booking's dates would be that booking.
    const file = calendarOf([[night.checkin_at, dayFromNow(3 * round + 5)]])
    const booked = Promise.withResolvers<number>()
    // The booking starts while the file is on its way, sooner or later.
    server.serve('/', () => {
      const start = () => book(actor, { ...ids, ...night }).then(booked.resolve, booked.reject)
      setTimeout(start, Math.random() * 40)
      return new Response(file)
    })
    const shown = await readAccepting(actor, entry)
    server.serve('/', file)
    const status = await booked.promise
    expect([201, 422]).toContain(status)
    rounds.push({ isBooked: status === 201, isShown: shown.conflicts.includes(night.checkin_at) })
  }
  return rounds
}

async function book(actor: Actor, body: object): Promise<number> {
  const { status } = await booking('POST', '/v1/bookings', { key: actor.key, body, repeatWhileBusy: true })
  return status
}

async function readAccepting(actor: Actor, entry: string) {
  for (;;) {
    const { status, body } = await reading('POST', `${entry}/read`, {
      key: actor.key,
      body: { accept: true },
    })
    if (status === 200) return body.data.calendar
    expect(status).toBe(409)
    await Bun.sleep(50)
  }
}
