import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { parseTraceparent } from '../../src/core/trace.ts'
import { testApp } from '../support/app.ts'
import { type ReceivedSpan, startCollector } from '../support/collector.ts'
import { onScopeEnd, ownDatabase } from '../support/databases.ts'
import { startProxy } from '../support/proxy.ts'
import { startReceiver } from '../support/receiver.ts'
import { serve } from '../support/served.ts'
import { hookedPartner } from '../support/webhooks.ts'

const hex = (bytes: number) => randomBytes(bytes).toString('hex')

const collector = startCollector()
const tagManager = startReceiver({ onTestFinished: onScopeEnd })
const secret = 'canary-of-the-collector'
const exporting = {
  OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
  OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${secret}`,
  OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=other',
}
const proxy = await startProxy()
onScopeEnd(async () => void proxy.stop())
const [traced, untraced, trusting] = await Promise.all([
  ownDatabase().then((MONGODB_URL) =>
    serve({ ...exporting, ...proxy.environment, MONGODB_URL, TAG_MANAGER_URL: tagManager.url }),
  ),
  ownDatabase().then((MONGODB_URL) => testApp({ MONGODB_URL, WEBHOOKS_ALLOW_PRIVATE: 'on' })),
  serve({ ...exporting, OTEL_TRACES_SAMPLER_ARG: '0', TRUSTED_PROXIES: '127.0.0.1' }),
])
onScopeEnd(collector.stop)

/** Returns a span's direct children, in the order in which they ended. */
const below = ({ spanId, traceId }: ReceivedSpan) =>
  collector.ofTrace(traceId).filter(({ parentId }) => parentId === spanId)
const named = (traceId: string, name: string) =>
  collector.ofTrace(traceId).filter((span) => span.name === name)

test.each([
  ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', true],
  ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00', false],
  ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff', true],
  ['01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', true],
  ['cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-02-what-the-future-will-be-like', false],
])('the trace of the header %s is continued, sampled: %s', (header, isSampled) => {
  const ids = '0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331'
  expect(parseTraceparent(header)).toBe(`00-${ids}-${isSampled ? '01' : '00'}`)
})

test.each([
  '',
  'nonsense',
  'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  '00-00000000000000000000000000000000-b7ad6b7169203331-01',
  '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01',
  '00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01',
  '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more',
  '01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01more',
  '00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01',
  '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331',
  '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01, 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
])('the header %j names no trace and is ignored', (header) => {
  expect(parseTraceparent(header)).toBeNull()
})

// Not concurrent: outcomes of several hints are stored together, in the trace of the first.
test('a keyed booking and its hint are one trace, whose spans have nothing of what was sent', async (context) => {
  const { expect } = context
  const { url, received } = startReceiver(context)
  const partner = await hookedPartner(traced, `${url}&token=canary-of-the-receiver`, ['booking.changed'])
  const traceId = hex(16)
  const spanId = hex(8)
  const canary = 'canary-of-the-partner'
  const body = { ...partner.stay, special_requests: canary, message: canary }
  const headers = {
    traceparent: `00-${traceId}-${spanId}-00`,
    tracestate: `vendor=${canary}`,
    baggage: `user=${canary}`,
    'idempotency-key': canary,
  }
  const booked = await partner.actor.send('POST', `/v1/bookings?x=${canary}`, { body, headers })
  expect(booked.status).toBe(201)
  const answer = JSON.stringify([booked.body, booked.headers.toJSON()])
  expect(answer).not.toMatch(new RegExp(`${traceId}|traceparent|tracestate|baggage`))
  await expect.poll(() => named(traceId, 'hint booking.changed')).toHaveLength(1)
  const [request] = named(traceId, 'POST /v1/bookings') as [ReceivedSpan]
  const [hint] = named(traceId, 'hint booking.changed') as [ReceivedSpan]

  expect(request).toMatchObject({ parentId: spanId, kind: 2, hasFailed: false })
  expect(request.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/v1/bookings',
    'http.response.status_code': 201,
    'partner.key_id': partner.actor.keyId,
    'partner.host_id': partner.actor.hostId,
  })
  const steps = below(request).map(({ name }) => name)
  expect(steps).toEqual(
    expect.arrayContaining([
      'redis hitWindow',
      'mongodb find stored_responses',
      'mongodb find listings',
      'transaction',
    ]),
  )
  const [transaction] = below(request).filter(({ name }) => name === 'transaction') as [ReceivedSpan]
  const commands = new Set(below(transaction).map(({ name }) => name))
  expect([...commands]).toEqual([
    'mongodb findAndModify host_clocks',
    'mongodb aggregate availability_blocks',
    'mongodb insert bookings',
    'mongodb insert messages',
    'mongodb insert stored_responses',
    'mongodb commitTransaction',
    'hint booking.changed',
  ])
  expect(hint).toMatchObject({ parentId: transaction.spanId, hasFailed: false })
  expect(hint.attributes).toMatchObject({ 'http.response.status_code': 200 })
  expect(below(hint)).toMatchObject([{ name: 'mongodb update webhook_deliveries', kind: 3 }])
  const { version } = received.at(-1)?.hint.data ?? {}
  const sent = received.findLast(({ hint }) => hint.data.booking_id === booked.body.data.booking_id)
  expect(sent).toMatchObject({ headers: { traceparent: `00-${traceId}-${hint.spanId}-01` } })
  expect(sent?.hint.data.version).toBe(version)
  expect(sent?.headers).not.toHaveProperty('tracestate')
  expect(sent?.headers).not.toHaveProperty('baggage')
  for (const span of collector.ofTrace(traceId)) expect(span.milliseconds).toBeGreaterThan(0)

  const allowed = /^(http\.(request\.method|route|response\.status_code)|partner\.(key|host)_id)$/
  for (const name of collector.spans.flatMap(({ attributes }) => Object.keys(attributes)))
    expect(name).toMatch(allowed)
  const exported = collector.requests.map(({ text }) => text).join()
  expect(exported).not.toContain('canary')
  expect(exported).not.toContain(partner.actor.key)
  for (const { path, headers } of collector.requests)
    expect({ path, authorization: headers.get('authorization') }).toEqual({
      path: '/v1/traces',
      authorization: `Bearer ${secret}`,
    })
  expect(collector.resources[0]).toEqual({
    'service.name': 'partner-interface',
    'deployment.environment.name': 'test',
  })
  await expect
    .poll(() => traced.lines().filter(({ trace_id }) => trace_id === traceId))
    .toMatchObject([{ route: '/v1/bookings', status: 201, key_id: partner.actor.keyId }])
  expect(traced.output()).not.toContain('canary')
})

test.concurrent('concurrent bookings of a host each keep their own trace, and a change without one has none', async (context) => {
  const { url, received } = startReceiver(context)
  const { actor, stay } = await hookedPartner(untraced, url)
  const traceparentOf = new Map<number, string | undefined>()
  await Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      const traceparent = index % 3 === 0 ? undefined : `00-${hex(16)}-${hex(8)}-00`
      const sending = {
        body: { ...stay, message: `Number ${index}` },
        headers: traceparent ? { traceparent } : {},
      }
      const booked = await actor.send('POST', '/v1/bookings', sending)
      traceparentOf.set(booked.body.data.booking_id, traceparent)
    }),
  )
  const ofThese = () => received.filter(({ hint }) => traceparentOf.has(hint.data.booking_id))
  await context.expect.poll(() => ofThese().length).toBe(24)
  for (const { hint, headers } of ofThese())
    context.expect(headers.traceparent).toBe(traceparentOf.get(hint.data.booking_id))
})

test.concurrent("a trusted proxy's own sampled flag decides, even where nothing else is sampled; a client's does not", async ({
  expect,
}) => {
  const actor = await trusting.actor()
  const unsampled = hex(16)
  const sampled = hex(16)
  const at = (traceId: string, flag: string) => ({
    headers: { traceparent: `00-${traceId}-${hex(8)}-${flag}` },
  })
  await actor.send('GET', '/v1/me', at(unsampled, '00'))
  const forwarded = hex(16)
  const { headers } = at(forwarded, '01')
  await actor.send('GET', '/v1/me', { headers: { ...headers, 'x-forwarded-for': '203.0.113.7' } })
  await actor.send('GET', '/v1/me', at(sampled, '01'))
  await expect.poll(() => named(sampled, 'GET /v1/me')).toHaveLength(1)
  expect([unsampled, forwarded].flatMap((trace) => collector.ofTrace(trace))).toEqual([])
})

test.concurrent('hints, spans and events for this machine never use a proxy', async (context) => {
  const { expect } = context
  const { url, received } = startReceiver(context)
  const { actor, book } = await hookedPartner(traced, url, ['booking.changed'])
  const body = { email: 'proxy@example.com', first_name: 'A', last_name: 'B', password: 'long enough' }
  const { user_id } = (await actor.send('POST', '/v1/users', { body })).body.data
  expect((await book()).status).toBe(201)
  await expect.poll(() => received.length).toBeGreaterThan(0)
  await expect.poll(() => tagManager.received.some((one) => one.body.includes(String(user_id)))).toBe(true)
  await expect.poll(() => collector.spans.length).toBeGreaterThan(0)
  expect(proxy.requests).toEqual([])
})

test('a job has the trace of its request, and its spans are exported before the process ends', async () => {
  const actor = await traced.actor()
  const traceId = hex(16)
  const body = { email: 'guest@example.com', first_name: 'A', last_name: 'B', password: 'long enough' }
  const headers = { traceparent: `00-${traceId}-${hex(8)}-01` }
  const { user_id } = (await actor.send('POST', '/v1/users', { body, headers })).body.data
  await expect.poll(() => tagManager.received.some((one) => one.body.includes(String(user_id)))).toBe(true)
  expect(await traced.end('SIGTERM')).toBe(0)
  const [job] = named(traceId, 'job UserCreated') as [ReceivedSpan]
  expect(job.attributes).toEqual({ 'partner.host_id': actor.hostId })
  expect(below(job).map(({ name }) => name)).toEqual(['mongodb delete outbox'])
  const [transaction] = named(traceId, 'transaction') as [ReceivedSpan]
  expect(below(transaction).map(({ name }) => name)).toContain('job UserCreated')
})
