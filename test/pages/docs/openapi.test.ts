import { mkdir, rm, writeFile } from 'node:fs/promises'
import type { TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import fc from 'fast-check'
import openapiTS, { astToString } from 'openapi-typescript'
import { afterAll, expect, test } from 'vitest'
import { hintEvents, hintOf } from '../../../src/changes/webhooks/hint.ts'
import { type Format, formats } from '../../../src/http/input/schema/formats.ts'
import { loggedPath } from '../../../src/http/logged-path.ts'
import { splitRoot } from '../../../src/http/roots.ts'
import { listingModel } from '../../../src/inventory/listings/model.ts'
import { findClientMethods, requestName } from '../../../src/pages/docs/client-methods.ts'
import { exampleRequests, exampleResponses, sandboxIds } from '../../../src/pages/docs/examples.ts'
import { tags } from '../../../src/pages/docs/openapi.ts'
import { type Json, ownKeywords } from '../../../src/pages/docs/schemas.ts'
import { type Actor, sharedServices, type TestResponse, testApp } from '../../support/app.ts'
import { storeCertification } from '../../support/certification.ts'
import { readFixture } from '../../support/fixtures.ts'
import { guardedRoutes } from '../../support/routes.ts'
import { runs } from '../../support/soak.ts'

const service = await testApp()
const root = new URL('../../..', import.meta.url).pathname
// biome-ignore lint/suspicious/noExplicitAny: the document is a plain tree of JSON
const document: any = (await service.send('GET', '/openapi.json')).body
const folder = `${root}test/docs/.generated`
await mkdir(folder, { recursive: true })
afterAll(() => rm(folder, { recursive: true, force: true }))

async function run(...command: string[]) {
  const child = Bun.spawn([process.execPath, '--bun', ...command], {
    cwd: root,
    env: { ...process.env, REDOCLY_TELEMETRY: 'off' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const output = (await new Response(child.stdout).text()) + (await new Response(child.stderr).text())
  return { code: await child.exited, output }
}

const operations = [...guardedRoutes(service, '/v1'), ...guardedRoutes(service, '/sandbox')].map((route) => ({
  ...route,
  documented: route.path.replace(/:(\w+)/g, '{$1}'),
}))

// biome-ignore lint/suspicious/noExplicitAny: the document is a plain tree of JSON
function resolve(schema: any) {
  const [, name] = /^#\/components\/schemas\/(\w+)$/.exec(schema.$ref ?? '') ?? []
  return name ? document.components.schemas[name] : schema
}

test.each(operations)(
  '$method $documented has a summary, its permission and examples',
  ({ method, documented, permission }) => {
    const operation = document.paths[documented][method.toLowerCase()]
    const name = `${method} ${documented}`
    expect(operation.summary).toMatch(/\S/)
    expect(operation.description).toContain(permission === 'any' ? 'Any key' : `\`${permission}\``)
    const content = (status: string) => operation.responses[status].content['application/json']
    const [success] = Object.keys(operation.responses).filter(
      (status) => status < '300' && content(status).example,
    )
    expect(success, `${name} has no example in fixtures/examples/responses.json`).toBeDefined()
    for (const status of ['401', '429', ...(permission === 'any' ? [] : ['403'])])
      expect(Object.keys(content(status).examples).length).toBeGreaterThan(0)
  },
)

const clientMethods = await findClientMethods()

test.each(operations)(
  '$method $documented has a method of the client, which its sample calls',
  ({ method, documented }) => {
    const name = requestName(method, splitRoot(documented).rest)
    const missing = `${method} ${documented} has no method in client/src/client.ts or client/src/sandbox.ts`
    expect(clientMethods.get(name), missing).toBeDefined()
  },
)

test.each(operations)(
  '$method $documented has a tag that the documentation describes',
  ({ method, documented }) => {
    const described = tags.map(({ name }) => name)
    const { tags: own } = document.paths[documented][method.toLowerCase()]
    const undescribed = own.filter((tag: string) => !described.includes(tag))
    expect(undescribed, `${method} ${documented} needs its tag in src/pages/docs/openapi.ts`).toEqual([])
    expect(own.length, `${method} ${documented} has no tag`).toBe(1)
  },
)

const withParameters = operations.filter(({ path }) => path.includes(':'))

test.each(withParameters)(
  '$method $documented has an example of each path parameter, which the request log shows',
  ({ method, path, documented }) => {
    const { parameters } = document.paths[documented][method.toLowerCase()]
    const inPath: Json[] = parameters.filter((parameter: Json) => parameter.in === 'path')
    const filled = inPath.reduce((text, { name, example }) => {
      expect(example, `${documented} has no example of "${name}" in src/pages/docs/examples.ts`).toBeDefined()
      return text.replace(`{${name}}`, String(example))
    }, documented)
    const unlike = `${documented} has an example that is unlike the format in src/http/logged-path.ts`
    expect(loggedPath(path, filled), unlike).toBe(filled)
  },
)

test('the response to a listing that was updated says so', () => {
  const { responses } = document.paths['/v1/listings'].post
  const actionOf = (status: string) => responses[status].content['application/json'].example.action
  expect({ 200: actionOf('200'), 201: actionOf('201') }).toEqual({ 200: 'updated', 201: 'created' })
})

test('a hint of each event is documented as it is sent', () => {
  const events = ['booking.changed', 'message.created', 'webhook.test', 'alarm.opened', 'alarm.resolved']
  expect(Object.keys(document.webhooks)).toEqual(events)
  const sent = (type: (typeof hintEvents)[number]) =>
    hintOf(type, document.webhooks[type].post.requestBody.content['application/json'].example.data)
  for (const type of hintEvents) {
    const { schema, example } = document.webhooks[type].post.requestBody.content['application/json']
    expect(sent(type)).toEqual(example)
    expect(Object.keys(schema.properties.data.properties)).toEqual(schema.properties.data.required)
  }
})

test('ids in bodies are documented as an integer or a digit string, and codes of problems are open', () => {
  const { BookingCreate, Problem } = document.components.schemas
  const { listing_id, room_type_id } = BookingCreate.properties
  expect(listing_id).toMatchObject({ type: ['integer', 'string'], minimum: 1, pattern: '^[1-9][0-9]{0,14}$' })
  expect(room_type_id.type).toEqual(['integer', 'string', 'null'])
  expect(Problem.properties.code).not.toHaveProperty('enum')
})

test('no enumeration contains null', () => {
  const found: string[] = []
  walk(document, ({ enum: words }, path) => {
    if (Array.isArray(words) && words.includes(null)) found.push(path)
  })
  expect(found).toEqual([])
})

/** Returns the documented example of an error of a live operation. */
function exampleError(method: string, path: string, status: number, name: string) {
  const { responses } = document.paths[`/v1${path}`][method.toLowerCase()]
  return responses[status].content['application/json'].examples[name].value.error
}

test('the example of each error has the problems that the service sends', async () => {
  const [actor, other] = await Promise.all([service.actor(), service.actor()])
  const house = await readFixture('demo/listing')
  const [own, second] = await Promise.all([
    actor.send('POST', '/v1/listings', { body: { ...house, original_id: 'own' } }),
    actor.send('POST', '/v1/listings', { body: { ...house, original_id: 'second', original_url: null } }),
  ])
  const unit = (listing: TestResponse, roomTypes: TestResponse) => ({
    listing_id: listing.body.data.id,
    room_type_id: roomTypes.body.data.room_types[0].id,
  })
  const days = { available: 1, start_date: '2031-01-01', end_date: '2031-01-02' }
  const integration = '/integrations/{provider}'
  const send = (from: Actor, method: string, path: string, body: unknown) =>
    from.send(method, `/v1${path.replace('{provider}', 'provider_one')}`, { body })
  await listingModel(service.live.db).updateOne({ id: second.body.data.id }, { listing_status: 'inactive' })
  const providerKey = { provider_api_key: crypto.randomUUID() }
  await send(other, 'POST', `${integration}/provider-key`, providerKey)
  const cases = [
    {
      name: 'invalid_ids',
      path: `${integration}/availability`,
      from: actor,
      body: { data: [{ ...unit(own, second), ...days }] },
    },
    {
      name: 'forbidden_listings',
      path: `${integration}/availability`,
      from: other,
      body: { data: [{ ...unit(own, own), ...days }] },
    },
    {
      name: 'invalid_ids',
      path: `${integration}/rates`,
      from: actor,
      body: { data: [{ ...unit(own, second), base_price: 1 }] },
    },
    {
      name: 'forbidden_listings',
      path: `${integration}/rates`,
      from: other,
      body: { data: [{ ...unit(own, own), base_price: 1 }] },
    },
    {
      name: 'listing_conflict',
      path: '/listings',
      from: actor,
      body: { ...house, original_id: 'second' },
    },
    {
      name: 'conflict_provider_key',
      path: `${integration}/provider-key`,
      from: actor,
      body: providerKey,
    },
    { name: 'body_too_large', path: '/users', from: actor, body: { name: 'x'.repeat(1_048_576) } },
    { name: 'auth', path: '/users', from: { ...actor, send: service.send }, body: {} },
  ]
  for (const { name, path, from, body } of cases) {
    const { status, body: refused } = await send(from, 'POST', path, body)
    const example = exampleError('POST', path, status, name)
    const { type, message, errors } = refused.error
    // Ids and other numbers differ from run to run.
    const comparable = (problems: { path: string; code: string; message: string }[]) =>
      problems.map((problem) => ({ ...problem, message: problem.message.replaceAll(/\d+/g, '0') }))
    const real = { type, message, errors: comparable(errors) }
    expect(real, `${path} ${status}`).toEqual({
      type: example.type,
      message: example.message,
      errors: comparable(example.errors),
    })
  }
})

test('only an error that has no problems in reality has an example without any', () => {
  const silent = new Set<string>()
  for (const { method, documented } of operations)
    for (const { content } of Object.values<Json>(document.paths[documented][method.toLowerCase()].responses))
      for (const [name, { value }] of Object.entries<Json>(content?.['application/json'].examples ?? {}))
        if (value.error.errors.length === 0)
          silent.add(`${name} ${documented.replace(/^\/(v1|sandbox)/, '')}`)
  const withoutProblems = /^(auth|not_found|unsupported_provider|conflict\w*|idempotency_mismatch|internal) /
  expect([...silent].filter((one) => !withoutProblems.test(one))).toEqual([
    'forbidden_listings /integrations/{provider}/rates',
  ])
})

test('headers of preferences and faults are documented on every response that can have them', () => {
  const headersOf = (path: string, method: string) =>
    Object.entries<Json>(document.paths[path][method].responses).map(([status, { headers }]) => ({
      status,
      isPreference: 'Preference-Applied' in headers,
      isFault: 'Sandbox-Fault' in headers,
    }))
  const none = { isPreference: false, isFault: false }
  for (const one of headersOf('/v1/bookings', 'post'))
    expect(one).toMatchObject({ isPreference: true, isFault: false })
  for (const one of headersOf('/sandbox/bookings', 'post'))
    expect(one).toMatchObject({ isPreference: true, isFault: true })
  for (const one of headersOf('/sandbox/listings', 'get'))
    expect(one).toMatchObject({ isPreference: false, isFault: true })
  for (const one of headersOf('/v1/listings', 'get')) expect(one).toMatchObject(none)
  for (const one of headersOf('/sandbox/clock', 'get')) expect(one).toMatchObject(none)
})

const withBody = operations.filter(({ takesBody }) => takesBody)

test.each(withBody)(
  '$method $documented has a request body with an example and a 422',
  ({ method, documented }) => {
    const { requestBody, responses } = document.paths[documented][method.toLowerCase()]
    const unrecorded = `${method} ${documented} has no example in fixtures/examples/requests.json`
    expect(requestBody.content['application/json'].example, unrecorded).toBeDefined()
    expect(resolve(requestBody.content['application/json'].schema).properties).toBeDefined()
    const { examples } = responses['422'].content['application/json']
    expect(examples.validation.value.error.type).toBe('validation_error')
  },
)

/** Returns the schemas of a sandbox route, given its documented path. */
function schemasOf(name: string) {
  const [method, path = ''] = name.split(' ')
  return service.app.routes.find(
    (route) => route.method === method && route.path === `/sandbox${path.replace(/\{(\w+)\}/g, ':$1')}`,
  )?.hooks.detail.schemas
}

test.each(Object.entries(exampleRequests))('the example request of %s matches its schema', (name, body) => {
  const schema = schemasOf(name)?.body as TSchema
  expect([...TypeCompiler.Compile(schema).Errors(body)]).toEqual([])
})

test.each(Object.entries(exampleResponses))(
  'the example response of %s matches its schema',
  (name, { status, body }) => {
    const schemas = schemasOf(name)?.response as Record<number, TSchema> | undefined
    expect([...TypeCompiler.Compile(schemas?.[status] as TSchema).Errors(body)]).toEqual([])
  },
)

const patterned = (Object.entries(formats) as [string, Format][]).flatMap(
  ([
    name,
    {
      accepts,
      documented: { pattern, format },
    },
  ]) => (pattern === undefined || format ? [] : [{ name, accepts, pattern }]),
)

test.each(patterned)(
  'the format "$name" accepts every string that its documented pattern allows',
  ({ accepts, pattern }) => {
    const allowed = fc
      .stringMatching(new RegExp(pattern, 'u'))
      .filter((text) => text.isWellFormed() && text.length <= 255)
    fc.assert(
      fc.property(allowed, (text) => {
        expect(accepts(text)).toBe(true)
      }),
      runs(60),
    )
  },
)

/** Calls `visit` with every object in the document and its path. */
function walk(value: unknown, visit: (node: Record<string, unknown>, path: string) => void, path = ''): void {
  if (typeof value !== 'object' || value === null) return
  visit(value as Record<string, unknown>, path)
  for (const [key, child] of Object.entries(value))
    if (!/^examples?$/.test(key)) walk(child, visit, `${path}/${key}`)
}

test('the document has no custom format or keyword, and states the bounds that the service enforces', () => {
  const own: string[] = []
  walk(document, ({ type, format, ...rest }, path) => {
    const known = ['date', 'date-time', 'uri', 'email']
    if (type === 'string' && typeof format === 'string' && !known.includes(format)) own.push(path + format)
    for (const key of Object.keys(rest)) if (ownKeywords.has(key)) own.push(path + key)
  })
  expect(own).toEqual([])
  const { message } = document.components.schemas.MessageCreate.properties
  expect(message.properties.text.maxLength).toBe(5000)
  expect(message.properties.text.minLength).toBe(1)
})

test('no pattern repeats a length or a format', () => {
  const needless: string[] = []
  walk(document, ({ pattern, format, minLength }, path) => {
    if (typeof pattern === 'string' && (format || minLength || pattern === String.raw`\S`))
      needless.push(path)
  })
  expect(needless).toEqual([])
})

test('every property and parameter of the document has a description that is a sentence', () => {
  const silent: string[] = []
  let described = 0
  walk(document, (node, path) => {
    const properties =
      path.endsWith('/properties') || /(?<!\/properties)\/parameters$/.test(path) ? Object.entries(node) : []
    for (const [name, property] of properties as [string, Record<string, unknown>][]) {
      described += 1
      if (!property.$ref && !/\w{3}/.test(String(property.description ?? ''))) silent.push(`${path}/${name}`)
    }
  })
  expect(silent).toEqual([])
  expect(described).toBeGreaterThan(500)
})

test('operation ids read like functions and are unique', () => {
  const ids: string[] = []
  walk(document.paths, ({ operationId }) => typeof operationId === 'string' && ids.push(operationId))
  expect(ids.filter((id) => !/^[a-z]+([A-Z][a-z]+)+$/.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(operations.length)
})

test.each(operations)('$method $documented documents its 500 and every header', ({ method, documented }) => {
  const { responses } = document.paths[documented][method.toLowerCase()]
  expect(responses['500'].content['application/json'].examples.internal.value.error.type).toBe(
    'internal_error',
  )
  expect(Object.keys(responses['429'].headers)).toContain('Retry-After')
  const entries = Object.entries(responses) as [string, { headers: object }][]
  const headersOf = entries.map(([status, { headers }]) => [status, Object.keys(headers)])
  const expected = entries.map(([status]) => [
    status,
    expect.arrayContaining(
      status === '401' ? ['X-Request-Id'] : ['X-Request-Id', 'RateLimit', 'RateLimit-Policy'],
    ),
  ])
  expect(headersOf).toEqual(expected)
})

test('the sandbox responds to every example request with the status of its example response', async () => {
  const actor = await service.actor()
  const url = 'https://hooks.example.com/'
  const made = await actor.send('POST', '/sandbox/webhooks', { body: { url, events: ['booking.changed'] } })
  const availability = { ical: `https://${crypto.randomUUID()}.invalid/calendar.ics` }
  const room_types = [{ id: 3001, rooms: [{ id: sandboxIds.calendars, availability }] }]
  await actor.send('PATCH', '/sandbox/listings/2001', { body: { room_types } })
  const certifications = await storeCertification(actor.db, actor, 'asked')
  const ids: Record<string, number | string> = { ...sandboxIds, webhooks: made.body.data.id, certifications }
  // A key may run only one certification at a time.
  const fresh = await service.actor()
  const statuses: Record<string, number> = {}
  for (const [name, body] of Object.entries(exampleRequests)) {
    const [method = '', path = ''] = name.split(' ')
    const target = path
      .replace('{provider}', 'provider_one')
      .replace(/(\w+)\/\{\w+\}/, (_, collection: string) => `${collection}/${ids[collection]}`)
    const who = path === '/certifications' ? fresh : actor
    const { status } = await who.send(method, `/sandbox${target}`, { body })
    statuses[name] = status
  }
  const documented = Object.keys(exampleRequests).map((name) => [name, exampleResponses[name]?.status])
  expect(statuses).toEqual(Object.fromEntries(documented))
})

test('a client generated from the document type-checks and works', async () => {
  const actor = await service.actor()
  const [server] = sharedServices()
  const types = astToString(await openapiTS(document))
  await writeFile(`${folder}/schema.ts`, types)
  await writeFile(
    `${folder}/client.ts`,
    `import createClient from 'openapi-fetch'
import type { paths } from './schema.ts'

const client = createClient<paths>({ baseUrl: ${JSON.stringify(server.url)}, headers: { 'X-API-Key': ${JSON.stringify(actor.key)} } })
const me = await client.GET('/v1/me')
const name: string | undefined = me.data?.data.name
const created = await client.POST('/sandbox/bookings', {
  body: { user_id: 1001, listing_id: 2002, checkin_at: '2031-01-01', checkout_at: '2031-02-01' },
})
const bookingId: number | undefined = created.data?.data.booking_id
const feed = await client.GET('/sandbox/integrations/{provider}/bookings', {
  params: { path: { provider: 'provider_one' }, query: { per_page: 100 } },
})
const last = feed.data?.data.Bookings.at(-1)
const refused = await client.GET('/v1/listings/{id}', { params: { path: { id: 999999999 } } })
const errorType: string | undefined = refused.error?.error.type
console.log(JSON.stringify({ name, isLast: last?.booking_id === bookingId, status: last?.status, errorType }))
// @ts-expect-error: a booking needs its listing
await client.POST('/v1/bookings', { body: { user_id: 1 } }).catch(() => {})
// @ts-expect-error: the contract has no such path
await client.GET('/v1/nothing').catch(() => {})
`,
  )
  await writeFile(
    `${folder}/tsconfig.json`,
    JSON.stringify({
      extends: '../../../tsconfig.json',
      compilerOptions: { lib: ['ESNext', 'DOM'], types: [] },
      include: ['*.ts'],
    }),
  )
  const checked = await run('node_modules/typescript-7/bin/tsc', '-p', `${folder}/tsconfig.json`)
  expect(checked).toEqual({ code: 0, output: '' })
  const ran = await run(`${folder}/client.ts`)
  expect(JSON.parse(ran.output)).toEqual({
    name: 'Test host',
    isLast: true,
    status: 'pending',
    errorType: 'not_found',
  })
})
