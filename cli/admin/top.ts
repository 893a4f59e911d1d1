import { findHost } from '../../src/access/hosts/store.ts'
import { findKeysByIds } from '../../src/access/keys/store.ts'
import { readTotals } from '../../src/access/requests/counts-store.ts'
import { addKinds, type KindCounts, kindOf } from '../../src/access/requests/kinds.ts'
import { countEntries } from '../../src/access/requests/store.ts'
import { clientNetwork } from '../../src/http/input/client-address.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'
import { command, option } from '../shared/command.ts'
import { UsageError } from '../shared/errors.ts'
import { note } from '../shared/output.ts'
import { limitArgument, oneOf, parseDuration } from '../shared/values.ts'
import { printEntries } from './administer.ts'

const dimensions = ['key', 'host', 'address', 'route'] as const
type Dimension = (typeof dimensions)[number]

/** Maximum value of `--since`, in seconds: the time for which exact request counts are kept (decisions §18). */
const maxSeconds = 86_400

/** The request counts and failed authentications of one key, host, address or route. */
type Named = { name: string | number; counts: KindCounts; failures?: number }

/** Reads the counts for a dimension. The result may contain a name more than once. */
async function read(db: Db, by: Dimension, since: Date): Promise<Named[]> {
  if (by === 'route') {
    const routeOf = (path: string) =>
      path
        .replace(/\/(consumers|scenarios)\/[^/]+/, '/$1/:name')
        .replace(/\/(\d+|…|msg_[0-9a-f]{24})(?=\/|$)/g, '/:id')
    const entries = await countEntries(db, 'path', since)
    return entries.map(({ of, status, count }) => ({
      name: routeOf(of),
      counts: { [kindOf(status)]: count },
    }))
  }
  const totals = await readTotals(db, since)
  if (by !== 'address')
    return totals
      .filter(({ address }) => address === null)
      .map(({ key_id, host_id, counts }) => ({ name: by === 'key' ? key_id : host_id, counts }))
  const entries = await countEntries(db, 'address', since)
  const found: Named[] = entries.map(({ of, status, count }) => ({
    name: clientNetwork(of),
    counts: { [kindOf(status)]: count },
  }))
  for (const { address, counts } of totals) {
    if (address === null) continue
    const { refused = 0, limited = 0 } = counts
    found.push({ name: address, counts: {}, failures: refused + limited })
  }
  return found
}

/** Returns a row for each name with the sums of its counts, largest first. */
function rank(found: Named[]) {
  const sums = Map.groupBy(found, ({ name }) => name)
  const rows = [...sums].map(([name, all]) => {
    const counts = { succeeded: 0, refused: 0, limited: 0, failed: 0, unanswered: 0 }
    for (const one of all) addKinds(counts, one.counts)
    const failed_authentications = sumOf(all.map(({ failures = 0 }) => failures))
    return { name, requests: sumOf(Object.values(counts)), ...counts, failed_authentications }
  })
  const weight = (row: (typeof rows)[number]) => row.requests + row.failed_authentications
  return rows.sort(
    (one, other) => weight(other) - weight(one) || String(one.name).localeCompare(String(other.name)),
  )
}

const sumOf = (counts: number[]) => counts.reduce((sum, count) => sum + count, 0)

/** Returns a key's name and host, or a host's e-mail address; null for an unknown key. */
async function describe(db: Db, by: Dimension, id: number): Promise<string | null> {
  if (by === 'host') return (await findHost(db, id)).email
  const [key] = await findKeysByIds(db, [id])
  return key ? `${key.name} (host ${key.host_id})` : null
}

export const top = command({
  meta: {
    name: 'top',
    description: 'Rank keys, hosts, client addresses or routes by their requests (administrator)',
  },
  examples: ['partnerctl requests top', 'partnerctl requests top --by address --since 15m'],
  args: {
    by: option('key, host, address or route (default: key)', 'what'),
    since: option('How far back to count, up to 24h (default: 1h)', 'duration'),
    ...limitArgument('rows', 20),
  },
  async run({ args }) {
    const by = oneOf(dimensions, args.by ?? 'key')
    const seconds = parseDuration(args.since ?? '1h')
    if (seconds > maxSeconds) throw new UsageError('Option --since takes at most 24h')
    const isExact = by === 'key' || by === 'host'
    if (!isExact)
      note(
        'Requests are counted from the log, which keeps only the last 1,000 successes and 9,900 failures of each key',
      )
    await printEntries(args, {
      async find({ db, clock }, limit) {
        const rows = rank(await read(db, by, new Date(clock().getTime() - seconds * 1000))).slice(0, limit)
        if (!isExact) return rows.map((row) => ({ ...row, of: null }))
        return Promise.all(
          rows.map(async (row) => ({ ...row, of: await describe(db, by, Number(row.name)) })),
        )
      },
      toRow: (row) => row,
      hint: () => 'raise --limit to see more',
      columns: {
        [by.toUpperCase()]: 'name',
        ...(isExact ? { OF: 'of' } : {}),
        REQUESTS: 'requests',
        SUCCEEDED: 'succeeded',
        REFUSED: 'refused',
        LIMITED: 'limited',
        FAILED: 'failed',
        ...(by === 'address' ? { 'FAILED AUTHENTICATIONS': 'failed_authentications' } : {}),
      },
    })
  },
})
