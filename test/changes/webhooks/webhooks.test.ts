import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import packageJson from '../../../package.json' with { type: 'json' }
import { webhookModel } from '../../../src/changes/webhooks/model.ts'
import { partnerctlHere } from '../../support/admin.ts'
import { type Actor, testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { startReceiver } from '../../support/receiver.ts'
import { bothEvents, deliveriesOf, hookedPartner } from '../../support/webhooks.ts'

// This file has its own database, because any service that shares a database may send its hints.
const MONGODB_URL = await ownDatabase()
const service = await testApp({ MONGODB_URL, WEBHOOKS_ALLOW_PRIVATE: 'on' })
const path = '/v1/webhooks'
const token = 'a-token-of-the-operator'
const [metered, strict] = await Promise.all([
  testApp({ MONGODB_URL, METRICS_TOKEN: token, WEBHOOKS_ALLOW_PRIVATE: 'on' }),
  testApp({ MONGODB_URL: await ownDatabase() }),
])

test.concurrent('a webhook gets signed hints about changes and messages once they are in the feed', async (context) => {
  const { expect } = context
  const seen: number[] = []
  let actor: Actor | undefined
  const { url, received } = startReceiver(context, async ({ hint }) => {
    if (hint.type === 'booking.changed') {
      const { body } = (await actor?.send('GET', '/v1/integrations/provider_one/bookings')) ?? {}
      seen.push(
        body.data.Bookings.filter((one: { version: string }) => one.version >= hint.data.version).length,
      )
    }
    return new Response(null, { status: 204 })
  })
  const partnered = await hookedPartner(service, url)
  actor = partnered.actor
  const { body } = await partnered.book()
  await actor.send('POST', `/v1/bookings/${partnered.booking_id}/messages`, {
    body: { message: { text: 'Hi' } },
  })
  await expect.poll(() => received.map(({ hint }) => hint.type).sort()).toEqual(bothEvents)
  await expect.poll(() => seen).toEqual([1])
  const change = received.find(({ hint }) => hint.type === 'booking.changed')
  expect(change?.hint.data.booking_id).toBe(body.data.booking_id)
  expect((await actor.send('POST', `${path}/${partnered.id}/test`)).status).toBe(200)
  for (const { hint } of received) {
    const { type, timestamp } = hint
    expect({ type, timestamp }).toEqual({
      type,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    })
  }
  for (const one of received) new Webhook(partnered.secret).verify(one.body, one.headers)
  await expect
    .poll(async () =>
      (await deliveriesOf(actor as Actor, partnered.id)).map(({ status }: { status: string }) => status),
    )
    .toEqual(['delivered', 'delivered', 'delivered'])
})

test.concurrent('a host has at most five webhooks, however many are made at once', async () => {
  const actor = await service.actor()
  const body = { url: 'https://example.com/', events: bothEvents }
  const make = () => actor.send('POST', path, { body, repeatWhileBusy: true })
  const statuses = (await Promise.all(Array.from({ length: 12 }, make))).map(({ status }) => status)
  expect(statuses.filter((status) => status === 201)).toHaveLength(5)
  expect(statuses.filter((status) => status === 409)).toHaveLength(7)
  expect((await actor.send('GET', path)).body.data).toHaveLength(5)
})

test.concurrent('a failed hint is attempted again after five seconds under its id, and later changes merge into one hint', async (context) => {
  const { expect } = context
  const { url, received } = startReceiver(
    context,
    (_, count) => new Response(null, { status: count === 1 ? 500 : 200 }),
  )
  const { actor, booking_id, id } = await hookedPartner(service, url, ['booking.changed'])
  await actor.send('POST', `/v1/bookings/${booking_id}/confirm`)
  await expect.poll(() => received.length).toBe(1)
  await actor.send('POST', `/v1/bookings/${booking_id}/cancel`)
  await expect.poll(() => received.length).toBe(3)
  const [first, ,] = received
  const again = received
    .slice(1)
    .filter(({ headers }) => headers['webhook-id'] === first?.headers['webhook-id'])
  expect(again).toHaveLength(1)
  expect(again[0]?.body).toBe(first?.body)
  const versions = received.map(({ hint }) => hint.data.version)
  expect(new Set(versions).size).toBe(2)
  await expect
    .poll(async () => (await deliveriesOf(actor, id)).map((one: { status: string }) => one.status))
    .toEqual(['delivered', 'delivered'])
})

test.concurrent('a webhook that responds 410 with a long page is turned off, and reports the gap when it is turned on again', async (context) => {
  const { expect } = context
  const { url, received } = startReceiver(
    context,
    (_, count) => new Response('y'.repeat(count === 1 ? 100_000 : 0), { status: count === 1 ? 410 : 200 }),
  )
  const { actor, id, book } = await hookedPartner(service, url)
  await book()
  await expect
    .poll(async () => (await actor.send('GET', `${path}/${id}`)).body.data)
    .toMatchObject({ enabled: false, disabled_reason: 'gone', disabled_at: expect.any(String) })
  const missed = await book()
  const on = await actor.send('PATCH', `${path}/${id}`, { body: { enabled: true } })
  expect(on.body.data).toMatchObject({ enabled: true, disabled_reason: null, disabled_at: null })
  const after = encodeURIComponent(on.body.meta.gap.bookings_after)
  const gap = await actor.send('GET', `/v1/integrations/provider_one/bookings?updated_after=${after}`)
  const ids = gap.body.data.Bookings.map((one: { booking_id: number }) => one.booking_id)
  expect(ids).toContain(missed.body.data.booking_id)
  const { body } = await book()
  await expect.poll(() => received.at(-1)?.hint.data.booking_id).toBe(body.data.booking_id)
  expect(received.map(({ hint }) => hint.data.booking_id)).not.toContain(missed.body.data.booking_id)
})

test.concurrent('a delivery names its booking and its message, and every post its sender', async (context) => {
  const { expect } = context
  const { url, received } = startReceiver(context)
  const { actor, id, booking_id } = await hookedPartner(service, url, ['booking.changed', 'message.created'])
  const body = { message: { text: 'Hello' } }
  await actor.send('POST', `/v1/bookings/${booking_id}/messages`, { body })
  await actor.send('POST', `${path}/${id}/test`)
  const about = async () =>
    (await deliveriesOf(actor, id)).map(({ event, booking_id, message_id }: Record<string, unknown>) => ({
      event,
      booking_id,
      message_id,
    }))
  await expect.poll(async () => (await about()).length).toBe(2)
  await expect.poll(() => received.length).toBe(2)
  const message_id = received.find(({ hint }) => hint.type === 'message.created')?.hint.data.message_id
  expect(message_id).toBeGreaterThan(0)
  expect(await about()).toEqual(
    expect.arrayContaining([
      { event: 'webhook.test', booking_id: null, message_id: null },
      { event: 'message.created', booking_id, message_id },
    ]),
  )
  const sender = `partner-interface/${packageJson.version} (+${service.live.config.publicUrl})`
  expect(received.map(({ headers }) => headers['user-agent'])).toEqual([sender, sender])
})

test.concurrent('the text of a test has a letter beyond ASCII and a slash, as it is sent and not escaped', async (context) => {
  const { expect } = context
  const { url, received } = startReceiver(context)
  const { actor, id, secret } = await hookedPartner(service, url, ['booking.changed'])
  await actor.send('POST', `${path}/${id}/test`)
  const [{ body, headers } = { body: '', headers: {} }] = received
  expect(JSON.parse(body).data).toEqual({ text: expect.stringMatching(/[^\0-\x7f].*\//) })
  expect(body).not.toContain('\\')
  new Webhook(secret).verify(body, headers)
  // What PHP's json_encode() makes of it.
  const encodedAgain = body.replace(
    /[^\0-\x7f]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  expect(() => new Webhook(secret).verify(encodedAgain, headers)).toThrow()
  expect(() => new Webhook(secret).verify(body.replaceAll('/', '\\/'), headers)).toThrow()
})

test.concurrent('a redirect is named in the deliveries, and its target only in the response to a test', async (context) => {
  const { expect } = context
  const { url } = startReceiver(context, () =>
    Response.redirect('https://www.example.com/hooks?secret=1', 301),
  )
  const { actor, id } = await hookedPartner(service, url, ['booking.changed'])
  const outcome = { status: 'failed', response_status: 301, error: null, error_detail: 'redirect' }
  const { body, text } = await actor.send('POST', `${path}/${id}/test`)
  expect(body.data).toMatchObject({ ...outcome, redirect_origin: 'https://www.example.com' })
  const listed = await actor.send('GET', `${path}/${id}/deliveries`)
  expect(listed.body.data).toMatchObject([outcome])
  expect(listed.text).not.toContain('www.example.com')
  expect(text + listed.text).not.toContain('secret=1')
})

test.concurrent('a webhook can be tested, a hint resent and the secret rotated', async (context) => {
  const { expect } = context
  const { url, received } = startReceiver(context)
  const { actor, id, secret, book } = await hookedPartner(service, url, ['booking.changed'])
  const tested = await actor.send('POST', `${path}/${id}/test`)
  expect(tested.body.data).toMatchObject({
    event: 'webhook.test',
    status: 'delivered',
    attempts: 1,
    response_status: 200,
  })
  const rotated = await actor.send('POST', `${path}/${id}/secret/rotate`)
  expect(rotated.body.data.secret).not.toBe(secret)
  await book()
  await expect.poll(() => received.length).toBe(2)
  for (const one of [secret, rotated.body.data.secret])
    new Webhook(one).verify(received[1]?.body as string, received[1]?.headers as Record<string, string>)
  await expect.poll(async () => (await deliveriesOf(actor, id))[0].status).toBe('delivered')
  const [last] = await deliveriesOf(actor, id)
  const resent = await actor.send('POST', `${path}/${id}/deliveries/${last.id}/resend`)
  expect(resent.status).toBe(200)
  await expect.poll(() => received.length).toBe(3)
  expect(received[2]?.headers['webhook-id']).toBe(received[1]?.headers['webhook-id'])
})

test.concurrent('a partner turns a webhook off and on and changes its address, to which no waiting hint is sent', async (context) => {
  const { expect } = context
  const { url: dead, received: refused } = startReceiver(context, () => new Response(null, { status: 500 }))
  const { url: alive, received } = startReceiver(context)
  const { actor, id, book } = await hookedPartner(service, dead, ['booking.changed'])
  const first = (await book()).body.data.booking_id
  await expect.poll(() => refused.length).toBe(1)
  await expect.poll(async () => (await deliveriesOf(actor, id))[0].next_attempt_at).not.toBeNull()
  const moved = await actor.send('PATCH', `${path}/${id}`, { body: { url: alive } })
  expect(moved.body.data).toMatchObject({ url: alive, enabled: true })
  const { version } = refused[0]?.hint.data ?? { version: '' }
  expect(moved.body.meta.gap.bookings_after < version).toBe(true)
  expect((await deliveriesOf(actor, id))[0].status).toBe('failed')
  const second = (await book()).body.data.booking_id
  await expect.poll(() => received.map(({ hint }) => hint.data.booking_id)).toEqual([second])
  const off = await actor.send('PATCH', `${path}/${id}`, { body: { enabled: false } })
  expect(off.body.data).toMatchObject({ enabled: false, disabled_reason: 'partner' })
  const [{ id: delivery }] = await deliveriesOf(actor, id)
  const resend = await actor.send('POST', `${path}/${id}/deliveries/${delivery}/resend`)
  expect({ status: resend.status, message: resend.body.error.message }).toEqual({
    status: 409,
    message: 'The webhook is off; turn it on first',
  })
  expect((await actor.send('POST', `${path}/${id}/test`)).body.data.status).toBe('delivered')
  const missed = (await book()).body.data.booking_id
  const on = await actor.send('PATCH', `${path}/${id}`, { body: { enabled: true } })
  expect(on.body.meta.gap.bookings_after).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  // A partner that lost this response repeats the request.
  const again = await actor.send('PATCH', `${path}/${id}`, { body: { enabled: true } })
  expect(again.body.meta.gap).toEqual(on.body.meta.gap)
  const next = (await book()).body.data.booking_id
  await expect.poll(() => received.at(-1)?.hint.data.booking_id).toBe(next)
  expect(received.map(({ hint }) => hint.data.booking_id)).not.toContain(missed)
  expect(received.map(({ hint }) => hint.data.booking_id)).not.toContain(first)
  const own = await auditOf(id)
  expect(own.map(({ action, user }: Record<string, string>) => [action, user])).toEqual([
    ['webhooks enable', `key ${actor.keyId}`],
    ['webhooks disable', `key ${actor.keyId}`],
    ['webhooks change', `key ${actor.keyId}`],
    ['webhooks create', `key ${actor.keyId}`],
  ])
})

test.concurrent('hints for an added event begin with the next change', async (context) => {
  const { expect } = context
  const { url, received } = startReceiver(context)
  const { actor, id, booking_id } = await hookedPartner(service, url, ['booking.changed'])
  const write = (text: string) =>
    actor.send('POST', `/v1/bookings/${booking_id}/messages`, { body: { message: { text } } })
  await write('before')
  await actor.send('PATCH', `${path}/${id}`, { body: { events: bothEvents } })
  const after = await write('after')
  await expect
    .poll(() => received.map(({ hint }) => hint.data.message_id))
    .toEqual([after.body.data.message.id])
})

/** Returns a webhook's entries in the audit log, newest first. */
async function auditOf(id: number): Promise<Record<string, string>[]> {
  const entries: Record<string, string>[] = await administrate('audit', 'list')
  return entries.filter(({ target }) => target === `webhook ${id}` || target?.startsWith(`webhook ${id}:`))
}

async function administrate(...args: string[]) {
  const { stdout, stderr } = await partnerctlHere([...args, '--json'], { MONGODB_URL })
  return JSON.parse(stdout || `{"stderr":${JSON.stringify(stderr)}}`)
}

test.concurrent('administrators see the webhooks of all hosts and their deliveries, and turn them off and on', async (context) => {
  const { expect } = context
  const { url } = startReceiver(context)
  const { actor, id } = await hookedPartner(service, url)
  await actor.send('POST', `${path}/${id}/test`)
  const [listed] = await administrate('webhooks', 'list', '--host', String(actor.hostId))
  expect(listed).toMatchObject({ id, host_id: actor.hostId, url, enabled: true, created_by: actor.keyId })
  expect(await administrate('webhooks', 'deliveries', String(id))).toMatchObject([
    { event: 'webhook.test', status: 'delivered', response_status: 200 },
  ])
  const off = await administrate('webhooks', 'disable', String(id))
  expect(off).toMatchObject({ enabled: false, disabled_reason: 'administrator' })
  expect((await actor.send('GET', `${path}/${id}`)).body.data.disabled_reason).toBe('administrator')
  const scrape = async () =>
    (await metered.send('GET', '/metrics', { headers: { authorization: `Bearer ${token}` } })).text
  // On a busy machine, a scrape may not get an answer from the database in time.
  await expect.poll(scrape).toMatch(/^webhook_endpoints_off [1-9]/m)
  expect(await scrape()).toMatch(/^webhook_oldest_waiting_seconds \d/m)
  const on = await administrate('webhooks', 'enable', String(id))
  expect(on).toMatchObject({ enabled: true, bookings_after: expect.stringMatching(/^\d{4}-/) })
  const actions = await auditOf(id)
  expect(actions.map(({ action }) => action)).toEqual([
    'webhooks enable',
    'webhooks disable',
    'webhooks create',
  ])
  expect((await administrate('webhooks', 'disable', '999999')).stderr).toContain('No webhook with this id')
})

test.concurrent('only public addresses over TLS without user info are accepted', async () => {
  const { send } = await strict.actor()
  const refusals: [string, RegExp][] = [
    ['http://example.com/', /must start with "https:\/\/"/],
    ['https://user@example.com/', /user name or a password/],
    ['https://user:pass@10.0.0.1/', /user name or a password/],
    ['https://127.1/', /must be a public address; its IP address is private or reserved$/],
    ['https://[::ffff:10.0.0.1]/', /must be a public address; its IP address is private or reserved$/],
    ['https://localhost:8443/', /must be a public address; .* use "partnerctl listen"$/],
    ['https://intranet/', /must be a public address; a name without a dot/],
    ['http://myhost/hook', /must start with "https:/],
    ['ftp://example.com/', /"url"/],
    ['example.com', /"url"/],
    ['https://@example.com/', /user name or a password/],
    ['https:user:pw@example.com', /user name or a password/],
    ['https:/user:pw@example.com/', /user name or a password/],
    ['https:\\\\user:pw@example.com', /user name or a password/],
    ['https://example.com/\r\nx: y', /spaces or line breaks/],
  ]
  for (const [url, message] of refusals) {
    const { status, body } = await send('POST', path, { body: { url, events: bothEvents } })
    expect({ url, status, errors: body.error.errors }).toEqual({
      url,
      status: 422,
      errors: [{ path: 'url', code: 'invalid', message: expect.stringMatching(message) }],
    })
  }
  const events = ['booking.changed', 'booking.changed']
  const twice = await send('POST', path, { body: { url: 'https://example.com/', events } })
  expect(twice.body.error.errors).toEqual([
    { path: 'events', code: 'invalid', message: '"events" must not contain duplicates' },
  ])
  expect((await send('GET', path)).body.data).toEqual([])
})

test.concurrent('a webhook has at most one test in progress', async (context) => {
  const { expect } = context
  const answer = Promise.withResolvers<Response>()
  const { url, received } = startReceiver(context, () => answer.promise)
  const { actor, id } = await hookedPartner(service, url)
  const tested = () => actor.send('POST', `${path}/${id}/test`)
  const first = tested()
  await expect.poll(() => received.length).toBe(1)
  expect((await tested()).status).toBe(409)
  answer.resolve(new Response())
  expect((await first).body.data.status).toBe('delivered')
  expect((await tested()).status).toBe(200)
})

test.concurrent('a test that is resent counts neither as success nor as failure', async (context) => {
  const { expect } = context
  const { url, received } = startReceiver(context, () => new Response(null, { status: 410 }))
  const { actor, id } = await hookedPartner(service, url)
  const tested = (await actor.send('POST', `${path}/${id}/test`)).body.data
  expect(tested.status).toBe('failed')
  expect((await actor.send('POST', `${path}/${id}/deliveries/${tested.id}/resend`)).status).toBe(200)
  await expect.poll(() => received.length).toBe(2)
  const deliveries = async () => (await actor.send('GET', `${path}/${id}/deliveries`)).body.data
  await expect.poll(deliveries).toMatchObject([{ id: tested.id, status: 'failed', attempts: 2 }])
  expect((await actor.send('GET', `${path}/${id}`)).body.data).toMatchObject({ enabled: true })
  expect(await webhookModel(service.live.db).findOne({ id }).lean()).toMatchObject({ failing_since: null })
})

test.concurrent('after two concurrent rotations both secrets sign', async (context) => {
  const { expect } = context
  const { url, received } = startReceiver(context)
  const { actor, id } = await hookedPartner(service, url)
  const rotate = () => actor.send('POST', `${path}/${id}/secret/rotate`, { repeatWhileBusy: true })
  const secrets = (await Promise.all([rotate(), rotate()])).map(({ body }) => body.data.secret as string)
  await actor.send('POST', `${path}/${id}/test`)
  const [{ body, headers }] = received as [(typeof received)[number]]
  for (const secret of secrets) new Webhook(secret).verify(body, headers)
  expect(headers['webhook-signature']?.split(' ')).toHaveLength(2)
})
