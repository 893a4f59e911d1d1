import { describe, expect, test } from 'vitest'
import { createApiKey } from '../../src/access/keys/secret.ts'
import { mintKey, updateKey } from '../../src/access/keys/store.ts'
import { permissions } from '../../src/http/permissions.ts'
import { exampleRequests } from '../../src/pages/docs/examples.ts'
import { testApp } from '../support/app.ts'
import {
  anyBody,
  fill,
  fillOwn,
  type GuardedRoute,
  guardedRoutes,
  makeOwnIds,
  operationOf,
  triedRoutes,
} from '../support/routes.ts'
import { isSoak } from '../support/soak.ts'

const service = await testApp()
const routes = guardedRoutes(service)
const actor = await service.actor()
const stranger = await service.actor()
const own = { '/v1': await makeOwnIds(actor, '/v1'), '/sandbox': await makeOwnIds(actor, '/sandbox') }
const noPermissions = await service.actor({ permissions: [] })
const input = { host: actor.hostId, name: 'k', permissions: [...permissions] }
const inactive = await mintKey(service.live.db, service.live.clock, input)
await updateKey(service.live.db, String(inactive.record.id), { active: false })
const expired = await mintKey(service.live.db, service.live.clock, { ...input, expiresAt: new Date(0) })

function expectError(
  response: { status: number; body: { error: Record<string, unknown> }; headers: Headers },
  status: number,
  type: string,
) {
  expect(response.status).toBe(status)
  expect(Object.keys(response.body)).toEqual(['error'])
  expect(response.body.error.type).toBe(type)
  expect(response.body.error.message).toMatch(/^[A-Z"].*[^.]$/)
  expect(response.body.error.request_id).toBe(response.headers.get('x-request-id'))
  expect(response.body.error.errors).toBeInstanceOf(Array)
}

/** Returns a route as `routes.txt` lists it (decisions §3). */
function requirementsOf({ method, path, permission, limit, body }: GuardedRoute): string {
  return `${method} ${path} → ${permission}, ${limit}, ${body}`
}

test('test/http/routes.txt lists every route below /v1, and below /sandbox only, with what it requires', async () => {
  const live = guardedRoutes(service, '/v1').map(requirementsOf)
  const onlySandbox = guardedRoutes(service, '/sandbox')
    .map(requirementsOf)
    .filter((line) => !live.includes(line.replace('/sandbox', '/v1')))
  const text = ['METHOD path → permission, limit, body', ...live, ...onlySandbox]
  await expect(`${text.join('\n')}\n`).toMatchFileSnapshot('routes.txt')
})

test('every route below /v1 exists below /sandbox and requires the same', () => {
  const inSandbox = guardedRoutes(service, '/sandbox').map(requirementsOf)
  const twins = guardedRoutes(service, '/v1').map((route) =>
    requirementsOf({ ...route, path: route.path.replace('/v1', '/sandbox') }),
  )
  expect(twins.filter((twin) => !inSandbox.includes(twin))).toEqual([])
})

test('a route takes a body if and only if its `access` says so', () => {
  const contradicting = routes.filter(({ body, takesBody }) => (body !== 'none') !== takesBody)
  expect(contradicting.map(requirementsOf)).toEqual([])
})

const tried = triedRoutes(service)
/** The pipeline is the same for all sandbox routes, so only the soak tries it with those that have no twin, too. */
const guarded = isSoak ? routes : guardedRoutes(service, '/v1')

describe.each(guarded)('$method $path', (route) => {
  const { method, path } = route
  const target = fill(path)

  test('responds 401 without a key, even if the body is malformed JSON', async () => {
    const broken = method === 'GET' ? {} : { body: '{"broken' }
    const response = await service.send(method, target, broken)
    expectError(response, 401, 'auth_error')
    expect(response.body.error.message).toBe('API key is required')
  })

  test('responds 401 to an unknown key, a mistyped key and two different keys', async () => {
    for (const key of [createApiKey(), `${actor.key.slice(0, -1)}#`, 'x']) {
      const response = await service.send(method, target, { ...anyBody(route), key })
      expectError(response, 401, 'auth_error')
      expect(response.body.error.message).toBe('API key is invalid')
    }
    const headers = { authorization: `Bearer ${stranger.key}` }
    expectError(await actor.send(method, target, { ...anyBody(route), headers }), 401, 'auth_error')
  })

  test('responds 401 to an inactive key and to an expired key', async () => {
    const responses = await Promise.all(
      [inactive.key, expired.key].map((key) => service.send(method, target, { ...anyBody(route), key })),
    )
    expect(responses.map(({ body }) => body.error.message)).toEqual([
      'API key is inactive',
      'API key has expired',
    ])
    for (const response of responses) expectError(response, 401, 'auth_error')
  })

  test('accepts the key as a bearer token, whatever the case of the scheme', async () => {
    // Some routes have their own rate limit, which a key's higher limit does not raise.
    const caller = await service.actor()
    const headers = { authorization: `bEARER ${caller.key}` }
    const response = await service.send(method, target, { ...anyBody(route), headers })
    const byHeader = await caller.send(method, target, anyBody(route))
    expect(response.status).toBe(byHeader.status)
    expect([200, 404, 422]).toContain(response.status)
  })

  test('sends the request id and the rate limit headers', async () => {
    const response = await actor.send(method, target, {
      ...anyBody(route),
      headers: { 'x-request-id': 'my-id.1_2' },
    })
    expect(response.headers.get('x-request-id')).toBe('my-id.1_2')
    expect(response.headers.get('ratelimit-policy')).toMatch(
      /^"default";q=1000000;w=60$|^"insight";q=60;w=60$/,
    )
    expect(response.headers.get('ratelimit')).toMatch(/^"(default|insight)";r=\d+;t=\d+$/)
  })
})

/**
 * The routes whose own limit is reached by as many requests: the first of each method, because a route with the limit
 * `insight` takes 61 requests. The soak reaches the limits of all routes.
 */
const limited = guarded.filter(
  (route) =>
    isSoak ||
    route.limit === 'default' ||
    route === guarded.find(({ method, limit }) => method === route.method && limit === route.limit),
)

test.each(limited)('$method $path responds 429 beyond the rate limit', async (route) => {
  const { method, path, limit } = route
  const target = fill(path)
  const someone = await service.actor({ rateLimit: 1 })
  for (let count = 1; count <= (limit === 'insight' ? 60 : 1); count += 1)
    expect([200, 404, 422]).toContain((await someone.send(method, target, anyBody(route))).status)
  const second = await someone.send(method, target, anyBody(route))
  expectError(second, 429, 'rate_limit_error')
  const seconds = second.headers.get('retry-after')
  expect(second.body.error.errors).toEqual([{ path: 'retry_after', code: 'rate_limited', message: seconds }])
  expect(Number(seconds)).toBeGreaterThan(0)
  expect(Number(seconds)).toBeLessThanOrEqual(60)
})

const idIn = ({ path }: Pick<GuardedRoute, 'path'>) => /:(?!provider)(\w+)/.exec(path)?.[1]

const isOpen = ({ permission }: GuardedRoute) => permission === 'any'
const open = tried.filter(isOpen)
const restricted = tried.filter((route) => !isOpen(route))

test.each(open)('$method $path requires no permission', async ({ method, path, takesBody }) => {
  const broken = method === 'GET' ? {} : { body: '{"broken' }
  const found = idIn({ path }) ? 404 : 200
  expect((await noPermissions.send(method, fill(path), broken)).status).toBe(takesBody ? 422 : found)
})

test.each(restricted)(
  '$method $path names the missing permission in a 403 before it reads the body',
  async ({ method, path, permission }) => {
    const broken = method === 'GET' ? {} : { body: '{"broken' }
    const response = await noPermissions.send(method, fill(path), broken)
    expectError(response, 403, 'forbidden')
    expect(response.body.error.errors).toEqual([
      { path: 'required_permission', code: 'forbidden', message: permission },
    ])
  },
)

const reading = tried.filter(({ takesBody }) => !takesBody)
const writing = tried.filter(({ takesBody }) => takesBody)

test.each(reading)('$method $path takes no body, as its kind suggests', ({ method }) => {
  // `routes.txt` shows which of them are a POST.
  expect(method).toMatch(/^(GET|DELETE|POST)$/)
})

test.each(writing)(
  '$method $path responds 422 at "body" to malformed JSON and to JSON that is not an object',
  async ({ method, path, body: kind }) => {
    // Some routes have their own rate limit, which a key's higher limit does not raise.
    const writer = await service.actor()
    const bodies = ['{"broken', '[]', '"text"', 'null', '', '{"a":1}x', '\u0000']
    // An empty body counts as an object without fields if the route does not require a body.
    for (const body of bodies.filter((text) => text !== '' || kind !== 'optional')) {
      const response = await writer.send(method, fill(path), { body })
      expectError(response, 422, 'validation_error')
      expect(response.body.error.errors).toMatchObject([{ path: 'body', code: 'invalid' }])
    }
  },
)

test.each(guarded.filter(({ takesBody }) => takesBody))(
  '$method $path responds 422 at "body" to a compressed body and to a body that is labelled as compressed',
  async ({ method, path }) => {
    const writer = await service.actor()
    const send = (encoding: string, body: unknown) =>
      writer.send(method, fill(path), { headers: { 'content-encoding': encoding }, body })
    for (const [encoding, body] of [
      ['gzip', {}],
      ['GZIP', '\u001f\u008b\b'],
      ['deflate', '{"broken'],
      ['identity, br', {}],
    ] as const) {
      const response = await send(encoding, body)
      expectError(response, 422, 'validation_error')
      const name = encoding.split(', ').at(-1)?.toLowerCase()
      expect(response.body.error.errors).toEqual([
        {
          path: 'body',
          code: 'invalid',
          message: `The body must be sent uncompressed, without "Content-Encoding"; "Content-Encoding" was "${name}"`,
        },
      ])
    }
    for (const encoding of ['identity', 'Identity', '', ' identity, identity '])
      expect((await send(encoding, '{"broken')).body.error.errors[0].message).toBe(
        'The body must be JSON in UTF-8',
      )
  },
)

test('a Content-Encoding that is no name is not repeated, and a body that is too large is 413 first', async () => {
  const messageOf = async (encoding: string) => {
    const headers = { 'content-encoding': encoding }
    return (await actor.send('POST', '/v1/users', { headers, body: {} })).body.error.errors[0].message
  }
  for (const encoding of [createApiKey(), 'Secret 1!', 'x'.repeat(21), 'a,b,c,d'])
    expect(await messageOf(encoding)).toBe('The body must be sent uncompressed, without "Content-Encoding"')
  const headers = { 'content-encoding': 'gzip' }
  const body = 'x'.repeat(1024 * 1024 + 1)
  expectError(await actor.send('POST', '/v1/users', { headers, body }), 413, 'validation_error')
  expect((await actor.send('GET', '/v1/me', { headers })).status).toBe(200)
})

test.each(guarded.filter(({ queries }) => queries.length > 0))(
  '$method $path responds 422 at each query parameter whose text or name cannot be read',
  async ({ method, path, queries }) => {
    // Requests for the key itself have a limit that the file's own key nears.
    const someone = await service.actor()
    const invalid = queries.map((name) => ({ path: name, code: 'invalid', message: expect.any(String) }))
    const forms = [
      '=%ff',
      '=a%C3',
      '=%ED%A0%80',
      '=%zz',
      '=%',
      '=1%4',
      '[x]=1',
      '[0][1]=1',
      '[=1',
      ']=1',
      '[%zz]=1',
    ]
    for (const form of forms) {
      const query = queries.map((name) => name + form).join('&')
      const response = await someone.send(method, `${fill(path)}?${query}`)
      expectError(response, 422, 'validation_error')
      expect({ form, errors: response.body.error.errors }).toEqual({ form, errors: invalid })
    }
  },
)

test('an unknown query parameter is ignored, whatever its name and text', async () => {
  const response = await actor.send('GET', '/v1/listings?utm_source=%zz&%ff=1&other[x]=%&&=')
  expect(response.status).toBe(200)
})

const withProvider = tried.filter(({ path }) => path.includes(':provider'))

test.each(withProvider)(
  '$method $path responds 404 unsupported_provider to an unknown provider',
  async ({ method, path }) => {
    const { send } = await service.actor()
    const response = await send(method, fill(path, { provider: 'provider_two' }), { body: undefined })
    expectError(response, 404, 'unsupported_provider')
  },
)

/** PUT creates a consumer under any name, so an unknown name is not a 404. */
const createsByName = ({ method }: GuardedRoute) => method === 'PUT'

/** Scenarios belong to no host; `test/sandbox/scenarios.test.ts` covers the 404 of an unknown one. */
const isScenario = ({ path }: GuardedRoute) => path.endsWith('/scenarios/:name')

const withId = tried
  .filter((route) => idIn(route) && !createsByName(route) && !isScenario(route))
  .map((route) => ({ ...route, parameter: idIn(route) as string }))

test.each(withId)(
  "$method $path responds with the same 404 to malformed ids, unknown ids and another host's ids",
  async ({ parameter, ...route }) => {
    const { method, path } = route
    const valid = route.takesBody ? { body: exampleRequests[operationOf(route)] } : {}
    const ids = ['0', '-1', 'abc', '1.5', '9007199254740993', '%00', '%ff', '%zz', '%', '1e3', '999999999']
    const visitor = route.limit === 'insight' ? await service.actor() : stranger
    const prefix = path.startsWith('/v1') ? '/v1' : '/sandbox'
    const targets = [...ids.map((id) => fill(path, { [parameter]: id })), fillOwn(path, own[prefix])]
    const responses = await Promise.all(targets.map((target) => visitor.send(method, target, valid)))
    for (const response of responses) expectError(response, 404, 'not_found')
    expect(new Set(responses.map(({ body }) => body.error.message)).size).toBe(1)
  },
)

test('an unknown route gets 404 in the envelope, with and without a key', async () => {
  for (const [method, path] of [
    ['GET', '/v1'],
    ['GET', '/v1/nope'],
    ['PUT', '/nope'],
    ['POST', '/metrics'],
    ['DELETE', '/v1/webhooks/5/'],
  ] as const) {
    for (const response of [await service.send(method, path), await actor.send(method, path)]) {
      expectError(response, 404, 'not_found')
      expect({ path, allow: response.headers.get('allow') }).toEqual({ path, allow: null })
    }
  }
})

test.each([
  ['PUT', '/v1/me', 'GET, HEAD', 'GET or HEAD'],
  ['HEAD', '/v1/bookings/5/cancel', 'POST', 'POST'],
  ['DELETE', '/v1/users', 'GET, HEAD, POST', 'GET, HEAD or POST'],
  ['POST', '/v1/listings/no-id/', 'GET, HEAD, PATCH', 'GET, HEAD or PATCH'],
  ['OPTIONS', '/sandbox/listings/5', 'GET, HEAD, PATCH', 'GET, HEAD or PATCH'],
])('%s %s gets 404 with "Allow: %s", or 401 without a key', async (method, path, allow, words) => {
  const refused = await actor.send(method, path)
  expect({ status: refused.status, allow: refused.headers.get('allow') }).toEqual({ status: 404, allow })
  const keyless = await service.send(method, path)
  expect({ status: keyless.status, allow: keyless.headers.get('allow') }).toEqual({
    status: 401,
    allow: null,
  })
  if (method === 'HEAD') return
  expectError(refused, 404, 'not_found')
  expect(refused.body.error.message).toBe(`This path does not take the method: use ${words}`)
  expectError(keyless, 401, 'auth_error')
  expect(keyless.body.error.message).toBe('API key is required')
})

test.each(['/', '/guide', '/docs', '/openapi.json', '/healthz', '/console', '/llms.txt'])(
  'POST %s gets 404 with the methods of the page, without a key',
  async (path) => {
    const refused = await service.send('POST', path)
    expectError(refused, 404, 'not_found')
    expect(refused.headers.get('allow')).toBe('GET, HEAD')
  },
)

const pathsOfFiles = [
  '/npm/x',
  '/npm/x/y',
  '/guide/x',
  '/docs/x',
  '/docs/assets/x',
  '/downloads/x',
  '/openapi/x',
]
test.each([...pathsOfFiles, '//v1/users', '//sandbox/bookings', '//npm/x'])(
  'POST %s names no methods, because there may be no such file',
  async (path) => {
    const refused = await service.send('POST', path)
    expectError(refused, 404, 'not_found')
    expect(refused.body.error.message).toBe('No such route; see /llms.txt')
    expect(refused.headers.get('allow')).toBeNull()
  },
)

test.each(tried.filter(({ method }) => method === 'DELETE'))(
  '$method $path deletes nothing at a path that ends in a slash or in dot segments',
  async ({ method, path }) => {
    const prefix = path.startsWith('/v1') ? '/v1' : '/sandbox'
    // Other tests of this file clear the sandbox of the file's own key.
    const someone = await service.actor()
    const hooks = { url: 'https://hooks.example.com/', events: ['booking.changed'] }
    const { body: made } = await someone.send('POST', `${prefix}/webhooks`, { body: hooks })
    const ids = { ...own[prefix], webhooks: made.data.id }
    const read = () => someone.send('GET', `${prefix}/webhooks/${ids.webhooks}`)
    const before = await read()
    for (const more of ['/', '//', '/.', '/..', '/x/..', '/x/y/../..', '/x/%2e%2E', '/x/../', '/?x=1']) {
      const target = fillOwn(path, ids) + more
      expectError(await someone.send(method, target), 404, 'not_found')
    }
    const after = await read()
    expect({ status: after.status, webhook: after.body.data }).toEqual({
      status: 200,
      webhook: before.body.data,
    })
  },
)

test('an invalid X-Request-Id is replaced, as is one that looks like an API key', async () => {
  for (const sent of ['', 'with space', 'x'.repeat(129), 'a/b', createApiKey(), `id-${createApiKey()}`]) {
    const response = await actor.send('GET', '/v1/me', { headers: { 'x-request-id': sent } })
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(response.body.meta.request_id).toBe(response.headers.get('x-request-id'))
  }
})

test('REQUEST_IDS=off removes the request ids from responses', async () => {
  const silent = await testApp({ REQUEST_IDS: 'off' })
  const someone = await silent.actor()
  expect((await someone.send('GET', '/v1/me')).body.meta).toEqual({})
  expect((await silent.send('GET', '/v1/me')).body.error).not.toHaveProperty('request_id')
})

test('a body over the limit gets 413 in the envelope, with or without Content-Length', async () => {
  const body = JSON.stringify({ name: 'x'.repeat(1024 * 1024) })
  expectError(await actor.send('POST', '/v1/listings', { body }), 413, 'validation_error')
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(body))
      controller.close()
    },
  })
  const request = new Request('http://localhost/v1/listings', {
    method: 'POST',
    body: stream,
    headers: { 'x-api-key': actor.key },
  })
  const response = await service.app.handle(request)
  expect(response.status).toBe(413)
  expect(await response.json()).toMatchObject({ error: { errors: [{ path: 'body', code: 'max' }] } })
})

test('a body that nests too deeply or is not UTF-8 gets 422', async () => {
  const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
  expectError(await actor.send('POST', '/v1/users', { body: deep }), 422, 'validation_error')
  const request = new Request('http://localhost/v1/users', {
    method: 'POST',
    body: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    headers: { 'x-api-key': actor.key },
  })
  expect((await service.app.handle(request)).status).toBe(422)
})

test('/healthz, /readyz, /openapi.json and /docs require no key', async () => {
  for (const path of ['/healthz', '/readyz', '/openapi.json', '/docs', '/docs/changelog']) {
    expect((await service.send('GET', path)).status).toBe(200)
  }
  expectError(await service.send('GET', '/docs/assets/..%2Froutes.ts'), 404, 'not_found')
})

test.each(['a', 'api', 'api:80', 'host.example.com'])(
  'GET /v1/me works under the host name "%s"',
  async (host) => {
    const request = new Request(`http://${host}/v1/me`, { headers: { 'x-api-key': actor.key } })
    expect((await service.app.handle(request)).status).toBe(200)
  },
)

test('a query number of any length gets the code that matches its size', async () => {
  const codes = async (query: string) =>
    (await actor.send('GET', `/v1/listings?${query}`)).body.error.errors[0].code
  expect(await codes('per_page=9999999999999999999')).toBe('max')
  expect(await codes('page=-99999999999999999')).toBe('min')
})
