import { createHost } from '../../src/access/hosts/store.ts'
import { mintKey } from '../../src/access/keys/store.ts'
import { systemClock } from '../../src/core/clock.ts'
import { permissions } from '../../src/http/permissions.ts'
import { sender } from '../support/app.ts'
import { before, isOfBackground, type Noted, type Side, showsCommands, withSides } from './behind-proxies.ts'
import type { Row } from './table.ts'

const requests = 300
const smallLimit = 20
const crowd = 20
const provider = '/v1/integrations/provider_one'

/** How long each answer is held, so that requests overlap. Redis would count as late with much more. */
const delayMilliseconds = 5

/** How many more commands a refused request may take than before, because a flood also meets work in the background. */
const tolerance = 0.02

/** A flood on a busy machine is repeated if Redis was late and the process counted on its own. */
const mostAttempts = 5

const reasons = [
  'limit',
  'limit, filled elsewhere',
  'limit, reached meanwhile',
  'permission',
  'network',
] as const

/** Why the requests are refused. */
type Reason = (typeof reasons)[number]

/** A flood of requests that are refused. */
interface Flood {
  reason: Reason
  request: 'feed page' | 'keyed booking'
  atOnce: number
}

/** Commands to the database for each refused request. */
interface Cost {
  /** Those of the requests themselves, except for the key's record. */
  own: number
  /** Reads of the key's record and of its host, which a process repeats every 5 s. */
  record: number
  /** All, also those for the log of requests and everything else in the background. */
  all: number
}

/** Counts the commands that refused requests cause at the database. */
export function floods(): Promise<Row[]> {
  return withSides(2, async (sides) => {
    for (const side of sides) side.startDelay(delayMilliseconds)
    const rows: Row[] = []
    for (const reason of reasons)
      for (const request of ['feed page', 'keyed booking'] as const)
        for (const atOnce of [1, crowd]) rows.push(...(await rowsOf({ reason, request, atOnce }, sides)))
    return rows
  })
}

async function rowsOf(flood: Flood, all: Side[]): Promise<Row[]> {
  // Without Redis, each process counts on its own.
  const sides = flood.reason === 'limit, filled elsewhere' ? all.filter(({ hasRedis }) => hasRedis) : all
  const costs = new Map<Side, Cost>()
  for (const side of sides) costs.set(side, await costOf(flood, side))
  return sides
    .filter(({ release }) => release === 'new')
    .map((side) => {
      const cost = costs.get(side) as Cost
      const row = { work: workOf(flood, side), result: describe(cost) }
      const old = before(sides, side)
      if (!old) return row
      const earlier = costs.get(old) as Cost
      return {
        ...row,
        result: `${row.result}; before ${describe(earlier)}`,
        aim: '≤ before',
        holds: cost.own <= earlier.own + tolerance,
      }
    })
}

async function costOf(flood: Flood, side: Side): Promise<Cost> {
  let sent = await sendFlood(flood, side)
  for (let attempt = 1; attempt < mostAttempts && sent.accepted > acceptedOf(flood); attempt += 1)
    sent = await sendFlood(flood, side)
  const { refused, accepted, commands } = sent
  if (accepted > acceptedOf(flood)) console.error(`${workOf(flood, side)}: ${accepted} were accepted`)
  if (showsCommands) print(workOf(flood, side), side, commands)
  const count = (isCounted: (command: Noted) => boolean) => commands.filter(isCounted).length / refused
  return { own: count(isOwn), record: count(isOfRecord), all: count(() => true) }
}

/** Returns how many requests of a flood the key has room for. */
function acceptedOf({ reason }: Flood): number {
  return reason === 'limit, reached meanwhile' ? smallLimit - 1 : 0
}

/** Lets a flood meet the first process, after it has seen that the key has room. */
async function sendFlood({ reason, request, atOnce }: Flood, side: Side) {
  const sendTo = await openHost(reason, side)
  await sendTo(0, 'feed page')
  const filler = fillerOf(reason)
  if (filler !== null) while ((await sendTo(filler, 'feed page')).status !== 429);
  side.startNoting()
  let sent = 0
  let refused = 0
  const client = async () => {
    while (sent < requests) {
      sent += 1
      const { status } = await sendTo(0, request)
      if (status === (isOfLimit(reason) ? 429 : 403)) refused += 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, client))
  const commands = side.noted().filter(({ server }) => server === 'mongodb')
  return { refused, accepted: sent - refused, commands }
}

/** Returns the process that first gets as many requests as the key has room for; null for none. */
function fillerOf(reason: Reason): number | null {
  if (reason === 'limit') return 0
  return reason === 'limit, filled elsewhere' ? 1 : null
}

/** Creates a host and a key that refuses requests for the reason; returns a function that sends one to a process. */
async function openHost(reason: Reason, { db, urls }: Side) {
  const email = `${crypto.randomUUID()}@example.com`
  const host = await createHost(db, systemClock, { name: 'Flood', email })
  const { key } = await mintKey(db, systemClock, {
    host: host.id,
    name: 'Flood',
    permissions: reason === 'permission' ? ['users.read'] : [...permissions],
    rateLimit: isOfLimit(reason) ? smallLimit : 1_000_000,
    allowedFrom: reason === 'network' ? ['192.0.2.0/24'] : [],
  })
  const sendToProcess = urls.map((url) => sender(fetch, url))
  const stay = {
    user_id: 1,
    listing_id: 1,
    room_type_id: 1,
    checkin_at: '2031-01-01',
    checkout_at: '2031-02-01',
  }
  return (process: number, request: Flood['request']) => {
    const send = sendToProcess[process] as ReturnType<typeof sender>
    if (request === 'feed page') return send('GET', `${provider}/bookings`, { key })
    const headers = { 'idempotency-key': crypto.randomUUID() }
    return send('POST', '/v1/bookings', { key, body: stay, headers })
  }
}

function isOfLimit(reason: Reason): boolean {
  return reason !== 'permission' && reason !== 'network'
}

function isOfRecord({ text }: Noted): boolean {
  return text === 'find keys' || text === 'find hosts'
}

function isOwn(command: Noted): boolean {
  return !isOfRecord(command) && !isOfBackground(command)
}

function workOf({ reason, request, atOnce }: Flood, { hasRedis }: Side): string {
  const refusal = isOfLimit(reason) ? '429' : '403'
  const crowded = atOnce > 1 ? `, ${atOnce} at once` : ''
  return `${refusal} (${reason}): ${request}${crowded}${hasRedis ? '' : ', without Redis'}`
}

function print(work: string, { release }: Side, commands: Noted[]): void {
  console.error(`\n${work}, ${release}:`)
  for (const [text, sent] of Map.groupBy(commands, (command) => command.text))
    console.error(`${String(sent.length).padStart(6)} ${text}`)
}

function describe({ own, record, all }: Cost): string {
  return `${own.toFixed(2)} (key ${record.toFixed(2)}, all ${all.toFixed(2)})`
}
