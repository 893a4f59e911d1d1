import { afterAll, beforeAll, expect, test } from 'vitest'
import { sender, testApp, testEnvironment } from '../support/app.ts'
import { scalarPaths, withRawJson } from '../support/attack-paths.ts'
import { type ServiceProcess, startService } from '../support/processes.ts'
import { fill, guardedRoutes, prefixes } from '../support/routes.ts'
import { validBodies } from '../support/valid-bodies.ts'

const service = await testApp()
const routes = guardedRoutes(service)
const actor = await service.actor()
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
afterAll(async () => {
  expect(process.output()).not.toContain('internal_error')
  await process.stop()
})

const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`

/** Raw JSON that is put in the place of every scalar of every body. */
const rawValues: Record<string, string> = {
  operator: '{"$gt":""}',
  where: '{"$where":"sleep(5000)"}',
  array: '[]',
  'array of operators': '[{"$ne":1}]',
  boolean: 'true',
  null: 'null',
  nul: '"a\\u0000b"',
  'lone surrogate': '"\\ud800"',
  proto: '{"__proto__":{"admin":true}}',
  'proto text': '"__proto__"',
  infinity: '1e309',
  negative: '-1',
  'huge integer': '9007199254740993',
  fraction: '0.1',
  'digit string': '"1"',
  blank: '"  "',
  'long text': JSON.stringify('x'.repeat(100_000)),
  'regex bomb': JSON.stringify(`${'a'.repeat(5000)}!(a+)+$`),
  'many at signs': JSON.stringify('@'.repeat(255)),
  deep,
}

/** Values that every declared query parameter is sent with. */
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

const tally = new Map<string, Map<number, number>>()

function note(attack: string, status: number) {
  const statuses = tally.get(attack) ?? new Map<number, number>()
  statuses.set(status, (statuses.get(status) ?? 0) + 1)
  tally.set(attack, statuses)
}

async function attack(name: string, method: string, path: string, body?: string) {
  const answer = await send(method, path, { key: actor.key, ...(body === undefined ? {} : { body }) })
  note(name, answer.status)
  if (answer.status === 409)
    expect([method, path, body?.slice(0, 300), answer.status < 500]).toEqual([
      method,
      path,
      body?.slice(0, 300),
      true,
    ])
  expect(Object.keys(answer.body)).toSatisfy(
    (keys: string[]) => keys.includes('data') || keys.includes('error'),
  )
  return answer
}

test('every route that takes a body has a valid one here, and accepts it', async () => {
  const writing = routes.filter(({ takesBody }) => takesBody).map(({ method, path }) => `${method} ${path}`)
  expect(Object.keys(bodies).sort()).toEqual(writing.sort())
  for (const [name, { path, body }] of Object.entries(bodies)) {
    const { status } = await attack('valid', name.split(' ')[0] as string, path, JSON.stringify(body()))
    expect([name, status]).toEqual([name, status < 300 ? status : 'accepted'])
  }
})

test('every scalar of every body replaced by every attack: never a 5xx, always the envelope', async () => {
  for (const [name, { path, body }] of Object.entries(bodies)) {
    const method = name.split(' ')[0] as string
    const example = body()
    for (const place of sample(scalarPaths(example))) {
      await Promise.all(
        Object.entries(rawValues).map(([attackName, raw]) =>
          attack(attackName, method, path, withRawJson(body(), place, raw)),
        ),
      )
    }
  }
})

/** Elements of one list look alike: the first of each is enough. */
function sample(paths: (string | number)[][]): (string | number)[][] {
  return paths.filter((path) => path.every((key) => typeof key === 'string' || key === 0))
}

test('every declared query parameter with every attack', async () => {
  const queries = service.app.routes.flatMap(({ method, path, hooks }) => {
    const properties = (hooks?.query as { properties?: object } | undefined)?.properties ?? {}
    return Object.keys(properties).map((parameter) => ({ method, path, parameter }))
  })
  expect(queries.length).toBeGreaterThan(15)
  for (const { method, path, parameter } of queries) {
    for (const [name, value] of Object.entries(queryValues)) {
      await attack(`query ${name}`, method, `${fill(path)}?${parameter}${value}`)
    }
  }
})

test('every path parameter with every attack', async () => {
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
  for (const { method, path } of routes.filter(({ path }) => path.includes(':'))) {
    for (const value of values) {
      const target = path.replace(/:(\w+)/g, encodeURI(value).replace(/%25/g, '%'))
      const answer = await attack('path', method, target, method === 'GET' ? undefined : '{}')
      expect(answer.headers.get('x-evil')).toBeNull()
    }
  }
})

test('bodies that are no JSON, no UTF-8, or nest without end', async () => {
  const broken = ['', '{', '"', '[1,2', 'NaN', deep, `{"a":${deep}}`, '{"a":1}{"b":2}']
  for (const [name, { path }] of Object.entries(bodies)) {
    const method = name.split(' ')[0] as string
    for (const body of broken) expect((await attack('broken body', method, path, body)).status).toBe(422)
    const response = await fetch(process.url + path, {
      method,
      body: new Uint8Array([0x7b, 0xc3, 0x28, 0x7d]),
      headers: { 'x-api-key': actor.key },
    })
    note('invalid UTF-8', response.status)
    expect(response.status).toBe(422)
  }
})

test('idempotency keys and headers of every form', async () => {
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
    const answer = await send('POST', path, { key: actor.key, body: {}, headers: { 'idempotency-key': key } })
    note('idempotency key', answer.status)
    expect(answer.status).toBe(status)
  }
})

test('the same attacks left no trace in the database and no prototype behind', async () => {
  expect(({} as Record<string, unknown>).admin).toBeUndefined()
  const names = (await service.live.db.listCollections()).map(({ name }) => name)
  expect(names.filter((name) => name.includes('$'))).toEqual([])
  const total = [...tally.values()]
    .flatMap((statuses) => [...statuses.values()])
    .reduce((sum, count) => sum + count, 0)
  const rows = [...tally].map(([name, statuses]) => [name, Object.fromEntries([...statuses].sort())])
  console.log(
    `${total} attacks, by kind and status:\n${rows.map(([name, statuses]) => `${name}: ${JSON.stringify(statuses)}`).join('\n')}`,
  )
  expect(total).toBeGreaterThan(2000)
})
