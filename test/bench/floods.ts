import { createHost } from '../../src/access/hosts/store.ts'
import { mintKey } from '../../src/access/keys/store.ts'
import { systemClock } from '../../src/core/clock.ts'
import { permissions } from '../../src/http/permissions.ts'
import { sender } from '../support/app.ts'
import { before, type Noted, type Side, showsCommands, withSides } from './behind-proxies.ts'
import type { Row } from './table.ts'

const refusals = 300
const smallLimit = 20
const crowd = 20
const provider = '/v1/integrations/provider_one'

/** How many more commands a refused request may take than before, because a flood also meets work in the background. */
const tolerance = 0.02

/** Why the requests are refused. */
type Reason = 'limit' | 'limit, filled elsewhere' | 'permission' | 'network'

/** A flood of requests that are all refused. */
interface Flood {
  reason: Reason
  request: 'feed page' | 'keyed booking'
  atOnce: number
}

/** What a refused request takes at the database. */
interface Cost {
  /** Commands that requests cause themselves. */
  own: number
  /** Also those of the log of requests, of the use of keys and of everything else in the background. */
  all: number
}

/** Counts the commands that refused requests cause at the database. */
export function floods(): Promise<Row[]> {
  return withSides(2, async (sides) => {
    for (const side of sides) side.startDelay()
    const rows: Row[] = []
    for (const reason of ['limit', 'limit, filled elsewhere', 'permission', 'network'] as const)
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
      const { own, all } = costs.get(side) as Cost
      const result = describe({ own, all })
      const work = workOf(flood, side)
      const old = before(sides, side)
      if (!old) return { work, result }
      const earlier = costs.get(old) as Cost
      return {
        work,
        result: `${result}; before ${describe(earlier)}`,
        aim: '≤ before',
        holds: own <= earlier.own + tolerance,
      }
    })
}

/** Lets a flood come and returns the commands for each refused request. */
async function costOf({ reason, request, atOnce }: Flood, side: Side): Promise<Cost> {
  const { key, sendTo } = await openHost(reason, side)
  // Both processes know the key before. The flood then meets the first one.
  const status = isOfLimit(reason) ? 429 : 403
  await sendTo(0, 'feed page', key)
  await sendTo(1, 'feed page', key)
  const filling = reason === 'limit, filled elsewhere' ? 1 : 0
  if (isOfLimit(reason)) while ((await sendTo(filling, 'feed page', key)).status !== status);
  side.startNoting()
  let sent = 0
  let refused = 0
  const client = async () => {
    while (sent < refusals) {
      sent += 1
      const response = await sendTo(0, request, key)
      if (response.status === status) refused += 1
      else if (!isOfLimit(reason)) throw new Error(`${request}: ${response.status} ${response.text}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, client))
  const commands = side.noted().filter(({ server }) => server === 'mongodb')
  const own = commands.filter(isOfRequest)
  if (showsCommands) print(workOf({ reason, request, atOnce }, side), side, own)
  return { own: own.length / refused, all: commands.length / refused }
}

/** Creates a host and a key that refuses requests for the reason. */
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
  return {
    key,
    sendTo(process: number, request: Flood['request'], withKey: string) {
      const send = sendToProcess[process] as ReturnType<typeof sender>
      if (request === 'feed page') return send('GET', `${provider}/bookings`, { key: withKey })
      const headers = { 'idempotency-key': crypto.randomUUID() }
      return send('POST', '/v1/bookings', { key: withKey, body: stay, headers })
    },
  }
}

function isOfLimit(reason: Reason): boolean {
  return reason.startsWith('limit')
}

/** Collections on which the service works in the background. */
const background = new Set([
  'alarms',
  'calendars',
  'certifications',
  'key_addresses',
  'leases',
  'outbox',
  'request_counts',
  'requests',
  'sandbox_keys',
  'sandboxes',
  'webhook_deliveries',
  'webhooks',
])

function isOfRequest({ text }: Noted): boolean {
  const [name, collection = ''] = text.split(' ')
  // The use of a key is stored in the background, and its record is read by requests.
  if (collection === 'keys') return name === 'find'
  return !background.has(collection)
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

function describe({ own, all }: Cost): string {
  return `${own.toFixed(2)} of ${all.toFixed(2)} commands`
}
