import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { sender, testApp, testEnvironment } from '../support/app.ts'
import { sampledPaths, withRawJson } from '../support/attack-paths.ts'
import { deep, rawValues, sharpValues } from '../support/attack-values.ts'
import { type ServiceProcess, startService } from '../support/processes.ts'
import { fill, keyedRoutes, prefixes } from '../support/routes.ts'
import { isSoak } from '../support/soak.ts'
import { validBodies } from '../support/valid-bodies.ts'

const service = await testApp()
const routes = keyedRoutes(service)
const actor = await service.actor()
/** Sandbox queries and paths are attacked only in the soak. */
const attackedRoutes = service.app.routes.filter(({ path }) => isSoak || path.startsWith('/v1'))
const bodies = Object.assign(
  {},
  ...(await Promise.all(prefixes.map((prefix) => validBodies(actor, prefix)))),
) as Awaited<ReturnType<typeof validBodies>>
let process: ServiceProcess
let send: ReturnType<typeof sender>

beforeAll(async () => {
  process = await startService({ ...testEnvironment(), LOG_LEVEL: 'error' })
  send = sender(fetch, process.url)
})
afterAll(() => process.stop())

afterEach(async () => {
  expect(({} as Record<string, unknown>).admin).toBeUndefined()
  const names = (await service.live.db.listCollections()).map(({ name }) => name)
  expect(names.filter((name) => name.includes('$'))).toEqual([])
  expect(process.output()).not.toContain('internal_error')
})

/** Values for every declared query parameter. */
const queryValues: Record<string, string> = {
  operator: '[$ne]=1',
  'operator list': '[]=a&x[$gt]=',
  nul: '=%00',
  'bad escape': '=%zz%ff',
  'long text': `=${'q'.repeat(10_000)}`,
  'regex bomb': `=${'a'.repeat(200)}(a%2B)%2B%24`,
  'regex class': '=%5B%5E%5D%5C',
  negative: '=-1',
  infinity: '=1e309',
  proto: '=__proto__',
  repeated: '=1&page=2&page=3',
  date: '=2026-02-30',
}

/**
 * Returns the values that the place with this number meets: in the soak all, and in `bin/test` one of them in turn, so
 * that every place meets a value and every value meets some places.
 */
function meets<T>(values: T[], place: number): T[] {
  return isSoak ? values : values.slice(place % values.length).slice(0, 1)
}

let narrow = { key: '', uses: 0 }

/** Returns a key that is still within its limits. Routes with their own rate limit get a new key every 50 requests. */
async function keyFor(path: string, isAnybodys = false): Promise<string> {
  // A certification is visible only to its own key, but malformed requests are refused for every key.
  const isNarrow =
    /\/consumers|\/key|\/requests/.test(path) || (isAnybodys && path.includes('/certifications'))
  if (!isNarrow) return actor.key
  if (narrow.uses % 50 === 0) narrow = { key: (await service.actor()).key, uses: 0 }
  narrow.uses += 1
  return narrow.key
}

async function attack(method: string, path: string, body?: string, isAnybodys = false) {
  const key = await keyFor(path, isAnybodys)
  const response = await send(method, path, { key, ...(body === undefined ? {} : { body }) })
  expect(response.status, `${method} ${path} ${body?.slice(0, 300)}`).toBeLessThan(500)
  expect(Object.keys(response.body)).toSatisfy(
    (keys: string[]) => keys.includes('data') || keys.includes('error'),
  )
  return response
}

test('every route that takes a body accepts the valid body that the attacks start from', async () => {
  const writing = routes.filter(({ takesBody }) => takesBody).map(({ method, path }) => `${method} ${path}`)
  expect(Object.keys(bodies).sort()).toEqual(writing.sort())
  const refused: { name: string; status: number }[] = []
  for (const [name, { path, body }] of Object.entries(bodies)) {
    const { status } = await attack(name.split(' ')[0] as string, path, JSON.stringify(body()))
    if (status >= 300) refused.push({ name, status })
  }
  // A certification is already running, and another one would clear the sandbox under attack.
  expect(refused).toEqual([{ name: 'POST /sandbox/certifications', status: 409 }])
})

test('attacks in every scalar of every body get an enveloped response and no 5xx', async () => {
  let places = 0
  for (const [name, { path, body }] of Object.entries(bodies)) {
    const method = name.split(' ')[0] as string
    // Sandbox routes share their live twins' handlers, so only attacks that may reach the database are repeated.
    const isRepeated = name.includes(' /sandbox') && name.replace('/sandbox', '/v1') in bodies
    const values = isSoak && !isRepeated ? Object.values(rawValues) : sharpValues
    for (const place of sampledPaths(body())) {
      const met = meets(values, places++)
      await Promise.all(met.map((raw) => attack(method, path, withRawJson(body(), place, raw))))
    }
  }
})

test('attacks in every declared query parameter get an enveloped response and no 5xx', async () => {
  const queries = attackedRoutes.flatMap(({ method, path, hooks }) => {
    const { query } = (hooks?.detail?.schemas ?? {}) as { query?: { properties: object } }
    const properties = query?.properties ?? {}
    return Object.keys(properties).map((parameter) => ({ method, path, parameter }))
  })
  expect(queries.length).toBeGreaterThan(15)
  for (const [place, { method, path, parameter }] of queries.entries()) {
    for (const value of meets(Object.values(queryValues), place)) {
      await attack(method, `${fill(path)}?${parameter}${value}`)
    }
  }
})

test('attacks in every path parameter get an enveloped response, no 5xx and no injected header', async () => {
  const values = [
    '%00',
    '%2e%2e%2f',
    '{"$gt":""}',
    '%zz',
    '9'.repeat(400),
    '__proto__',
    '1%0d%0aX-Evil:1',
    'a'.repeat(4000),
  ]
  const withId = attackedRoutes.filter(({ path }) => path.includes(':'))
  for (const [place, { method, path }] of withId.entries()) {
    for (const value of meets(values, place)) {
      const target = path.replace(/:(\w+)/g, encodeURI(value).replace(/%25/g, '%'))
      const response = await attack(method, target, method === 'GET' ? undefined : '{}')
      expect(response.headers.get('x-evil')).toBeNull()
    }
  }
})

test('bodies that are not JSON, are not UTF-8 or nest too deeply get 422', async () => {
  const broken = ['', '{', '"', '[1,2', 'NaN', deep, `{"a":${deep}}`, '{"a":1}{"b":2}']
  const optional = routes.filter(({ body }) => body === 'optional')
  const requireNone = new Set(optional.map(({ method, path }) => `${method} ${path}`))
  for (const [name, { path }] of Object.entries(bodies)) {
    const method = name.split(' ')[0] as string
    const wrong = requireNone.has(name) ? broken.filter(Boolean) : broken
    for (const body of wrong) expect((await attack(method, path, body, true)).status).toBe(422)
    const response = await fetch(process.url + path, {
      method,
      body: new Uint8Array([0x7b, 0xc3, 0x28, 0x7d]),
      headers: { 'x-api-key': await keyFor(path, true) },
    })
    expect(response.status).toBe(422)
  }
})

test('an invalid body gets 422, whatever the form of its Idempotency-Key', async () => {
  const path = '/v1/users'
  const keys: [string, number][] = [
    ['k'.repeat(255), 422],
    ['k'.repeat(256), 422],
    [' ', 422],
    ['ké', 422],
    ['é', 422],
    ['a\tb', 422],
    ['{"$gt":""}', 422],
  ]
  for (const [key, status] of keys) {
    const response = await send('POST', path, {
      key: actor.key,
      body: {},
      headers: { 'idempotency-key': key },
    })
    expect(response.status).toBe(status)
  }
})
