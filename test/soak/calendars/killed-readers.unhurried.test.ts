import { expect, test } from 'vitest'
import { type Actor, testApp, testEnvironment } from '../../support/app.ts'
import { calendarOf, dayFromNow, listingWithCalendars, startCalendarServer } from '../../support/calendars.ts'
import { onScopeEnd, ownDatabase } from '../../support/databases.ts'
import { startService } from '../../support/processes.ts'
import { type Fate, type RelayedCommand, startStoppingRelay } from '../../support/stopping-relay.ts'

/** A state of a reading in which its process is killed. */
interface State {
  name: string
  /** How the server of calendars answers; the whole file at once if absent. */
  serves?: 'nothing' | 'half'
  /** What becomes of each command of the process. */
  commands?: Stopping
  /** True if the reading has been stored by then. */
  isStored?: true
}

/** Decides what becomes of the commands of a process that reads the calendar of a host. */
type Stopping = (hostId: number) => (command: RelayedCommand) => Fate

/** Each state that a reading passes through, in order (`stays/calendars/reader.ts` and `save.ts`). */
const states: State[] = [
  {
    name: 'before it knows of its claim',
    commands: atCommand('findAndModify calendars', 'is never answered'),
  },
  { name: 'before the file has begun to come', serves: 'nothing' },
  { name: 'while the file is coming', serves: 'half' },
  { name: 'before its transaction', commands: inReading('find calendars', 'is kept back') },
  { name: 'before it has decided', commands: inReading('find calendars', 'is never answered') },
  { name: 'before its first write', commands: inReading('findAndModify host_clocks', 'is kept back') },
  { name: 'after its first write', commands: inReading('findAndModify host_clocks', 'is never answered') },
  { name: 'before the blocks are written', commands: inReading('update calendars', 'is kept back') },
  { name: 'after the blocks were written', commands: inReading('update calendars', 'is never answered') },
  { name: 'before the commit arrives', commands: inReading('commitTransaction 1', 'is kept back') },
  {
    name: 'after the commit, without knowing of it',
    commands: inReading('commitTransaction 1', 'is never answered'),
    isStored: true,
  },
  { name: 'after the commit, before it does anything else', commands: afterReading, isStored: true },
]

/*
 * Only commands of the host whose calendar is meant count, because a process also reads the calendars of processes that were
 * killed more than two minutes ago.
 */

/** Stops the process at the first command of this name. */
function atCommand(name: string, fate: Fate): Stopping {
  return (hostId) => (command) => (command.ownerId === hostId && nameOf(command) === name ? fate : 'passes')
}

/**
 * Stops the process at the command of this name once a reading's transaction has begun, which it does with the calendar. A
 * command beside the transaction counts too: a write there is half of a reading.
 */
function inReading(name: string, fate: Fate): Stopping {
  return (hostId) => {
    let reading: string | null = null
    return (command) => {
      if (isCalendarOf(hostId, command)) reading ??= command.transaction
      if (reading === null || nameOf(command) !== name) return 'passes'
      const isBeside = command.transaction === null && command.ownerId === hostId
      return isBeside || command.transaction === reading ? fate : 'passes'
    }
  }
}

/** Stops the process at the first command that looks at calendars after a reading's transaction has ended. */
function afterReading(hostId: number) {
  let reading: string | null = null
  let isCommitted = false
  return (command: RelayedCommand): Fate => {
    if (isCalendarOf(hostId, command)) reading ??= command.transaction
    if (isCommitted && nameOf(command) === 'find calendars') return 'is kept back'
    const isOfReading = reading !== null && command.transaction === reading
    if (isOfReading && command.name === 'commitTransaction') isCommitted = true
    return 'passes'
  }
}

function isCalendarOf(hostId: number, command: RelayedCommand): boolean {
  return command.ownerId === hostId && nameOf(command) === 'find calendars'
}

function nameOf({ name, collection }: RelayedCommand): string {
  return `${name} ${collection}`
}

/** The nights in the file that was read well before, and in the file as it is when a process is killed. */
const before: [string, string][] = [
  [dayFromNow(5), dayFromNow(8)],
  [dayFromNow(20), dayFromNow(22)],
]
const after: [string, string][] = [...before, [dayFromNow(40), dayFromNow(45)]]
const file = calendarOf(after)

/** Answers a request for the file as a state wants it, and tells when the process waits. */
function serveOf({ serves }: State, waits: () => void): () => Promise<Response> {
  return async () => {
    if (serves === undefined) return new Response(file)
    if (serves === 'nothing') {
      waits()
      await Bun.sleep(60_000)
    }
    const half = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(file.slice(0, file.length / 2)))
        setTimeout(waits, 100)
      },
    })
    return new Response(half)
  }
}

const settings = { WEBHOOKS_ALLOW_PRIVATE: 'on', LOG_LEVEL: 'silent' }
const MONGODB_URL = await ownDatabase()
const observer = await testApp({ ...settings, MONGODB_URL })
// Only the victims read by themselves.
await observer.live.calendars.stop()

/** A room whose calendar a process was reading when it was killed. */
interface Victim {
  actor: Actor
  name: string
  path: string
  nights: string
  killedAt: number
}

/** Returns what a partner sees of a room's calendar and of its nights. */
async function seen({ actor, path, nights }: Victim) {
  const { calendar } = (await actor.send('GET', path)).body.data
  const counted = (await actor.send('GET', nights)).body.data.nights
  const [ofListing] = Object.values<Record<string, { date: string; blocked: number }[]>>(counted)
  const blocked: string[] = []
  for (const night of Object.values(ofListing ?? {}).flat())
    for (let room = 0; room < night.blocked; room += 1) blocked.push(night.date)
  const ranges = (calendar.blocks as { start_date: string; end_date: string }[]).map(
    ({ start_date, end_date }) => [start_date, end_date],
  )
  return { ranges, blocked }
}

/** What is seen after a reading of a file with these ranges of nights, each of which is one block of one room. */
function whole(ranges: [string, string][]) {
  const blocked: string[] = []
  for (let day = 0; day < 60; day += 1) {
    const date = dayFromNow(day)
    if (ranges.some(([start, end]) => start <= date && date < end)) blocked.push(date)
  }
  return { ranges, blocked }
}

/** Has a process killed while it reads a calendar, for the first time or again. */
async function kill(state: State, isFirst: boolean): Promise<Victim> {
  const actor = await observer.actor()
  const server = startCalendarServer(onScopeEnd)
  const { listing_id, roomIds } = await listingWithCalendars(actor, [`${server.url}/`, null])
  const path = `/v1/integrations/provider_one/calendars/${roomIds[0]}`
  const nights = `/v1/integrations/provider_one/availability/nights?listing_id=${listing_id}&start_date=${dayFromNow(0)}&end_date=${dayFromNow(59)}`
  if (!isFirst) {
    server.serve('/', calendarOf(before))
    expect((await actor.send('POST', `${path}/read`)).status).toBe(200)
  }
  const waiting = Promise.withResolvers<void>()
  server.serve('/', serveOf(state, waiting.resolve))
  const relay = await startStoppingRelay(MONGODB_URL, state.commands?.(actor.hostId) ?? (() => 'passes'))
  const victim = await startService({ ...testEnvironment(settings), MONGODB_URL: relay.url })
  // A new address is read by itself, a known one because its host asks for it.
  const asked = isFirst
    ? null
    : fetch(`${victim.url}${path}/read`, {
        method: 'POST',
        headers: { 'x-api-key': actor.key, 'content-type': 'application/json' },
        body: JSON.stringify({ accept: true }),
      }).catch(() => null)
  const name = `${isFirst ? 'first reading' : 'later reading'}, ${state.name}`
  let isWaiting = false
  Promise.race([waiting.promise, relay.stopped]).then(() => {
    isWaiting = true
  })
  await expect.poll(() => isWaiting, { timeout: 120_000, message: name }).toBe(true)
  await victim.stop()
  await asked
  relay.stop()
  server.serve('/', file)
  return { actor, name, path, nights, killedAt: Date.now() }
}

test('in whatever state of a reading its process is killed, nothing is half written, and another process reads the calendar within 2 minutes', async () => {
  const victims: Victim[] = []
  for (const isFirst of [true, false])
    for (const state of states) {
      const victim = await kill(state, isFirst)
      const stored = state.isStored ? after : before
      const expected = whole(isFirst && !state.isStored ? [] : stored)
      // A commit that was on its way may be seen a moment later.
      if (state.isStored) await expect.poll(() => seen(victim), { message: victim.name }).toEqual(expected)
      expect({ name: victim.name, ...(await seen(victim)) }).toEqual({ name: victim.name, ...expected })
      victims.push(victim)
    }
  const survivor = await startService({ ...testEnvironment({ ...settings, MONGODB_URL }) })
  const readyAt = Date.now()
  try {
    for (const victim of victims) {
      const { actor, name, path, killedAt } = victim
      const shown = async () => (await actor.send('GET', path)).body.data.calendar
      await expect.poll(shown, { timeout: 200_000 }).toMatchObject({ status: 'ok', nights: 10 })
      // A claim ends after two minutes, and the survivor looks at least every 30 s. It reads all of them in another 30 s.
      const latest = Math.max(killedAt + 120_000, readyAt) + 60_000
      expect(Date.parse((await shown()).read_at), name).toBeLessThan(latest)
      expect({ name, ...(await seen(victim)) }).toEqual({ name, ...whole(after) })
      const again = await actor.send('POST', `${path}/read`, { body: { accept: true } })
      expect({ name, status: again.status, ...(await seen(victim)) }).toEqual({
        name,
        status: 200,
        ...whole(after),
      })
    }
  } finally {
    await survivor.stop()
  }
}, 900_000)
