import { systemClock } from '../../src/core/clock.ts'
import { makeActor, sender, type TestResponse } from '../support/app.ts'
import { allowedWithoutRedis, prepareTrips, type TripName, trips } from '../support/trips.ts'
import {
  before,
  isOfBackground,
  type Noted,
  type Server,
  type Side,
  showsCommands,
  withSides,
} from './behind-proxies.ts'
import { median } from './measure.ts'
import { startReferences } from './servers.ts'
import type { Row } from './table.ts'

/** How long the proxies hold each answer of MongoDB and of Redis, as a network does. */
const delayMilliseconds = Number(process.env.MILLISECONDS ?? 20)
/** The delay for which the aims are made. With a shorter one, computing takes a larger share. */
const aimsDelay = 20

/** The requests to measure, by their names in `trips`; all by default. */
const wanted = process.env.REQUESTS?.split(',')
const names = (Object.keys(trips) as TripName[]).filter((name) => wanted?.includes(name) ?? true)

/** Requests before the proxies hold anything. */
const warmUps = 10
/** Requests of each row that are not counted. The first fetches the key's record. */
const skipped = 2
const repetitions = 15
const mostAttempts = 5
/** Between two requests, the outbox and others finish what a write leaves behind. */
const pauseMilliseconds = 150 + 10 * delayMilliseconds

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
  /** The same of the fastest request, which a busy machine delays less. */
  least: number
  /** The number of commands. */
  mongodb: number
  redis: number
}

type Send = () => Promise<TestResponse>
type Requests = Map<TripName, Send>

/**
 * Counts the round trips of single requests: a proxy holds each answer of MongoDB and of Redis, and the median time of a
 * request alone, divided by the delay, is the count.
 */
export function countTrips(): Promise<Row[]> {
  return withSides(1, async (sides) => {
    const requests = new Map<Side, Requests>()
    for (const side of sides) requests.set(side, await prepare(side))
    for (const side of sides) side.startDelay(delayMilliseconds)
    const rows: Row[] = []
    for (const name of names) rows.push(...(await rowsOf(name, requests)))
    return wanted ? rows : [...rows, ...(await referenceRows(sides[0] as Side))]
  })
}

/** Creates a host for each request, so that no request meets what another has changed. */
async function prepare({ db, urls }: Side): Promise<Requests> {
  const requests: Requests = new Map()
  for (const name of names) {
    const actor = await makeActor({ db, clock: systemClock }, sender(fetch, urls[0]))
    const { [name]: send } = await prepareTrips(actor)
    for (let count = 0; count < warmUps; count += 1) await send()
    requests.set(name, send)
  }
  return requests
}

/** Measures one request on all sides in turn, so that changes in the machine's speed affect them equally. */
async function rowsOf(name: TripName, requests: Map<Side, Requests>): Promise<Row[]> {
  const sides = [...requests.keys()]
  const all = new Map(sides.map((side): [Side, Sent[]] => [side, []]))
  for (let round = -skipped; round < repetitions; round += 1) {
    for (const side of sides) {
      const send = requests.get(side)?.get(name) as Send
      const sent = await sendOnce(`${workOf(name, side)}, ${side.release}`, side, send)
      if (round >= 0) all.get(side)?.push(sent)
    }
    if (round >= 0) await Bun.sleep(pauseMilliseconds)
  }
  if (showsCommands) for (const [side, sent] of all) print(name, side, sent)
  const figures = new Map([...all].map(([side, sent]) => [side, figuresOf(sent)]))
  return sides
    .filter(({ release }) => release === 'new')
    .map((side) => {
      const current = figures.get(side) as Figures
      const old = before(sides, side)
      const earlier = old ? `; before ${describe(figures.get(old) as Figures)}` : ''
      const row = { work: workOf(name, side), result: describe(current) + earlier }
      if (delayMilliseconds !== aimsDelay) return row
      const aim = trips[name].aim + (side.hasRedis ? 0 : allowedWithoutRedis)
      return { ...row, aim: `≤ ${aim.toFixed(1)}`, holds: Number(current.sequence.toFixed(1)) <= aim }
    })
}

/** Sends a request, and sends it again if a busy machine keeps it from succeeding. */
async function sendOnce(work: string, side: Side, send: Send): Promise<Sent> {
  for (let attempt = 1; ; attempt += 1) {
    side.startNoting()
    const at = performance.now()
    const { status, text } = await send()
    const milliseconds = performance.now() - at
    if (status < 300) return { at, milliseconds, commands: side.noted() }
    if (attempt === mostAttempts) throw new Error(`${work}: ${status} ${text}`)
    console.error(`${work}: ${status} ${text}`)
    await Bun.sleep(pauseMilliseconds)
  }
}

/** Measures what the least of such servers takes, behind the same proxies. They warm up like the service. */
async function referenceRows(side: Side): Promise<Row[]> {
  const actor = await makeActor({ db: side.db, clock: systemClock }, sender(fetch, side.urls[0]))
  await prepareTrips(actor)
  const references = await startReferences({
    ...side.settings,
    HOST_ID: String(actor.hostId),
    API_KEY: actor.key,
  })
  try {
    const rows: Row[] = []
    for (const { name, url } of references) {
      const send = sender(fetch, url)
      const { key } = actor
      const feedPage = () => send('GET', '/feed?updated_after=2020-01-01+00:00:00', { key })
      const book = () => send('POST', '/bookings', { key, body: referenceStay, headers: keyedJson() })
      rows.push(await referenceRow(`feed page of ${name}`, side, feedPage))
      rows.push(await referenceRow(`keyed booking with a message of ${name}`, side, book))
    }
    return rows
  } finally {
    for (const { end } of references) end()
  }
}

function keyedJson(): Record<string, string> {
  return { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() }
}

/** The reference servers look nothing up. */
const referenceStay = {
  user_id: 1,
  listing_id: 1,
  room_type_id: 1,
  checkin_at: '2031-01-01',
  checkout_at: '2031-02-01',
  message: 'Is there a desk?',
}

async function referenceRow(work: string, side: Side, send: Send): Promise<Row> {
  for (let count = 0; count < warmUps; count += 1) await sendOnce(work, side, send)
  const all: Sent[] = []
  while (all.length < repetitions) {
    all.push(await sendOnce(work, side, send))
    await Bun.sleep(pauseMilliseconds)
  }
  return { work, result: describe(figuresOf(all)) }
}

function workOf(name: TripName, { hasRedis }: Side): string {
  return trips[name].name + (hasRedis ? '' : ', without Redis')
}

/** Takes the fewest commands of any request, because some also fetch a block of ids or meet work in the background. */
function figuresOf(sent: Sent[]): Figures {
  const fewest = (server: Server) => Math.min(...sent.map(({ commands }) => count(commands, server)))
  const times = sent.map(({ milliseconds }) => milliseconds)
  return {
    sequence: median(times) / delayMilliseconds,
    least: Math.min(...times) / delayMilliseconds,
    mongodb: fewest('mongodb'),
    redis: fewest('redis'),
  }
}

function count(commands: Noted[], of: Server): number {
  return commands.filter((command) => command.server === of && !isOfBackground(command)).length
}

/** Prints the commands of the request that took the median time, and when each was sent, in round trips. */
function print(name: TripName, side: Side, sent: Sent[]): void {
  const byTime = sent.toSorted((a, b) => a.milliseconds - b.milliseconds)
  const { at, milliseconds, commands } = byTime[Math.floor(byTime.length / 2)] as Sent
  const inTrips = (time: number) => (time / delayMilliseconds).toFixed(1).padStart(6)
  console.error(`\n${workOf(name, side)}, ${side.release}:`)
  for (const command of commands) console.error(`${inTrips(command.at - at)} ${command.text}`)
  console.error(`${inTrips(milliseconds)} response`)
}

function describe({ sequence, least, mongodb, redis }: Figures): string {
  return `${sequence.toFixed(1)}, least ${least.toFixed(1)} (commands ${mongodb} + ${redis})`
}
