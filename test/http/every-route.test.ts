import { describe, expect, test } from 'vitest'
import { permissions } from '../../src/http/permissions.ts'
import { createApiKey } from '../../src/keys/secret.ts'
import { mintKey, setKeyActive } from '../../src/keys/store.ts'
import { seedBooking, testApp } from '../support/app.ts'
import { anyBody, fill, guardedRoutes } from '../support/routes.ts'

const service = await testApp()
const routes = guardedRoutes(service)
const actor = await service.actor()
const stranger = await service.actor()
const own = await seedBooking(actor)
const noPermissions = await service.actor({ permissions: [] })

function expectError(
  answer: { status: number; body: { error: Record<string, unknown> }; headers: Headers },
  status: number,
  type: string,
) {
  expect(answer.status).toBe(status)
  expect(Object.keys(answer.body)).toEqual(['error'])
  expect(answer.body.error.type).toBe(type)
  expect(answer.body.error.message).toMatch(/^[A-Z"].*[^.]$/)
  expect(answer.body.error.request_id).toBe(answer.headers.get('x-request-id'))
  expect(answer.body.error.errors).toBeInstanceOf(Array)
}

test('the route table holds every endpoint of the contract built so far', () => {
  expect(guardedRoutes(service, '/v1').map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /v1/me',
    'GET /v1/key',
    'POST /v1/users',
    'GET /v1/listings',
    'GET /v1/listings/:id',
    'POST /v1/listings',
    'PATCH /v1/listings/:id',
    'POST /v1/bookings',
    'GET /v1/integrations/:provider/bookings/:id',
    'GET /v1/bookings/:booking_id/messages',
    'POST /v1/bookings/:booking_id/messages',
    'POST /v1/integrations/:provider/provider-key',
    'GET /v1/integrations/:provider/availability',
    'POST /v1/integrations/:provider/availability',
    'POST /v1/integrations/:provider/rates',
    'GET /v1/integrations/:provider/bookings',
  ])
})

describe.each(routes)('$method $path', (route) => {
  const { method, path, permission, takesBody } = route
  const target = fill(path)

  test('answers 401 without a key, also when the body is broken JSON', async () => {
    const broken = method === 'GET' ? {} : { body: '{"broken' }
    const answer = await service.send(method, target, broken)
    expectError(answer, 401, 'auth_error')
    expect(answer.body.error.message).toBe('API key is required')
  })

  test('answers 401 to a key that does not exist, a mistyped one, and two different ones', async () => {
    for (const key of [createApiKey(), `${actor.key.slice(0, -1)}#`, 'x']) {
      const answer = await service.send(method, target, { ...anyBody(route), key })
      expectError(answer, 401, 'auth_error')
      expect(answer.body.error.message).toBe('API key is invalid')
    }
    const headers = { authorization: `Bearer ${stranger.key}` }
    expectError(await actor.send(method, target, { ...anyBody(route), headers }), 401, 'auth_error')
  })

  test('answers 401 to an inactive and to an expired key', async () => {
    const input = { host: actor.hostId, name: 'k', permissions: [...permissions] }
    const inactive = await mintKey(service.live.db, service.live.clock, input)
    await setKeyActive(service.live.db, String(inactive.record.id), false)
    const expired = await mintKey(service.live.db, service.live.clock, { ...input, expiresAt: new Date(0) })
    const answers = await Promise.all(
      [inactive.key, expired.key].map((key) => service.send(method, target, { ...anyBody(route), key })),
    )
    expect(answers.map(({ body }) => body.error.message)).toEqual([
      'API key is inactive',
      'API key has expired',
    ])
    for (const answer of answers) expectError(answer, 401, 'auth_error')
  })

  test('answers 403 with the missing permission, before it looks at the body', async () => {
    const answer = await noPermissions.send(method, target, method === 'GET' ? {} : { body: '{"broken' })
    if (permission === 'any') return expect(answer.status).toBe(200)
    expectError(answer, 403, 'forbidden')
    expect(answer.body.error.errors).toEqual([
      { path: 'required_permission', code: 'forbidden', message: permission },
    ])
  })

  test('takes the key as bearer, in any case of the scheme', async () => {
    const headers = { authorization: `bEARER ${actor.key}` }
    const answer = await service.send(method, target, { ...anyBody(route), headers })
    expect(answer.status).not.toBe(401)
  })

  test('answers 422 at "body" to broken JSON and to what is no object', async () => {
    if (!takesBody) return expect(`${method} ${path}`).toMatch(/^(GET|DELETE) |\/(confirm|cancel)$/)
    for (const body of ['{"broken', '[]', '"text"', 'null', '', '{"a":1}x', '\u0000']) {
      const answer = await actor.send(method, target, { body })
      expectError(answer, 422, 'validation_error')
      expect(answer.body.error.errors).toMatchObject([{ path: 'body', code: 'invalid' }])
    }
  })

  test('answers 404 unsupported_provider to another provider', async () => {
    if (!path.includes(':provider')) return expect(path).not.toMatch(/integrations/)
    const answer = await actor.send(method, fill(path, { provider: 'provider_two' }), { body: undefined })
    expectError(answer, 404, 'unsupported_provider')
  })

  test('answers 404 to ids that are none, and to ids of another host as to ids nobody has', async () => {
    const parameter = /:(?!provider)(\w+)/.exec(path)?.[1]
    if (!parameter) return expect(path).not.toMatch(/_id/)
    const valid = path.endsWith('/messages') ? { body: { message: { text: 'Hello' } } } : anyBody(route)
    const ids = ['0', '-1', 'abc', '1.5', '9007199254740993', '%00', '1e3', '999999999']
    const foreign = path.includes('bookings') ? own.booking_id : own.listing_id
    const answers = await Promise.all(
      [...ids, String(foreign)].map((id) =>
        stranger.send(method, fill(path, { [parameter]: id }), method === 'GET' ? {} : valid),
      ),
    )
    for (const answer of answers) expectError(answer, 404, 'not_found')
    expect(new Set(answers.map(({ body }) => body.error.message)).size).toBe(1)
  })

  test('carries request id and rate limit headers', async () => {
    const answer = await actor.send(method, target, {
      ...anyBody(route),
      headers: { 'x-request-id': 'my-id.1_2' },
    })
    expect(answer.headers.get('x-request-id')).toBe('my-id.1_2')
    expect(answer.headers.get('ratelimit-policy')).toMatch(/^"default";q=1000000;w=60$|^"insight";q=60;w=60$/)
    expect(answer.headers.get('ratelimit')).toMatch(/^"(default|insight)";r=\d+;t=\d+$/)
  })

  test('counts and refuses with 429', async () => {
    const isInsight = path.endsWith('/key')
    const limited = await service.actor({ rateLimit: 1 })
    for (let count = 1; count <= (isInsight ? 60 : 1); count += 1)
      expect((await limited.send(method, target, anyBody(route))).status).not.toBe(429)
    const second = await limited.send(method, target, anyBody(route))
    expectError(second, 429, 'rate_limit_error')
    const seconds = second.headers.get('retry-after')
    expect(second.body.error.errors).toEqual([
      { path: 'retry_after', code: 'rate_limited', message: seconds },
    ])
    expect(Number(seconds)).toBeGreaterThan(0)
    expect(Number(seconds)).toBeLessThanOrEqual(60)
  })
})

test('an unknown route or method is 404, enveloped, with and without a key', async () => {
  for (const [method, path] of [
    ['GET', '/'],
    ['GET', '/v1'],
    ['GET', '/v1/nope'],
    ['PUT', '/v1/me'],
    ['DELETE', '/v1/users'],
  ] as const) {
    expectError(await service.send(method, path), 404, 'not_found')
    expectError(await actor.send(method, path), 404, 'not_found')
  }
})

test('a request id that is not fit to be kept is replaced', async () => {
  for (const sent of ['', 'with space', 'x'.repeat(129), 'a/b']) {
    const answer = await actor.send('GET', '/v1/me', { headers: { 'x-request-id': sent } })
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(answer.body.meta.request_id).toBe(answer.headers.get('x-request-id'))
  }
})

test('REQUEST_IDS=off removes the ids', async () => {
  const silent = await testApp({ REQUEST_IDS: 'off' })
  const someone = await silent.actor()
  expect((await someone.send('GET', '/v1/me')).body.meta).toEqual({})
  expect((await silent.send('GET', '/v1/me')).body.error).not.toHaveProperty('request_id')
})

test('a body over the limit is 413, enveloped, with or without a told length', async () => {
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
  const answer = await service.app.handle(request)
  expect(answer.status).toBe(413)
  expect(await answer.json()).toMatchObject({ error: { errors: [{ path: 'body', code: 'max' }] } })
})

test('a body that nests too deep or is no UTF-8 is 422', async () => {
  const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
  expectError(await actor.send('POST', '/v1/users', { body: deep }), 422, 'validation_error')
  const request = new Request('http://localhost/v1/users', {
    method: 'POST',
    body: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    headers: { 'x-api-key': actor.key },
  })
  expect((await service.app.handle(request)).status).toBe(422)
})

test('healthz, readyz, openapi.json and docs need no key', async () => {
  for (const path of ['/healthz', '/readyz', '/openapi.json', '/docs', '/docs/assets/swagger-ui.css']) {
    expect((await service.send('GET', path)).status).toBe(200)
  }
  expectError(await service.send('GET', '/docs/assets/..%2Froutes.ts'), 404, 'not_found')
})

test('a host name as short as "api" reaches every route', async () => {
  for (const host of ['a', 'api', 'api:80', 'host.example.com']) {
    const request = new Request(`http://${host}/v1/me`, { headers: { 'x-api-key': actor.key } })
    expect([host, (await service.app.handle(request)).status]).toEqual([host, 200])
  }
})

test('numbers of any length in a query get the code of their size', async () => {
  const codes = async (query: string) =>
    (await actor.send('GET', `/v1/listings?${query}`)).body.error.errors[0].code
  expect(await codes('per_page=9999999999999999999')).toBe('max')
  expect(await codes('page=-99999999999999999')).toBe('min')
})
