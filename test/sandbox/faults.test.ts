import { connect } from 'node:net'
import { test } from 'vitest'
import { sandboxModel } from '../../src/sandbox/model.ts'
import { type Actor, seedBooking, sender, testApp } from '../support/app.ts'
import { ownDatabase } from '../support/databases.ts'
import { startReceiver } from '../support/receiver.ts'

const settings = {
  MONGODB_URL: await ownDatabase(),
  WEBHOOKS_ALLOW_PRIVATE: 'on',
}
/** Two processes. Only one listens, because `logged()` does not wait for requests over a socket. */
const [service, other] = await Promise.all([testApp(settings), testApp(settings)])
const listening = other.app.listen({ hostname: '127.0.0.1', port: 0 })
const port = listening.server?.port as number
const overSocket = sender(fetch, `http://127.0.0.1:${port}`)

/** Sets rules. Usually a test's first request, which fills its sandbox while the other tests fill theirs. */
const setRules = (actor: Actor, ...rules: object[]) =>
  actor.send('PUT', '/sandbox/faults', { body: { rules }, repeatWhileBusy: true })
const leftOf = async (actor: Actor) =>
  (await actor.send('GET', '/sandbox/faults')).body.data.rules.map(({ left }: { left: object }) => left)
const once = (actor: Actor, method: string, path: string, body?: object) =>
  actor.send(method, path, body ? { body } : {})

/** Sends a request over a socket; resolves with the bytes that the client reads and how the connection ends. */
function captured(request: string): Promise<{ bytes: string; end: string }> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let bytes = ''
    let end = 'closed'
    socket.on('data', (data) => {
      bytes += data.toString()
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      end = error.code ?? 'error'
    })
    socket.on('close', () => resolve({ bytes, end }))
    socket.write(request)
  })
}

const wire = (method: string, path: string, key: string, { body = '', headers = '' } = {}) =>
  captured(
    `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${key}\r\nconnection: close\r\ncontent-length: ${body.length}\r\n${headers}\r\n${body}`,
  )

const stayOf = ({ user_id, listing_id, room_type_id }: Awaited<ReturnType<typeof seedBooking>>) => ({
  user_id,
  listing_id,
  room_type_id,
  checkin_at: '2031-01-01',
  checkout_at: '2031-02-01',
})

test.concurrent('each fault responds as the contract, a proxy or an expired key would, names itself, and ends', async ({
  expect,
}) => {
  const actor = await service.actor({ rateLimit: 100 })
  const path = '/sandbox/listings'
  const plain = await once(actor, 'GET', path)
  expect(plain.headers.has('sandbox-fault')).toBe(false)
  await setRules(
    actor,
    { fault: 'rate_limited', retry_after_seconds: 7 },
    { fault: 'internal_error' },
    { fault: 'bad_gateway' },
    { fault: 'unauthorized' },
    { fault: 'slow', delay_milliseconds: 50 },
  )
  const limited = await once(actor, 'GET', path)
  expect({
    status: limited.status,
    retryAfter: limited.headers.get('retry-after'),
    error: limited.body.error,
  }).toMatchObject({
    status: 429,
    retryAfter: '7',
    error: {
      type: 'rate_limit_error',
      errors: [{ path: 'retry_after', code: 'rate_limited', message: '7' }],
    },
  })
  expect(limited.headers.get('ratelimit')).toContain(';r=0;')
  const failed = await once(actor, 'GET', path)
  expect({
    status: failed.status,
    type: failed.body.error.type,
    hasRetryAfter: failed.headers.has('retry-after'),
  }).toEqual({ status: 500, type: 'internal_error', hasRetryAfter: false })
  const gateway = await once(actor, 'GET', path)
  expect({ status: gateway.status, contentType: gateway.headers.get('content-type') }).toEqual({
    status: 502,
    contentType: 'text/html',
  })
  expect(gateway.text).toContain('<h1>502 Bad Gateway</h1>')
  const refused = await once(actor, 'GET', path)
  expect({ status: refused.status, message: refused.body.error.message }).toEqual({
    status: 401,
    message: 'API key has expired',
  })
  const late = await once(actor, 'GET', path)
  expect({ status: late.status, listings: late.body.data.length }).toEqual({
    status: 200,
    listings: plain.body.data.length,
  })
  const named = [limited, failed, gateway, refused, late].map(({ headers }) => headers.get('sandbox-fault'))
  expect(named).toEqual(['rate_limited', 'internal_error', 'bad_gateway', 'unauthorized', 'slow'])
  // A request with a fault counts like any other request, and its key keeps working.
  const after = await once(actor, 'GET', path)
  expect({ status: after.status, hasFault: after.headers.has('sandbox-fault') }).toEqual({
    status: 200,
    hasFault: false,
  })
  const remaining = ({ headers }: typeof after) => Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])
  expect(remaining(plain) - remaining(after)).toBe(7)
  await service.logged()
  const { data } = (await actor.send('GET', '/v1/requests?per_page=100')).body
  const logged = data.filter((one: { path: string }) => one.path === path).reverse()
  expect(logged).toMatchObject([
    { status: 200, fault: null },
    { status: 429, fault: 'rate_limited' },
    { status: 500, fault: 'internal_error' },
    { status: 502, fault: 'bad_gateway' },
    { status: 401, fault: 'unauthorized' },
    { status: 200, fault: 'slow' },
    { status: 200, fault: null },
  ])
})

test.concurrent('a lost request does nothing, a lost response follows the whole effect, and a cut response is recognizably incomplete', async ({
  expect,
}) => {
  const actor = await service.actor()
  const seeded = await seedBooking(actor, '/sandbox')
  const stay = JSON.stringify(stayOf(seeded))
  const feed = '/sandbox/integrations/provider_one/bookings'
  const count = async () => (await actor.send('GET', feed)).body.meta.pagination.total
  const before = await count()
  const operation = 'createBooking'
  const faults = ['lost_request', 'lost_response', 'lost_response', 'cut_response'].map((fault) => ({
    fault,
    operation,
  }))
  await setRules(actor, ...faults)
  const headers = 'idempotency-key: lost\r\n'
  const book = () => wire('POST', '/sandbox/bookings', actor.key, { body: stay, headers })
  expect(await book()).toEqual({ bytes: '', end: 'ECONNRESET' })
  expect(await count()).toBe(before)
  expect(await book()).toEqual({ bytes: '', end: 'ECONNRESET' })
  expect(await count()).toBe(before + 1)
  expect(await book()).toEqual({ bytes: '', end: 'ECONNRESET' })
  const cut = await book()
  expect(cut.end).toBe('ECONNRESET')
  const [head = '', body = ''] = cut.bytes.split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1.1 201 /)
  expect(head.toLowerCase()).toContain('sandbox-fault: cut_response')
  const whole = await book()
  expect(whole.end).toBe('closed')
  const text = whole.bytes.slice(whole.bytes.indexOf('\r\n\r\n') + 4)
  const { booking_id } = JSON.parse(text).data
  expect((await actor.send('GET', `${feed}/${booking_id}`)).body.data.Booking.booking_id).toBe(booking_id)
  const half = body.slice(body.indexOf('\r\n') + 2)
  expect(half.length).toBeGreaterThan(text.length / 3)
  expect(half.length).toBeLessThan(text.length)
  expect(await count()).toBe(before + 1)
  const booked = async () => {
    await other.live.journal.flush()
    const { data } = (await actor.send('GET', '/v1/requests?per_page=100')).body
    return data.filter(({ path }: { path: string }) => path === '/sandbox/bookings').slice(0, 5)
  }
  await expect.poll(booked).toMatchObject([
    { status: 201, fault: null, replayed: true },
    { status: 201, fault: 'cut_response', replayed: true },
    { status: 201, fault: 'lost_response', replayed: true },
    { status: 201, fault: 'lost_response', replayed: false },
    { status: 0, fault: 'lost_request', replayed: false },
  ])
  const lost = (await actor.send('GET', '/v1/requests?status=unanswered')).body.data
  expect(lost.map((one: { fault: string }) => one.fault)).toEqual(['lost_request'])
  expect((await actor.send('GET', '/v1/requests?status=0')).status).toBe(422)
  const counts = (await actor.send('GET', '/v1/requests/counts')).body.data
  const unanswered = counts.map((one: { unanswered: number }) => one.unanswered)
  expect(unanswered.reduce((sum: number, one: number) => sum + one, 0)).toBe(1)
})

test.concurrent('errors, pages and large lists are lost and cut like other responses', async ({ expect }) => {
  const actor = await service.actor()
  await actor.send('GET', '/sandbox/me', { repeatWhileBusy: true })
  await setRules(actor, { fault: 'lost_response', times: 2 }, { fault: 'cut_response', times: 2 })
  const get = (path: string) => wire('GET', path, actor.key)
  expect(await get('/sandbox/bookings/1/messages')).toEqual({ bytes: '', end: 'ECONNRESET' })
  expect(await get('/sandbox/integrations/provider_one/availability?start_date=2030-01-01')).toEqual({
    bytes: '',
    end: 'ECONNRESET',
  })
  for (const path of ['/sandbox/bookings/1/messages', '/sandbox/listings']) {
    const { bytes, end } = await get(path)
    expect({
      end,
      namesFault:
        bytes.includes('sandbox-fault: cut_response') || bytes.includes('Sandbox-Fault: cut_response'),
    }).toEqual({ end: 'ECONNRESET', namesFault: true })
    expect(bytes.endsWith('0\r\n\r\n')).toBe(false)
  }
  expect((await get('/sandbox/me')).end).toBe('closed')
})

test.concurrent('a 304 has no body, so it is dropped even if it should be cut, and a cut page keeps its headers', async ({
  expect,
}) => {
  const actor = await service.actor()
  const path = '/sandbox/integrations/provider_one/bookings'
  const etag = (await actor.send('GET', path)).headers.get('etag') as string
  await setRules(actor, { fault: 'lost_response' }, { fault: 'cut_response', times: 2 })
  const again = () => wire('GET', path, actor.key, { headers: `if-none-match: ${etag}\r\n` })
  expect(await again()).toEqual({ bytes: '', end: 'ECONNRESET' })
  expect(await again()).toEqual({ bytes: '', end: 'ECONNRESET' })
  const { bytes, end } = await wire('GET', path, actor.key)
  const [head = ''] = bytes.toLowerCase().split('\r\n\r\n')
  expect(end).toBe('ECONNRESET')
  expect(head).toContain(`etag: ${etag.toLowerCase()}`)
  expect(head).toContain('cache-control: private, no-cache')
  const logged = async () => {
    await other.live.journal.flush()
    const { data } = (await actor.send('GET', '/v1/requests')).body
    return data.filter((one: { fault: string | null }) => one.fault !== null)
  }
  await expect.poll(logged).toMatchObject([
    { status: 200, fault: 'cut_response' },
    { status: 304, fault: 'cut_response' },
    { status: 304, fault: 'lost_response' },
  ])
})

test.concurrent('a HEAD request meets no fault and counts against no rule', async ({ expect }) => {
  const actor = await service.actor()
  await setRules(actor, { fault: 'lost_response' })
  const { bytes } = await wire('HEAD', '/sandbox/me', actor.key)
  expect(bytes).toMatch(/^HTTP\/1\.1 200 /)
  expect(await wire('GET', '/sandbox/me', actor.key)).toEqual({ bytes: '', end: 'ECONNRESET' })
})

test.concurrent('a request counts against the first matching rule that is not used up', async ({
  expect,
}) => {
  const actor = await service.actor()
  const made = await setRules(
    actor,
    { fault: 'internal_error', operation: 'listListings', after: 2, times: 2 },
    { fault: 'bad_gateway', times: 2 },
  )
  expect(made.body.data.rules[0]).toEqual({
    fault: 'internal_error',
    operation: 'listListings',
    event: null,
    after: 2,
    times: 2,
    retry_after_seconds: 5,
    delay_milliseconds: 2000,
    left: { after: 2, times: 2 },
  })
  const look = async () => (await once(actor, 'GET', '/sandbox/listings')).status
  const me = async () => (await once(actor, 'GET', '/sandbox/me')).status
  expect([await look(), await me(), await look(), await look(), await look()]).toEqual([
    200, 502, 200, 500, 500,
  ])
  expect(await leftOf(actor)).toEqual([
    { after: 0, times: 0 },
    { after: 0, times: 1 },
  ])
  expect([await look(), await look()]).toEqual([502, 200])
  await setRules(actor, { fault: 'internal_error', times: 1000 })
  expect((await actor.send('DELETE', '/sandbox/faults')).body.data).toEqual({ rules: [] })
  expect(await look()).toBe(200)
})

test.concurrent('exactly seven of two hundred concurrent requests over two processes meet the fault', async ({
  expect,
}) => {
  const actor = await service.actor()
  const through = [service, other].map(
    ({ send }) =>
      () =>
        send('GET', '/sandbox/me', { key: actor.key }),
  )
  await setRules(actor, { fault: 'bad_gateway', after: 20, times: 7 })
  const answers = await Promise.all(Array.from({ length: 200 }, (_, index) => through[index % 2]?.()))
  expect(answers.filter((one) => one?.status === 502)).toHaveLength(7)
  expect(answers.filter((one) => one?.status === 200)).toHaveLength(193)
  expect(await leftOf(actor)).toEqual([{ after: 0, times: 0 }])
})

test.concurrent('routes that control the sandbox, live data and other keys meet no fault', async ({
  expect,
}) => {
  const [actor, neighbour] = await Promise.all([service.actor(), service.actor()])
  await setRules(actor, { fault: 'internal_error', times: 1000 })
  const paths = [
    '/sandbox/faults',
    '/sandbox/clock',
    '/sandbox/key',
    '/sandbox/requests',
    '/sandbox/requests/counts',
  ]
  for (const path of paths) expect((await once(actor, 'GET', path)).status, path).toBe(200)
  expect((await once(actor, 'GET', '/v1/me')).status).toBe(200)
  expect((await once(neighbour, 'GET', '/sandbox/me')).status).toBe(200)
  expect((await once(actor, 'GET', '/sandbox/me')).status).toBe(500)
  for (const method of ['GET', 'PUT', 'DELETE'])
    expect((await once(actor, method, '/v1/faults', { rules: [] })).status).toBe(404)
  expect(await leftOf(actor)).toEqual([{ after: 0, times: 999 }])
  expect((await actor.send('DELETE', '/sandbox')).status).toBe(200)
  expect(await leftOf(actor)).toEqual([])
  expect((await once(actor, 'GET', '/sandbox/me')).status).toBe(200)
})

test.concurrent('the rules of a response can be sent back unchanged', async ({ expect }) => {
  const actor = await service.actor()
  const rules = [{ fault: 'slow', times: 2 }, { fault: 'hint_lost' }]
  const { body } = await setRules(actor, ...rules)
  const again = await setRules(actor, ...body.data.rules)
  expect({ status: again.status, data: again.body.data }).toEqual({ status: 200, data: body.data })
})

test.concurrent('invalid rules change nothing, and each problem names its rule', async ({ expect }) => {
  const actor = await service.actor()
  await setRules(actor, { fault: 'slow' })
  for (const [rules, path, code] of [
    [undefined, 'rules', 'required'],
    ['none', 'rules', 'invalid'],
    [Array(21).fill({ fault: 'slow' }), 'rules', 'max'],
    [[{}], 'rules.0.fault', 'required'],
    [[{ fault: 'fire' }], 'rules.0.fault', 'invalid'],
    [[{ fault: 'slow', operation: 'clearSandbox' }], 'rules.0.operation', 'invalid'],
    [[{ fault: 'slow', operation: 'setSandboxFaults' }], 'rules.0.operation', 'invalid'],
    [[{ fault: 'slow', operation: 'getSandboxClock' }], 'rules.0.operation', 'invalid'],
    ...[
      'startSandboxCertification',
      'getSandboxCertification',
      'getKey',
      'listRequests',
      'countRequests',
    ].map((operation) => [[{ fault: 'slow', operation }], 'rules.0.operation', 'invalid'] as const),
    [[{ fault: 'slow', operation: 'unknown' }], 'rules.0.operation', 'invalid'],
    [[{ fault: 'slow', event: 'booking.changed' }], 'rules.0.event', 'invalid'],
    [[{ fault: 'hint_lost', operation: 'createBooking' }], 'rules.0.operation', 'invalid'],
    [[{ fault: 'hint_lost', event: 'rain' }], 'rules.0.event', 'invalid'],
    [[{ fault: 'slow', after: -1 }], 'rules.0.after', 'min'],
    [[{ fault: 'slow', after: 10_001 }], 'rules.0.after', 'max'],
    [[{ fault: 'slow', times: 0 }], 'rules.0.times', 'min'],
    [[{ fault: 'slow', times: 1001 }], 'rules.0.times', 'max'],
    [[{ fault: 'slow', times: 1.5 }], 'rules.0.times', 'invalid'],
    [[{ fault: 'slow', delay_milliseconds: 25_001 }], 'rules.0.delay_milliseconds', 'max'],
    [
      [{ fault: 'slow' }, { fault: 'rate_limited', retry_after_seconds: 61 }],
      'rules.1.retry_after_seconds',
      'max',
    ],
    [[{ fault: 'slow' }, null], 'rules.1', 'required'],
  ] as const) {
    const { status, body } = await once(actor, 'PUT', '/sandbox/faults', { rules })
    const first = body.error?.errors?.[0]
    expect({ status, path: first?.path, code: first?.code }, JSON.stringify(rules)?.slice(0, 80)).toEqual({
      status: 422,
      path,
      code,
    })
  }
  expect(await leftOf(actor)).toEqual([{ after: 0, times: 1 }])
  const known = { fault: 'slow', operation: 'replyAsSandboxGuest', unknown: 1 }
  expect((await setRules(actor, known)).status).toBe(200)
})

test.concurrent('up to twenty slow requests are delayed, and one more is served immediately', async ({
  expect,
}) => {
  const actor = await service.actor()
  await setRules(actor, { fault: 'slow', times: 21, delay_milliseconds: 25_000 })
  let waiting = 20
  const all = Array.from({ length: 21 }, async () => {
    const { status } = await actor.send('GET', '/sandbox/me')
    waiting -= 1
    return status
  })
  expect(await Promise.race(all)).toBe(200)
  // The other requests wait until the process shuts down.
  expect(waiting).toBe(19)
  service.live.heldRequests.end()
  expect(new Set(await Promise.all(all))).toEqual(new Set([200]))
})

test.concurrent('hints are lost, doubled, late, forged and old, as their rules specify', async (context) => {
  const { expect } = context
  const { url, received } = startReceiver(context)
  const actor = await other.actor()
  const seeded = await seedBooking(actor, '/sandbox')
  const made = await actor.send('POST', '/sandbox/webhooks', { body: { url, events: ['booking.changed'] } })
  expect(made.status, made.text).toBe(201)
  const { id } = made.body.data
  const event = 'booking.changed'
  const faults = ['hint_lost', 'hint_twice', 'hint_late', 'hint_forged', 'hint_old']
  await setRules(actor, { fault: 'hint_lost', event: 'message.created', times: 1000 })
  for (const fault of [...faults, null]) {
    if (fault !== null) await setRules(actor, { fault, event, delay_milliseconds: 300 })
    await actor.send('POST', '/sandbox/bookings', { body: stayOf(seeded) })
    const newest = async () => (await actor.send('GET', `/sandbox/webhooks/${id}/deliveries`)).body.data
    const count = faults.indexOf(fault ?? '') + 1 || faults.length + 1
    await expect.poll(async () => (await newest()).length).toBe(count)
    await expect
      .poll(async () => (await newest())[0])
      .toMatchObject({ status: 'delivered', fault, attempts: 1 })
  }
  const deliveries = (await actor.send('GET', `/sandbox/webhooks/${id}/deliveries`)).body.data.reverse()
  expect(deliveries.map((one: { response_status: number }) => one.response_status)).toEqual([
    null,
    ...Array(5).fill(200),
  ])
  const posts = deliveries.map((one: { id: string }) =>
    received.filter(({ headers }) => headers['webhook-id'] === one.id),
  )
  expect(posts.map((one: unknown[]) => one.length)).toEqual([0, 2, 1, 2, 2, 1])
  const [, twice, , forged, old] = posts
  expect(twice[0].headers['webhook-signature']).toBeDefined()
  expect(forged[0].headers['webhook-signature']).not.toBe(forged[1].headers['webhook-signature'])
  expect(forged[0].body).toBe(forged[1].body)
  const age = (one: { headers: Record<string, string> }) =>
    Date.now() / 1000 - Number(one.headers['webhook-timestamp'])
  expect(age(old[0])).toBeGreaterThanOrEqual(600)
  expect(age(old[1])).toBeLessThan(600)
})

test.concurrent('a new sandbox has no rules and serves requests', async ({ expect }) => {
  const actor = await service.actor()
  await actor.send('GET', '/sandbox/me', { repeatWhileBusy: true })
  const stored = await sandboxModel(service.sandbox.db).findOne({ key_id: actor.keyId }).lean().orFail()
  expect(stored.rules).toEqual([])
  expect((await overSocket('GET', '/sandbox/me', { key: actor.key })).status).toBe(200)
})
