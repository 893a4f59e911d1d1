import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import openapiTS from 'openapi-typescript'
import { expect, test } from 'vitest'
import { factsOnArrival, hook } from '../../../src/http/arrival.ts'
import { mount, routes } from '../../../src/http/route.ts'
import { testApp } from '../../support/app.ts'

const service = await testApp()
const get = (path: string, headers: Record<string, string> = {}) =>
  service.app.handle(new Request(`http://localhost${path}`, { headers }))

const page = await (await get('/docs')).text()
const [, script = ''] = /src="(\/docs\/assets\/reference\.\w+\.js)"/.exec(page) ?? []

const served = [
  ['/docs', 'text/html'],
  ['/docs/changelog', 'text/html'],
  ['/docs/assets/accessibility.js', 'text/javascript'],
  [script, 'text/javascript'],
  ['/openapi.json', 'application/json'],
  ['/openapi/operations.json', 'application/json'],
  ['/openapi/createBooking.json', 'application/json'],
  ['/workflows.arazzo.yaml', 'application/yaml'],
  ['/docs/reference.json', 'application/json'],
  ['/', 'text/html'],
  ['/guide', 'text/html'],
  ['/guide/', 'text/html'],
  ['/guide/errors', 'text/html'],
  ['/guide/errors.md', 'text/markdown'],
  ['/guide/guide.css', 'text/css'],
  ['/guide/guide.js', 'text/javascript'],
  ['/guide/product.mjs', 'text/javascript'],
  ['/guide/search.json', 'application/json'],
  ['/llms.txt', 'text/plain'],
  ['/llms-full.txt', 'text/plain'],
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
    expect({
      status: again.status,
      text: await again.text(),
      etag: again.headers.get('etag'),
    }).toEqual({ status: 304, text: '', etag })
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

test.each([
  '/docs/changelog.md',
  '/docs/nothing.json',
  '/docs/nothing.tgz',
  '/docs/assets/nothing.js',
  '/guide/nothing.md',
  '/guide/a/b',
  '/console/nothing',
  '/.well-known/nothing',
  '/nothing',
])('the unknown path %s gets the 404 that leads to /llms.txt', async (path) => {
  const missing = await get(path)
  expect({ status: missing.status, link: missing.headers.get('link') }).toEqual({
    status: 404,
    link: '</llms.txt>; rel="llms-txt"',
  })
  expect(await missing.json()).toMatchObject({
    error: { type: 'not_found', message: 'No such route; see /llms.txt', errors: [] },
  })
})

test.each(['nothing.json', 'sandboxCreateUser.json', 'createUser'])(
  'the unknown operation %s gets a 404 that says where all operations are listed',
  async (name) => {
    const missing = await get(`/openapi/${name}`)
    expect({ status: missing.status, link: missing.headers.get('link') }).toEqual({
      status: 404,
      link: '</llms.txt>; rel="llms-txt"',
    })
    expect(await missing.json()).toMatchObject({
      error: { type: 'not_found', message: expect.stringContaining('/openapi/operations.json') },
    })
  },
)

test('each operation has a small document of its own, with exactly the schemas that it refers to', async () => {
  // biome-ignore lint/suspicious/noExplicitAny: documents are plain trees of JSON
  const read = async (path: string): Promise<any> => (await get(path)).json()
  const [list, whole] = await Promise.all([read('/openapi/operations.json'), read('/openapi.json')])
  const sizes: number[] = []
  for (const [id, text] of Object.entries<string>(list)) {
    const [, method = '', path = ''] = /^([A-Z]+) (\S+): \S/.exec(text) ?? []
    const single = await read(`/openapi/${id}.json`)
    const own = single.paths[path][method.toLowerCase()]
    const full = whole.paths[path][method.toLowerCase()]
    expect({ paths: Object.keys(single.paths), operationId: own.operationId }).toEqual({
      paths: [path],
      operationId: id,
    })
    expect(own.requestBody).toEqual(full.requestBody)
    expect(own.description).toEqual(full.description)
    expect(Object.keys(own.responses)).toEqual(Object.keys(full.responses))
    const named = [...JSON.stringify(single).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
      ([, name]) => name,
    )
    expect(Object.keys(single.components.schemas).sort(), id).toEqual([...new Set(named)].sort())
    sizes.push(JSON.stringify(single).length)
  }
  const paths = Object.keys(whole.paths)
  const twins = paths.filter(
    (path) => path.startsWith('/sandbox/') && whole.paths[path.replace('/sandbox/', '/v1/')],
  )
  const methodsOf = (chosen: string[]) => chosen.flatMap((path) => Object.keys(whole.paths[path])).length
  expect(sizes.length).toBe(methodsOf(paths) - methodsOf(twins))
  expect(sizes.filter((size) => size < 6000).length / sizes.length).toBeGreaterThan(0.65)
  expect(Math.max(...sizes)).toBeLessThan(24_000)
  await expect(openapiTS(await read('/openapi/createBooking.json'))).resolves.toBeDefined()
})

test('a route that declares its deprecation states it in every response, including errors', async () => {
  const since = new Date('2026-11-01T00:00:00Z')
  const sunset = new Date('2027-06-01T00:00:00Z')
  const old = routes(service.live).get(
    '/old',
    {
      access: { permission: 'any', deprecated: { since, sunset } },
      response: { 200: Type.Object({}) },
      detail: { operationId: 'readOld', summary: 'Read what is old' },
    },
    () => ({}),
  )
  const arriving = hook((context: { request: Request; facts: unknown }) => {
    context.facts = factsOnArrival(context.request, service.live)
  })
  const app = new Elysia().onRequest(arriving).use(mount('', [old]))
  const { key } = await service.actor()
  const response = await app.handle(new Request('http://localhost/old', { headers: { 'x-api-key': key } }))
  expect(response.headers.get('deprecation')).toBe('@1793491200')
  expect(response.headers.get('sunset')).toBe('Tue, 01 Jun 2027 00:00:00 GMT')
  expect(response.headers.get('link')).toContain('/docs/changelog')
  expect(app.routes[0]?.hooks.detail).toMatchObject({ deprecated: true })
})
