import fc, { type Arbitrary } from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Actor, sender, type TestResponse, testApp, testEnvironment } from '../support/app.ts'
import { type ServiceProcess, startService } from '../support/processes.ts'
import { type KeyedRoute, keyedRoutes, prefixes } from '../support/routes.ts'
import { runs } from '../support/soak.ts'
import { validBodies } from '../support/valid-bodies.ts'

const service = await testApp()
const actor: Actor = await service.actor()
const routes = keyedRoutes(service)
const examples = Object.assign(
  {},
  ...(await Promise.all(prefixes.map((prefix) => validBodies(actor, prefix)))),
)
let process: ServiceProcess
let send: ReturnType<typeof sender>

beforeAll(async () => {
  process = await startService({ ...testEnvironment(), MAX_BODY_BYTES: '65536' })
  send = sender(fetch, process.url)
})
afterAll(() => process.stop())

/** Names with a special meaning in JavaScript, MongoDB or this service. */
const names = [
  'toString',
  'constructor',
  '__proto__',
  'length',
  'then',
  'toJSON',
  '$gt',
  'a.b',
  '',
  'id',
  'data',
]

const anyValue: Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  { weight: 1, arbitrary: fc.dictionary(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 1 })) },
  { weight: 1, arbitrary: fc.array(fc.constant({}), { minLength: 90, maxLength: 1200 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 300 }) },
  { weight: 1, arbitrary: fc.constantFrom(1e308, -1e308, 2 ** 53, -0, 1e-300, 2 ** 31) },
)

// biome-ignore lint/suspicious/noExplicitAny: walks bodies of any shape
type Tree = any

/** Returns a copy of a body with `value` at the place that `turns` leads to, at any depth. */
function replaced(tree: Tree, turns: number[], value: unknown): Tree {
  const [turn, ...rest] = turns
  const keys = typeof tree === 'object' && tree !== null ? Object.keys(tree) : []
  if (turn === undefined || keys.length === 0) return value
  const key = keys[turn % keys.length] as string
  const copy = Array.isArray(tree) ? [...tree] : { ...tree }
  copy[key as keyof typeof copy] = replaced(tree[key], rest, value)
  return copy
}

const anyPathValue = fc.oneof(
  fc.constantFrom('1', '2001', '5002', '999999999', '-1', '0', 'provider_one'),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
)

const anyQuery = fc.dictionary(
  fc.constantFrom(
    'page',
    'per_page',
    'cursor',
    'updated_after',
    'checkout_after',
    'listing_id',
    'room_type_id',
    'email',
    'email[]',
    'start_date',
    'end_date',
    'q',
    'sort',
    'order',
    'listing_status',
    'listing_status[]',
    'wait',
  ),
  fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom('1', '2026-01-01', 'asc', 'id', '99'),
  ),
  { maxKeys: 4 },
)

interface Attack {
  route: KeyedRoute
  pathValues: string[]
  query: Record<string, string>
  turns: number[]
  value: unknown
  headers: Record<string, string>
}

const anyAttack: Arbitrary<Attack> = fc.record({
  // Frequent clearing would leave the sandbox with little to attack.
  route: fc.oneof(
    { weight: 60, arbitrary: fc.constantFrom(...routes.filter(({ method }) => method !== 'DELETE')) },
    { weight: 1, arbitrary: fc.constantFrom(...routes) },
  ),
  pathValues: fc.array(anyPathValue, { minLength: 2, maxLength: 2 }),
  query: anyQuery,
  turns: fc.array(fc.nat({ max: 40 }), { maxLength: 5 }),
  value: anyValue,
  headers: fc.constantFrom({}, { prefer: 'handling=strict' }),
})

function pathOf({ route, pathValues, query }: Attack): string {
  let at = 0
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => {
    const value =
      name === 'provider' && at === 0 ? 'provider_one' : encodeURIComponent(wellFormed(pathValues[at++]))
    return value || '0'
  })
  const pairs = Object.entries(query).map(([key, value]): [string, string] => [key, wellFormed(value)])
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`
}

const wellFormed = (text = '') => text.toWellFormed()

function bodyOf({ route, turns, value }: Attack): string | undefined {
  if (route.method === 'GET') return undefined
  const example = examples[`${route.method} ${route.path}`]
  return JSON.stringify(example ? replaced(example.body(), turns, value) : value)
}

function expectEnvelope({ status, body, text }: TestResponse) {
  expect(status).toBeLessThan(500)
  expect(text.length).toBeLessThan(64 * 1024)
  const isSuccess = status < 300
  expect(Object.keys(body)).toEqual(isSuccess ? expect.arrayContaining(['data']) : ['error'])
  const problems: { path: string }[] = isSuccess ? [] : body.error.errors
  expect(problems.length).toBeLessThanOrEqual(100)
  const paths = problems.map(({ path }) => path)
  expect(new Set(paths).size).toBe(paths.length)
}

test('every route responds to any JSON in any place without a 5xx, in the envelope and with at most 100 problems', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyAttack, { minLength: 10, maxLength: 10 }), async (attacks) => {
      const responses = await Promise.all(
        attacks.map((attack) => {
          const body = bodyOf(attack)
          return send(attack.route.method, pathOf(attack), {
            key: actor.key,
            headers: attack.headers,
            ...(body === undefined ? {} : { body }),
          })
        }),
      )
      for (const response of responses) expectEnvelope(response)
    }),
    runs(30, 300),
  )
  expect(process.output()).not.toContain('"level":50')
})
