import { Elysia } from 'elysia'
import { expect, test } from 'vitest'
import { guard } from '../../../src/http/guard.ts'
import { testApp } from '../../support/app.ts'

const service = await testApp()
const get = (path: string, headers: Record<string, string> = {}) =>
  service.app.handle(new Request(`http://localhost${path}`, { headers }))

const page = await (await get('/docs')).text()
const [, script = ''] = /src="(\/docs\/assets\/reference\.\w+\.js)"/.exec(page) ?? []

const served = [
  ['/docs', 'text/html'],
  ['/docs/changelog', 'text/html'],
  ['/docs/assets/changelog.css', 'text/css'],
  ['/docs/assets/accessibility.js', 'text/javascript'],
  [script, 'text/javascript'],
  ['/openapi.json', 'application/json'],
  ['/docs/partner-interface.postman_collection.json', 'application/json'],
  ['/docs/partner-interface.bruno.json', 'application/json'],
] as const

test.each(served)(
  '%s is served as %s, compressed, with security headers and an entity tag',
  async (path, type) => {
    const plain = await get(path)
    const bytes = await plain.bytes()
    const compressed = await get(path, { 'accept-encoding': 'gzip, br' })
    const etag = plain.headers.get('etag') as string
    const again = await get(path, { 'if-none-match': `"other", W/${etag}` })
    expect(plain.headers.get('content-type')).toContain(type)
    expect(plain.headers.get('x-content-type-options')).toBe('nosniff')
    expect(plain.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(compressed.headers.get('content-encoding')).toBe('br')
    expect(Number((await compressed.bytes()).length)).toBeLessThan(bytes.length)
    expect([again.status, (await again.text()).length, again.headers.get('etag')]).toEqual([304, 0, etag])
  },
)

test('a script whose name contains its hash is cached permanently, and a page is revalidated', async () => {
  expect((await get(script)).headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect((await get('/docs')).headers.get('cache-control')).toBe('no-cache')
})

const encodings = [
  ['gzip', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['identity', null],
  ['', null],
] as const

test.each(encodings)('Accept-Encoding "%s" gets %s', async (accepted, encoding) => {
  const response = await get('/docs', { 'accept-encoding': accepted })
  expect(response.headers.get('content-encoding')).toBe(encoding)
})

test('/ redirects to the documentation, and a missing page gets 404 in the envelope', async () => {
  const root = await get('/')
  expect([root.status, root.headers.get('location')]).toEqual([302, '/docs'])
  const missing = await get('/docs/nothing.json')
  expect([missing.status, ((await missing.json()) as { error: { type: string } }).error.type]).toEqual([
    404,
    'not_found',
  ])
})

test('the Postman collection contains every operation once, below one variable', async () => {
  // biome-ignore lint/suspicious/noExplicitAny: the document is a plain tree of JSON
  const collection: any = await (await get('/docs/partner-interface.postman_collection.json')).json()
  const requests: string[] = []
  const collect = (items: { item?: []; request?: { method: string; url: { path: string[] } } }[]) => {
    for (const { item, request } of items) {
      if (request) requests.push(`${request.method} /${request.url.path.join('/')}`)
      collect(item ?? [])
    }
  }
  collect(collection.item)
  expect(new Set(requests).size).toBe(requests.length)
  expect(requests).toContain('POST /bookings')
  expect(requests.length).toBeGreaterThan(18)
  expect(collection.variable).toContainEqual(
    expect.objectContaining({ key: 'baseUrl', value: expect.stringMatching(/\/sandbox$/) }),
  )
})

test('a route that declares its deprecation states it in every response, including errors', async () => {
  const since = new Date('2026-11-01T00:00:00Z')
  const sunset = new Date('2027-06-01T00:00:00Z')
  const app = new Elysia().use(guard(service.live)).get('/old', () => ({}), {
    access: { permission: 'any', deprecated: { since, sunset } },
  })
  const { key } = await service.actor()
  const response = await app.handle(new Request('http://localhost/old', { headers: { 'x-api-key': key } }))
  expect(response.headers.get('deprecation')).toBe('@1793491200')
  expect(response.headers.get('sunset')).toBe('Tue, 01 Jun 2027 00:00:00 GMT')
  expect(response.headers.get('link')).toContain('/docs/changelog')
  expect(app.routes[0]?.hooks.detail).toMatchObject({ deprecated: true })
})
