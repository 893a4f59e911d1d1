import { expect, test } from 'vitest'
import { createApiKey } from '../../../src/access/keys/secret.ts'
import { mintKey, updateKey } from '../../../src/access/keys/store.ts'
import { readCounts } from '../../../src/access/requests/counts-store.ts'
import type { RequestView } from '../../../src/access/requests/schema.ts'
import { findRequests } from '../../../src/access/requests/store.ts'
import { type Actor, seedBooking, testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { readFixture } from '../../support/fixtures.ts'
import { rotateKey } from '../../support/keys.ts'

const service = await testApp()
const { db, clock, journal } = service.live

/** Waits until every log entry is written, and returns the key's requests as GET /v1/requests lists them. */
async function requestsOf(actor: Pick<Actor, 'send'>, query = ''): Promise<RequestView[]> {
  // A request is logged after its response is sent.
  await service.logged()
  const { status, body } = await actor.send('GET', `/v1/requests?${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.data
}

test("GET /v1/requests lists the key's requests in both environments, newest first", async () => {
  const actor = await service.actor()
  const before = Date.now()
  const me = await actor.send('GET', '/v1/me?secret=of-a-query')
  const refused = await actor.send('POST', '/sandbox/users', { body: { name: 'Ada' } })
  const missing = await actor.send('GET', '/v1/listings/999999999')
  const listed = await requestsOf(actor)
  expect(listed).toEqual([
    {
      id: expect.any(String),
      request_id: missing.headers.get('x-request-id'),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}000Z$/),
      method: 'GET',
      path: '/v1/listings/999999999',
      status: 404,
      error: { type: 'not_found', message: 'Listing not found or unauthorized', errors: [] },
      duration_ms: expect.any(Number),
      replayed: false,
      sandbox: false,
      address: '127.0.0.1',
      fault: null,
    },
    expect.objectContaining({
      request_id: refused.headers.get('x-request-id'),
      path: '/sandbox/users',
      status: 422,
      error: {
        type: 'validation_error',
        message: refused.body.error.message,
        errors: refused.body.error.errors,
      },
      sandbox: true,
    }),
    expect.objectContaining({
      request_id: me.headers.get('x-request-id'),
      path: '/v1/me',
      status: 200,
      error: null,
    }),
  ])
  for (const { at } of listed) {
    expect(Date.parse(at)).toBeGreaterThanOrEqual(before - 1000)
    expect(Date.parse(at)).toBeLessThanOrEqual(Date.now())
  }
})

test('successful self-checks of a key are not logged, but failed ones are', async () => {
  const actor = await service.actor()
  await actor.send('GET', '/v1/key')
  await actor.send('GET', '/sandbox/requests')
  await actor.send('GET', '/v1/requests/counts')
  expect(await requestsOf(actor)).toEqual([])
  await actor.send('GET', '/v1/requests?per_page=0')
  expect(await requestsOf(actor)).toMatchObject([{ path: '/v1/requests', status: 422 }])
})

test('429 and the 401 of an inactive or expired key are logged, but wrong keys and unknown routes are not', async () => {
  const actor = await service.actor({ rateLimit: 1 })
  const input = { host: actor.hostId, name: 'k', permissions: [] }
  const inactive = await mintKey(db, clock, input)
  await updateKey(db, String(inactive.record.id), { active: false })
  const expired = await mintKey(db, clock, { ...input, expiresAt: new Date(0) })
  for (const { key } of [inactive, expired]) await service.send('GET', '/v1/listings', { key })
  await actor.send('GET', '/v1/me')
  await actor.send('GET', '/v1/me')
  await actor.send('GET', '/v1/nothing-here')
  await service.send('GET', '/v1/me', { key: createApiKey() })
  await requestsOf(actor)
  const listed = await findRequests(db, { host_id: actor.hostId }, 10, clock())
  const limited = { message: expect.stringContaining('Too many requests') }
  expect(listed).toMatchObject([
    { key_id: actor.keyId, path: '/v1/me', status: 429, error: limited },
    { key_id: actor.keyId, path: '/v1/me', status: 200, error: null },
    {
      key_id: expired.record.id,
      path: '/v1/listings',
      status: 401,
      error: { message: 'API key has expired' },
    },
    {
      key_id: inactive.record.id,
      path: '/v1/listings',
      status: 401,
      error: { message: 'API key is inactive' },
    },
  ])
})

test('requests with an expired key are logged and counted even after too many failures of their client', async () => {
  const strict = await testApp({ AUTH_FAILURES_PER_MINUTE: '2', MONGODB_URL: await ownDatabase() })
  const actor = await strict.actor()
  const input = { host: actor.hostId, name: 'k', permissions: [], expiresAt: new Date(0) }
  const { key, record } = await mintKey(strict.live.db, clock, input)
  for (let count = 0; count < 4; count += 1) await strict.send('GET', '/v1/me', { key })
  await strict.logged()
  const found = await findRequests(strict.live.db, { key_id: record.id }, 10, clock())
  expect(found.map(({ status }) => status)).toEqual([429, 429, 401, 401])
  const counts = await readCounts(
    strict.live.db,
    { host_id: actor.hostId, key_id: record.id },
    undefined,
    clock(),
  )
  expect(counts.reduce((sum, [, { refused = 0, limited = 0 }]) => sum + refused + limited, 0)).toBe(4)
})

test('a page continues where the previous one ended, even if requests arrive in between', async () => {
  const actor = await service.actor()
  for (let count = 0; count < 25; count += 1) await actor.send('GET', `/v1/listings/${count + 1}`)
  const first = await requestsOf(actor, 'per_page=10')
  const walked = [...first]
  let { next_cursor } = (await actor.send('GET', '/v1/requests?per_page=10')).body.meta.pagination
  await actor.send('GET', '/v1/me')
  await journal.flush()
  while (next_cursor) {
    const { body } = await actor.send('GET', `/v1/requests?per_page=10&cursor=${next_cursor}`)
    expect(body.meta.pagination.per_page).toBe(10)
    walked.push(...body.data)
    next_cursor = body.meta.pagination.next_cursor
  }
  expect(walked.map(({ path }) => Number(path.split('/').at(-1)))).toEqual(
    Array.from({ length: 25 }, (_, index) => 25 - index),
  )
  expect(new Set(walked.map(({ id }) => id)).size).toBe(25)
})

test('an invalid cursor is reported together with the other problems', async () => {
  const actor = await service.actor()
  const { body } = await actor.send('GET', '/v1/requests?cursor=AAAA&status=4x')
  expect(body.error.errors.map(({ path }: { path: string }) => path).sort()).toEqual(['cursor', 'status'])
})

test('a cursor keeps per_page and the filters, and other ones beside it are 422', async () => {
  const actor = await service.actor()
  for (let id = 1; id <= 5; id += 1) await actor.send('GET', `/v1/listings/${id}`)
  await service.logged()
  const read = (query: string) => actor.send('GET', `/v1/requests?${query}`)
  const walk = 'per_page=2&status=4xx&status=404&since=2020-01-01'
  const { next_cursor } = (await read(walk)).body.meta.pagination
  const cursor = `cursor=${next_cursor}`
  for (const query of [
    cursor,
    `${walk}&${cursor}`,
    `${cursor}&status=404&status[]=4xx`,
    `${cursor}&status=404,4xx,404`,
  ]) {
    const { body } = await read(query)
    const paths = body.data.map((request: { path: string }) => request.path)
    const { per_page } = body.meta.pagination
    expect({ query, per_page, paths }).toEqual({
      query,
      per_page: 2,
      paths: ['/v1/listings/3', '/v1/listings/2'],
    })
  }
  for (const [other, path] of [
    ['per_page=3', 'per_page'],
    ['status=4xx', 'status'],
    ['since=2020-01-02', 'since'],
    ['request_id=x', 'request_id'],
  ]) {
    const { status, body } = await read(`${cursor}&${other}`)
    expect({ other, status, errors: body.error.errors }).toMatchObject({
      other,
      status: 422,
      errors: [{ path, code: 'invalid' }],
    })
  }
})

test('a cursor works only for the key it was issued to', async () => {
  const one = await service.actor()
  const other = await service.actor()
  for (const actor of [one, other]) for (const _ of [1, 2]) await actor.send('GET', '/v1/me')
  await requestsOf(one)
  const { next_cursor } = (await one.send('GET', '/v1/requests?per_page=1')).body.meta.pagination
  for (const cursor of [next_cursor, 'x', '']) {
    const { status, body } = await other.send('GET', `/v1/requests?cursor=${cursor}`)
    expect({ status, path: body.error.errors[0].path }).toEqual({ status: 422, path: 'cursor' })
  }
})

test('requests can be filtered by status, request id and time', async () => {
  const actor = await service.actor()
  const ok = await actor.send('GET', '/v1/me')
  const missing = await actor.send('GET', '/v1/listings/1')
  await actor.send('POST', '/v1/users', { body: {} })
  const statuses = async (query: string) => (await requestsOf(actor, query)).map(({ status }) => status)
  expect(await statuses('status=4xx')).toEqual([422, 404])
  expect(await statuses('status=2xx&status=422')).toEqual([422, 200])
  for (const name of ['status[]', 'status[0]', 'status%5B3%5D'])
    expect(await statuses(`${name}=404`)).toEqual([404])
  expect(await statuses('status=5xx')).toEqual([])
  expect(await statuses(`request_id=${missing.headers.get('x-request-id')}`)).toEqual([404])
  const [{ at }] = (await requestsOf(actor, `request_id=${ok.headers.get('x-request-id')}`)) as [RequestView]
  expect(await statuses(`since=${at}`)).toEqual([422, 404, 200])
  expect(await statuses(`since=${new Date(Date.parse(at) + 1).toISOString()}`)).not.toContain(200)
  expect(await statuses('since=2099-01-01%2000:00:00')).toEqual([])
  expect(await statuses('since=2001-01-01')).toHaveLength(3)
})

test.each([
  'status=6xx',
  'status=ok',
  'status=',
  'since=yesterday',
  'since=',
  'since=2026-02-30T00:00:00Z',
  'request_id=',
  'per_page=101',
])('GET /v1/requests?%s responds 422 with the path of the field', async (query) => {
  const actor = await service.actor()
  const { status, body } = await actor.send('GET', `/v1/requests?${query}`)
  expect({ status, path: body.error.errors[0].path }).toEqual({ status: 422, path: query.split('=')[0] })
})

test("another key's requests are never shown, whether or not it belongs to the same host", async () => {
  const actor = await service.actor()
  const sibling = await mintKey(db, clock, { host: actor.hostId, name: 'Second', permissions: [] })
  const stranger = await service.actor()
  const { headers } = await actor.send('GET', '/v1/me')
  expect(await requestsOf(actor)).toHaveLength(1)
  const siblingSend = (method: string, path: string) => service.send(method, path, { key: sibling.key })
  for (const send of [siblingSend, stranger.send])
    for (const query of ['', `request_id=${headers.get('x-request-id')}`])
      expect(await requestsOf({ send }, query)).toEqual([])
})

test('both secrets of a rotated key see the same requests', async () => {
  const actor = await service.actor()
  await actor.send('GET', '/v1/me')
  const { key } = await rotateKey(db, clock, String(actor.keyId), 60)
  await service.send('GET', '/v1/listings', { key })
  const paths = (await requestsOf(actor)).map(({ path }) => path)
  expect(paths).toEqual(['/v1/listings', '/v1/me'])
})

test('a replayed response is marked as replayed in the log', async () => {
  const actor = await service.actor()
  const body = { ...(await readFixture('users/maria')), email: `${crypto.randomUUID()}@example.com` }
  const headers = { 'idempotency-key': 'once' }
  await actor.send('POST', '/v1/users', { body, headers })
  await actor.send('POST', '/v1/users', { body, headers })
  expect((await requestsOf(actor)).map(({ replayed }) => replayed)).toEqual([true, false])
})

test('a malformed path parameter is replaced by an ellipsis', async () => {
  const actor = await service.actor()
  const paths = [
    `/v1/listings/${actor.key}`,
    '/v1/bookings/%F0%9F%92%A9/messages',
    '/v1/integrations/my-secret-provider/bookings/5',
    '/v1/integrations/provider_one/bookings/consumers/Not-A-Name',
    '/v1/integrations/provider_one/bookings/consumers/booking-sync',
  ]
  for (const path of paths) await actor.send('GET', path)
  expect((await requestsOf(actor)).map(({ path }) => path).reverse()).toEqual([
    '/v1/listings/…',
    '/v1/bookings/…/messages',
    '/v1/integrations/…/bookings/5',
    '/v1/integrations/provider_one/bookings/consumers/…',
    '/v1/integrations/provider_one/bookings/consumers/booking-sync',
  ])
})

test('a key keeps its last 1,000 successes, up to a tenth more, and its failures as well', async () => {
  const actor = await service.actor()
  for (let count = 0; count < 5; count += 1) await actor.send('GET', '/v1/listings/1')
  for (let round = 0; round < 25; round += 1) {
    for (let count = 0; count < 60; count += 1) await actor.send('GET', '/v1/me')
    await journal.flush()
  }
  const countOf = (failed: boolean) =>
    db.collection('requests').countDocuments({ key_id: actor.keyId, failed })
  expect(await countOf(true)).toBe(5)
  const others = await countOf(false)
  expect(others).toBeGreaterThanOrEqual(1000)
  expect(others).toBeLessThanOrEqual(1100)
})

test('requests under the main rate limit are counted by minute and kind', async () => {
  const actor = await service.actor({ rateLimit: 3 })
  await actor.send('GET', '/v1/me')
  await actor.send('GET', '/sandbox/me')
  await actor.send('GET', '/v1/listings/1')
  await actor.send('GET', '/v1/me')
  await actor.send('GET', '/v1/key')
  await requestsOf(actor)
  const { body } = await actor.send('GET', '/v1/requests/counts')
  const sum = (kind: string) =>
    body.data.reduce((total: number, row: Record<string, number>) => total + (row[kind] ?? 0), 0)
  expect(['succeeded', 'refused', 'limited', 'failed'].map(sum)).toEqual([2, 1, 1, 0])
  expect(body.data[0].at).toMatch(/:00\.000000Z$/)
  const later = await actor.send(
    'GET',
    `/v1/requests/counts?since=${new Date(Date.now() + 120_000).toISOString()}`,
  )
  expect(later.body.data).toEqual([])
  const wrong = await actor.send('GET', '/v1/requests/counts?since=x')
  expect({ status: wrong.status, path: wrong.body.error.errors[0].path }).toEqual({
    status: 422,
    path: 'since',
  })
})

test("the request log contains none of a partner's secrets", async () => {
  const actor = await service.actor()
  const own = await seedBooking(actor)
  const canary = () => `canary-${crypto.randomUUID().slice(0, 13)}`
  const planted: string[] = []
  const plant = (form = (text: string) => text) => {
    const text = form(canary())
    planted.push(text)
    return text
  }
  const headers = () => ({
    'idempotency-key': plant(),
    'user-agent': plant(),
    'x-custom': plant(),
    cookie: plant(),
  })
  const person = () => ({
    first_name: plant(),
    last_name: plant(),
    email: plant((text) => `${text}@example.com`),
    password: plant(),
    phone: plant(),
    nationality: plant(),
    language: plant(),
    gender: plant(),
    birthdate: plant(),
  })
  const stay = { ...own, checkin_at: plant(), checkout_at: plant() }
  const conversation = `/v1/bookings/${own.booking_id}/messages`
  const provider = '/v1/integrations/provider_one'
  const sent: [string, string, unknown?][] = [
    ['POST', '/v1/users', person()],
    [
      'POST',
      '/v1/users',
      { ...person(), birthdate: '1990-01-01', nationality: 'ES', language: 'en', phone: '+34600000000' },
    ],
    ['POST', '/v1/bookings', { ...stay, message: plant() }],
    [
      'POST',
      '/v1/bookings',
      { ...own, checkin_at: '2020-01-01', checkout_at: '2031-02-01', message: plant() },
    ],
    ['POST', conversation, { message: { text: plant() } }],
    ['POST', conversation, { message: plant() }],
    ['POST', conversation, `{"text": "${plant()}`],
    ['POST', `${provider}/provider-key`, { provider_api_key: plant() }],
    ['POST', `${provider}/provider-key`, { provider_api_key: [plant()] }],
    [
      'POST',
      `${provider}/rates`,
      { data: [{ ...own, currency: plant(), base_price: plant(), [plant()]: 1 }] },
    ],
    [
      'POST',
      `${provider}/availability`,
      { data: [{ ...own, start_date: plant(), end_date: plant(), available: plant() }] },
    ],
    ['POST', '/v1/listings', { name: { [plant()]: plant() }, room_types: [{ name: [plant()] }] }],
    [
      'PATCH',
      `/v1/listings/${own.listing_id}`,
      { room_types: [{ id: plant(), name: null }], prices: { currency: plant() } },
    ],
    ['PUT', `${provider}/bookings/consumers/${plant((text) => `Not_${text}`)}`, { acknowledged: plant() }],
    ['GET', `/v1/listings?q=${plant()}&sort=${plant()}&${plant()}=${plant()}&page=${plant()}`],
    ['GET', `${provider}/bookings?updated_after=${plant()}&consumer=${plant()}&cursor=${plant()}`],
    ['GET', `/v1/listings/${plant()}`],
    ['GET', `/v1/integrations/${plant()}/bookings`],
  ]
  for (const [method, path, body] of sent)
    await actor.send(method, path, { headers: headers(), ...(body === undefined ? {} : { body }) })
  await service.send('GET', '/v1/me', {
    headers: { 'x-api-key': actor.key, authorization: `Bearer ${plant()}` },
  })
  const shown = JSON.stringify(await requestsOf(actor, 'per_page=100'))
  const stored = JSON.stringify(await db.collection('requests').find({ key_id: actor.keyId }).toArray())
  planted.push(actor.key)
  expect((await requestsOf(actor, 'status=4xx')).length).toBeGreaterThan(10)
  expect(planted.length).toBeGreaterThan(100)
  expect(planted.filter((text) => shown.includes(text) || stored.includes(text))).toEqual([])
})
