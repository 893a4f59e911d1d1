import { mintKey } from '../../src/access/keys/store.ts'
import { type Permission, permissions } from '../../src/http/permissions.ts'
import { exampleRequests } from '../../src/pages/docs/examples.ts'
import type { Actor, TestApp } from './app.ts'
import {
  fillOwn,
  idPlaces,
  type KeyedRoute,
  makeOwnIds,
  type OwnIds,
  operationOf,
  type Prefix,
  prefixes,
  triedRoutes,
  withOwnIds,
  withValueAt,
} from './routes.ts'

/** A request that a route would accept, as far as faults change it. */
interface Attempt {
  /** The key's own restrictions; a key is minted for each combination. */
  restricted: { permissions?: Permission[]; rateLimit?: number; allowedFrom?: string[] }
  /** Sent instead of a key with these restrictions; null sends none. */
  key?: string | null
  provider: string
  /** The ids in the path. */
  ids: OwnIds
  query: Record<string, string>
  headers: Record<string, string>
  body: object | undefined
  /** Makes the body's text of its JSON. */
  toText: (json: string) => string
}

/** One host's ids and those of another host. */
interface Ids {
  own: OwnIds
  foreign: OwnIds
}

/** Something wrong with a request. */
interface Fault {
  name: string
  /** True if a request to the route can have the fault. */
  isPossible(route: TriedRoute, ids: Ids): boolean
  apply(attempt: Attempt, route: TriedRoute, ids: Ids): Attempt
}

interface TriedRoute extends KeyedRoute {
  /** True if the route takes an `Idempotency-Key`. */
  isIdempotent: boolean
}

export const maxBodyBytes = 16 * 1024

const exampleOf = (route: KeyedRoute) => exampleRequests[operationOf(route)] as object | undefined

const firstField = (route: KeyedRoute) => Object.keys(exampleOf(route) ?? {})[0]

const placesOf = (route: KeyedRoute, { own }: Ids) =>
  idPlaces(withOwnIds(exampleOf(route) ?? {}, own), own).filter(({ kind }) => own[kind] !== undefined)

const hasId = ({ path }: KeyedRoute) => /:(?!provider)\w+/.test(path)

/** The faults, in the order in which decisions §1 lists their checks. */
const faults: Fault[] = [
  {
    name: 'no key',
    isPossible: () => true,
    apply: (attempt) => ({ ...attempt, key: null }),
  },
  {
    name: 'invalid key',
    isPossible: () => true,
    apply: (attempt) => ({ ...attempt, key: 'x' }),
  },
  {
    name: 'over the limit',
    // Reaching the limit of a route that reads about its own key takes 61 requests.
    isPossible: ({ limit }) => limit === 'default',
    apply: (attempt) => ({ ...attempt, restricted: { ...attempt.restricted, rateLimit: 1 } }),
  },
  {
    name: 'foreign network',
    isPossible: () => true,
    apply: (attempt) => ({
      ...attempt,
      restricted: { ...attempt.restricted, allowedFrom: ['198.51.100.0/24'] },
    }),
  },
  {
    name: 'no permission',
    isPossible: ({ permission }) => permission !== 'any',
    apply: (attempt) => ({ ...attempt, restricted: { ...attempt.restricted, permissions: [] } }),
  },
  {
    name: 'unknown provider',
    isPossible: ({ path }) => path.includes(':provider'),
    apply: (attempt) => ({ ...attempt, provider: 'provider_two' }),
  },
  {
    name: 'malformed Idempotency-Key',
    isPossible: ({ isIdempotent }) => isIdempotent,
    apply: (attempt) => withHeader(attempt, 'idempotency-key', 'k'.repeat(256)),
  },
  {
    name: 'body too large',
    isPossible: ({ body }) => body === 'json' || body === 'optional',
    apply: (attempt) => withText(attempt, (json) => json + ' '.repeat(maxBodyBytes)),
  },
  {
    name: 'compressed body',
    isPossible: ({ takesBody }) => takesBody,
    apply: (attempt) => withHeader(attempt, 'content-encoding', 'gzip'),
  },
  {
    name: 'malformed JSON',
    isPossible: ({ takesBody }) => takesBody,
    apply: (attempt) => withText(attempt, (json) => `${json}x`),
  },
  {
    name: 'malformed query',
    isPossible: ({ queries }) => queries.length > 0,
    apply: (attempt, { queries }) => ({
      ...attempt,
      query: { ...attempt.query, [queries[0] as string]: '%zz' },
    }),
  },
  {
    name: 'malformed field',
    isPossible: (route) => route.takesBody && firstField(route) !== undefined,
    apply: (attempt, route) => ({
      ...attempt,
      body: withValueAt(attempt.body as object, [firstField(route) as string], { odd: true }),
    }),
  },
  {
    name: 'unknown field, strictly',
    isPossible: ({ takesBody }) => takesBody,
    apply: (attempt) => ({
      ...withHeader(attempt, 'prefer', 'handling=strict'),
      body: { ...attempt.body, no_such_field: 1 },
    }),
  },
  {
    name: 'foreign id in the path',
    // Names of consumers and scenarios are no host's own.
    isPossible: (route) => hasId(route) && !route.path.endsWith('/:name'),
    apply: (attempt, _, { foreign }) => ({ ...attempt, ids: foreign }),
  },
  {
    name: 'malformed id in the path',
    isPossible: hasId,
    apply: (attempt) => ({
      ...attempt,
      ids: Object.fromEntries(Object.keys(attempt.ids).map((kind) => [kind, 'A_b'])),
    }),
  },
  {
    name: 'foreign id in the body',
    isPossible: (route, ids) => route.takesBody && placesOf(route, ids).length > 0,
    apply: (attempt, route, ids) => {
      let body = attempt.body as object
      for (const { path, kind } of placesOf(route, ids)) {
        if (!hasPlace(body, path)) continue
        body = withValueAt(body, path, ids.foreign[kind])
      }
      return { ...attempt, body }
    },
  },
]

function withHeader(attempt: Attempt, name: string, value: string): Attempt {
  return { ...attempt, headers: { ...attempt.headers, [name]: value } }
}

function withText(attempt: Attempt, change: Attempt['toText']): Attempt {
  return { ...attempt, toText: (json) => change(attempt.toText(json)) }
}

/** False for a place inside a field that another fault has replaced. */
function hasPlace(value: unknown, [key, ...rest]: (string | number)[]): boolean {
  if (key === undefined) return true
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false
  return hasPlace((value as Record<string | number, unknown>)[key], rest)
}

/**
 * Sends each route a request with every fault and every pair of faults that it can have, and returns a text with the
 * statuses: a block for all routes that answer alike, with a row and a column for each fault. Two faults that exclude
 * each other, such as two wrong keys, have a dash. A sandbox route that answers like its live twin is left out; only the
 * soak tries it.
 *
 * @param service has at most {@link maxBodyBytes} for a body
 */
export async function faultTable(service: TestApp): Promise<string> {
  const blockOfRoute = new Map<string, string>()
  for (const prefix of prefixes) {
    const foreign = await makeOwnIds(await service.actor(), prefix)
    const usual = await newCaller(service, prefix)
    for (const route of triedRoutesOf(service, prefix)) {
      // A key may send 60 requests a minute to routes with the limit `insight`, so each of them has its own.
      const caller = route.limit === 'insight' ? await newCaller(service, prefix) : usual
      const block = await blockOf(route, { own: caller.own, foreign }, (attempt) =>
        statusOf(service, caller, route, attempt),
      )
      const live = blockOfRoute.get(`${route.method} ${route.path.replace('/sandbox', '/v1')}`)
      if (live !== block) blockOfRoute.set(`${route.method} ${route.path}`, block)
    }
  }
  const blocks = [...Map.groupBy(blockOfRoute, ([, block]) => block)]
  blocks.sort(([one], [other]) => rowsOf(one) - rowsOf(other) || (one < other ? -1 : 1))
  const texts = blocks.map(([block, routes]) => [...namesOf(routes), block, ''].join('\n'))
  return texts.join('\n')
}

function rowsOf(block: string): number {
  return block.split('\n').length
}

/** Returns the names of routes, ordered by path, so that a new route or another order of the routes moves no line. */
function namesOf(routes: [name: string, block: string][]): string[] {
  const byPath = ([name]: [string, string]) => name.split(' ').reverse().join(' ')
  return routes.sort((one, other) => (byPath(one) < byPath(other) ? -1 : 1)).map(([name]) => name)
}

/** Returns the rows of a route: one for each fault, with the statuses that it has with those before it and alone. */
async function blockOf(
  route: TriedRoute,
  ids: Ids,
  statusWith: (attempt: Attempt) => Promise<number>,
): Promise<string> {
  const possible = faults.filter(({ isPossible }) => isPossible(route, ids))
  const rows = possible.map(async (fault, index) => {
    const cells = possible.slice(0, index + 1).map(async (earlier) => {
      if (excludes(earlier, fault)) return ' - '
      const pair = earlier === fault ? [fault] : [earlier, fault]
      return String(await statusWith(attemptWith(pair, route, ids)))
    })
    return `  ${fault.name.padEnd(26)} ${(await Promise.all(cells)).join(' ')}`
  })
  return (await Promise.all(rows)).join('\n')
}

/** Sends the requests to a route: its key, and keys of the same host with restrictions. */
interface TableCaller {
  actor: Actor
  own: OwnIds
  restrictedKeys: Map<string, Promise<string>>
}

async function newCaller(service: TestApp, prefix: Prefix): Promise<TableCaller> {
  const actor = await service.actor()
  return { actor, own: await makeOwnIds(actor, prefix), restrictedKeys: new Map() }
}

async function keyOf(
  { live }: TestApp,
  { actor, restrictedKeys }: TableCaller,
  restricted: Attempt['restricted'],
): Promise<string> {
  const name = JSON.stringify(restricted)
  if (name === '{}') return actor.key
  const input = { host: actor.hostId, name: 'k', rateLimit: 1_000_000, permissions: [...permissions] }
  const mint = () => mintKey(live.db, live.clock, { ...input, ...restricted }).then((minted) => minted.key)
  const key = restrictedKeys.get(name) ?? mint()
  restrictedKeys.set(name, key)
  return key
}

function triedRoutesOf(service: TestApp, prefix: Prefix): TriedRoute[] {
  const idempotent = new Set<string>()
  for (const { method, path, hooks } of service.app.routes) {
    const parameters: { name: string }[] = hooks?.detail?.parameters ?? []
    if (parameters.some(({ name }) => name === 'Idempotency-Key')) idempotent.add(`${method} ${path}`)
  }
  const ofPrefix = triedRoutes(service).filter(({ path }) => path.startsWith(`${prefix}/`) || path === prefix)
  return ofPrefix.map((route) => ({
    ...route,
    isIdempotent: idempotent.has(`${route.method} ${route.path}`),
  }))
}

/** True if a request cannot have both faults: it has only one key, and without a key it has no key's restrictions. */
function excludes(one: Fault, other: Fault): boolean {
  const ofKeys = ['no key', 'invalid key', 'over the limit', 'foreign network', 'no permission']
  const wrongKeys = ofKeys.slice(0, 2)
  return one !== other && wrongKeys.includes(one.name) && ofKeys.includes(other.name)
}

function attemptWith(chosen: Fault[], route: TriedRoute, ids: Ids): Attempt {
  const valid: Attempt = {
    restricted: {},
    provider: 'provider_one',
    ids: ids.own,
    query: route.requiredQuery,
    headers: {},
    body: route.takesBody ? withOwnIds(exampleOf(route) ?? {}, ids.own) : undefined,
    toText: (json) => json,
  }
  return chosen.reduce((attempt, fault) => fault.apply(attempt, route, ids), valid)
}

async function statusOf(
  service: TestApp,
  caller: TableCaller,
  route: TriedRoute,
  attempt: Attempt,
): Promise<number> {
  const key = attempt.key === undefined ? await keyOf(service, caller, attempt.restricted) : attempt.key
  const path = fillOwn(route.path, attempt.ids).replace('provider_one', attempt.provider)
  const query = Object.entries(attempt.query).map(([name, value]) => `${name}=${value}`)
  const body = attempt.body && attempt.toText(JSON.stringify(attempt.body))
  // The first request uses up the limit.
  if (attempt.restricted.rateLimit) await service.send('GET', '/v1/me', { key })
  const { status } = await service.send(route.method, `${path}?${query.join('&')}`, {
    key,
    headers: attempt.headers,
    ...(body === undefined ? {} : { body }),
  })
  return status
}
