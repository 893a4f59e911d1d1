import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import {
  type Attempt,
  ConnectionError,
  createClient,
  PartnerError,
  verifyWebhook,
  WebhookError,
} from '../../client/src/index.ts'

/**
 * Checks the client's promises. This program runs once under each supported runtime. Faults come from a real service's sandbox and from the
 * foreign server at `foreignUrl`. Prints a line of JSON for each case of one quarter, which `share` (`0` to `3`) selects.
 */
const [baseUrl, key, foreignUrl, closedUrl, share] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
]
const made: Attempt[] = []
const options = {
  key,
  baseUrl,
  sandbox: true as const,
  onRequest: (attempt: Attempt) => void made.push(attempt),
}
const client = createClient(options)
const steering = createClient({ key, baseUrl, sandbox: true })

/** Sets faults and runs `work`; returns its outcome, the number of attempts, and the status of each attempt. Reading `value` throws if `work` failed. */
async function withFaults<T>(
  rules: Parameters<typeof steering.sandbox.setFaults>[0],
  work: () => PromiseLike<T>,
) {
  await steering.sandbox.setFaults(rules)
  made.length = 0
  const [outcome] = await Promise.allSettled([work()])
  await steering.sandbox.clearFaults()
  return {
    get value() {
      if (outcome.status === 'rejected') throw outcome.reason
      return outcome.value
    },
    error: outcome.status === 'rejected' ? outcome.reason : undefined,
    attempts: made.length,
    statuses: made.map(({ status }) => status),
  }
}

let day = 0
/** Returns a stay that does not overlap any previous stay. */
function stay() {
  day += 1
  const start = Date.UTC(2040, 0, 1) + day * 40 * 86_400_000
  const [checkin_at, checkout_at] = [start, start + 31 * 86_400_000].map((at) =>
    new Date(at).toISOString().slice(0, 10),
  )
  return { user_id: 1001, listing_id: 2001, room_type_id: 3001, checkin_at, checkout_at } as {
    user_id: number
    listing_id: number
    room_type_id: number
    checkin_at: string
    checkout_at: string
  }
}

const total = async () => (await steering.bookings.digest()).count
const webhook = { url: 'https://hooks.example.com/', events: ['booking.changed' as const] }

const cases: Record<string, () => Promise<void>> = {
  async 'a create is made once, whatever becomes of its answer'() {
    for (const fault of [
      'lost_response',
      'lost_request',
      'cut_response',
      'bad_gateway',
      'internal_error',
    ] as const) {
      const before = await total()
      const { value, attempts } = await withFaults([{ fault, operation: 'createBooking' }], () =>
        client.bookings.create(stay()),
      )
      assert.deepEqual(
        { bookings: await total(), status: value.status },
        { bookings: before + 1, status: 1 },
        fault,
      )
      // A runtime may itself repeat a request that is reset before the first byte, with the same key as the client.
      assert.ok(attempts === 2 || (attempts === 1 && fault.startsWith('lost_')), fault)
    }
  },
  async 'a key of the caller is kept over all tries, and over calls'() {
    const body = stay()
    const idempotencyKey = crypto.randomUUID()
    const { value } = await withFaults([{ fault: 'lost_response', operation: 'createBooking' }], () =>
      client.bookings.create(body, { idempotencyKey }).withResponse(),
    )
    assert.equal(value.response.headers.get('idempotent-replayed'), 'true')
    const again = await client.bookings.create(body, { idempotencyKey })
    assert.equal(again.booking_id, value.data.booking_id)
  },
  async 'what must not be made twice is sent once when its answer is lost, and again when nothing was done'() {
    const lost = await withFaults([{ fault: 'cut_response', operation: 'createWebhook' }], () =>
      client.webhooks.create(webhook),
    )
    assert.ok(lost.error instanceof ConnectionError)
    assert.deepEqual(
      { attempts: lost.attempts, webhooks: (await client.webhooks.list()).length },
      { attempts: 1, webhooks: 1 },
    )
    const [made] = await client.webhooks.list()
    const id = made?.id as number
    const once: (() => PromiseLike<unknown>)[] = [
      () => client.webhooks.rotateSecret(id),
      () => client.webhooks.test(id),
      () => client.sandbox.play('guest-books'),
      () => client.sandbox.advanceClock(1),
    ]
    for (const work of once) {
      const { error, attempts } = await withFaults(
        [
          { fault: 'cut_response', operation: 'rotateWebhookSecret' },
          { fault: 'cut_response', operation: 'testWebhook' },
        ],
        work,
      )
      assert.ok(attempts === 1, String(error))
    }
    const limited = await withFaults(
      [{ fault: 'rate_limited', operation: 'rotateWebhookSecret', retry_after_seconds: 1 }],
      () => client.webhooks.rotateSecret(id),
    )
    assert.deepEqual(
      { attempts: limited.attempts, statuses: limited.statuses },
      { attempts: 2, statuses: [429, 200] },
    )
    await client.webhooks.delete(id)
  },
  async 'a deletion that is found done is done'() {
    const { id } = await client.webhooks.create(webhook)
    const { error, statuses } = await withFaults(
      [{ fault: 'cut_response', operation: 'deleteWebhook' }],
      () => client.webhooks.delete(id),
    )
    assert.deepEqual({ error, statuses }, { error: undefined, statuses: [200, 404] })
    await assert.rejects(client.webhooks.delete(id), { type: 'not_found' })
  },
  async 'a change of a listing is repeated unless it adds something; a consumer is, but not its seek'() {
    // Not `lost_response`, because a runtime may itself repeat a request that is reset before the first byte.
    const faulty = (operation: string) => [{ fault: 'cut_response' as const, operation }]
    const plain = await withFaults(faulty('updateListing'), () =>
      client.listings.update(2001, { name: 'Another name' }),
    )
    assert.deepEqual(
      { attempts: plain.attempts, action: plain.value.action },
      { attempts: 2, action: 'updated' },
    )
    const adding = await withFaults(faulty('updateListing'), () =>
      client.listings.update(2001, { room_types: [{ name: 'New', rooms: [{ name: 'One' }] }] }),
    )
    assert.deepEqual(
      { attempts: adding.attempts, name: adding.error.name },
      { attempts: 1, name: 'ConnectionError' },
    )
    const put = await withFaults(faulty('putBookingConsumer'), () =>
      client.bookings.consumers.put('a', { acknowledged: null }),
    )
    const seek = await withFaults(faulty('putBookingConsumer'), () =>
      client.bookings.consumers.put('a', { acknowledged: null, seek: true }),
    )
    assert.deepEqual({ put: put.attempts, seek: seek.attempts }, { put: 2, seek: 1 })
    await client.bookings.consumers.delete('a')
  },
  async 'a limit is waited out; after five minutes asked for, it is the caller who decides'() {
    const start = Date.now()
    const { attempts, value } = await withFaults(
      [{ fault: 'rate_limited', operation: 'getHostProfile', times: 2, retry_after_seconds: 1 }],
      () => client.host.get(),
    )
    assert.ok(value && Date.now() - start >= 2000)
    assert.equal(attempts, 3)
    const foreign = createClient({ ...options, baseUrl: `${foreignUrl}/429` })
    await assert.rejects(foreign.host.get(), {
      name: 'PartnerError',
      type: 'rate_limit_error',
      retryAfterSeconds: 400,
    })
  },
  async 'an error says what it is, with its request and its fields'() {
    const wrong = await client.bookings.create({ ...stay(), checkin_at: 'tomorrow' }).catch((error) => error)
    assert.ok(wrong instanceof PartnerError && wrong.type === 'validation_error')
    assert.deepEqual(
      { status: wrong.status, path: wrong.errors[0]?.path },
      { status: 422, path: 'checkin_at' },
    )
    assert.ok(wrong.message.endsWith(`: ${wrong.errors[0]?.message}`), wrong.message)
    assert.match(String(wrong.requestId), /^[0-9a-f-]{36}$/)
    assert.match(String(wrong.guide), /^http:.*:\d+\/guide\/errors#validation_error$/)
    const whole = await client.listings
      .get(7)
      .withResponse()
      .catch((one) => one)
    assert.equal(whole.type, 'not_found')
    const { error, attempts } = await withFaults(
      [{ fault: 'unauthorized', operation: 'getHostProfile' }],
      () => client.host.get(),
    )
    assert.deepEqual(
      { type: error.type, status: error.status, attempts },
      { type: 'auth_error', status: 401, attempts: 1 },
    )
    const failing = await withFaults(
      [{ fault: 'internal_error', operation: 'getHostProfile', times: 9 }],
      () => createClient({ ...options, retries: 1 }).host.get(),
    )
    assert.deepEqual(
      { type: failing.error.type, attempts: failing.attempts },
      { type: 'internal_error', attempts: 2 },
    )
  },
  async 'a try that takes too long is given up, and repeated'() {
    const { attempts, error } = await withFaults(
      [{ fault: 'slow', operation: 'getHostProfile', delay_milliseconds: 5000 }],
      () => createClient({ ...options, timeoutMs: 2000 }).host.get(),
    )
    assert.deepEqual({ attempts, error }, { attempts: 2, error: undefined })
  },
  async 'what is not the service is no answer, and no redirect is followed'() {
    for (const [path, status] of [
      ['html', 200],
      ['json', 200],
      ['redirect', 302],
      ['gone', 404],
      ['half', 200],
    ] as const) {
      const foreign = createClient({ key, baseUrl: `${foreignUrl}/${path}`, retries: 0 })
      const error = await foreign.host.get().catch((one) => one)
      assert.ok(error instanceof ConnectionError, `${path}: ${error}`)
      assert.equal(error.status, status, path)
    }
    assert.equal(await (await fetch(`${foreignUrl}/followed`)).text(), '0')
    const feedOf = (path: string) => createClient({ key, baseUrl: `${foreignUrl}/${path}` }).bookings.feed()
    await assert.rejects(async () => {
      for await (const _ of feedOf('stuck'));
    }, /does not move forward/)
    for (const path of ['other', 'away']) {
      const versions: string[] = []
      for await (const { version } of feedOf(path)) versions.push(version)
      assert.deepEqual(versions, ['2026-01-01 00:00:00'], path)
    }
    const unknown = await createClient({ key, baseUrl: `${foreignUrl}/unknown` })
      .host.get()
      .catch((one) => one)
    assert.deepEqual(
      { type: unknown.type, rawType: unknown.rawType },
      { type: 'unknown_error', rawType: 'teapot' },
    )
  },
  async 'a client without a key or an address says so, and one with a root in its address works'() {
    for (const [wrong, message] of [
      [{ key: undefined, baseUrl }, /"key" is missing/],
      [{ key, baseUrl: undefined }, /"baseUrl" is missing/],
      [{ key, baseUrl: '127.0.0.1:3000' }, /must be an http or https address/],
      [{ key, baseUrl: 'http://' }, /must be an http or https address/],
      [{ key, baseUrl: `${baseUrl}#` }, /must be an http or https address without a query/],
      [
        { key: `\ufeff${key}`, baseUrl },
        /^TypeError: createClient: "key" must be printable ASCII without spaces$/,
      ],
      [
        { key: `${key}\r\n`, baseUrl },
        /^TypeError: createClient: "key" must be printable ASCII without spaces$/,
      ],
    ] as const)
      assert.throws(() => createClient(wrong), message)
    assert.ok(await createClient({ key, baseUrl: `${baseUrl}/v1/` }).host.get())
  },
  async 'a refused connection is tried again, whatever was to be sent'() {
    const attempts: Attempt[] = []
    const closed = createClient({
      key,
      baseUrl: closedUrl,
      retries: 1,
      onRequest: (one) => void attempts.push(one),
    })
    await assert.rejects(closed.webhooks.create(webhook), ConnectionError)
    assert.deepEqual(
      attempts.map(({ status }) => status),
      [undefined, undefined],
    )
  },
  async 'the feed gives each booking once, through limits, faults and many pages'() {
    await client.sandbox.play('guest-books', { count: 48 })
    const seen: number[] = []
    const { attempts } = await withFaults(
      [
        { fault: 'rate_limited', operation: 'pollBookings', retry_after_seconds: 1 },
        { fault: 'bad_gateway', operation: 'pollBookings' },
        { fault: 'cut_response', operation: 'pollBookings', after: 1 },
      ],
      async () => {
        for await (const { booking_id } of client.bookings.feed({ after: null, per_page: 16 }))
          seen.push(booking_id)
      },
    )
    assert.equal(seen.length, await total())
    assert.equal(new Set(seen).size, seen.length)
    assert.ok(attempts >= 6)
  },
  async 'a feed with details gives each item its whole booking, to a consumer too'() {
    const some = { per_page: 20, include: 'detail' } as const
    for await (const { booking_id, version, Booking } of client.bookings.feed({
      consumer: 'whole',
      ...some,
    })) {
      assert.deepEqual(
        { booking_id: Booking.booking_id, version: Booking.meta.version },
        { booking_id, version },
      )
      assert.deepEqual(Booking, await client.bookings.get(booking_id))
      break
    }
  },
  async 'a consumer is created, and acknowledged up to the change before the one in hand'() {
    await client.sandbox.play('guest-books', { count: 40 })
    const name = 'own'
    const acknowledged = async () => (await client.bookings.consumers.get(name)).acknowledged
    const versions: string[] = []
    for await (const { version } of client.bookings.feed({ consumer: name, per_page: 20 })) {
      versions.push(version)
      if (versions.length === 30) break
    }
    assert.equal(await acknowledged(), versions[28])
    const failed = await (async () => {
      for await (const { version } of client.bookings.feed({ consumer: name, per_page: 20 })) {
        if (version > (versions[34] ?? (versions[29] as string))) throw new Error('mine')
        versions.push(version)
      }
    })().catch((error) => error)
    assert.equal(failed.message, 'mine')
    assert.equal(await acknowledged(), versions.at(-1))
    let pages = 0
    for await (const { items, checkpoint } of client.bookings
      .feed({ consumer: name, per_page: 10 })
      .pages()) {
      assert.equal(checkpoint, items.at(-1)?.version)
      pages += 1
    }
    assert.ok(pages > 1)
    const { pending } = await client.bookings.consumers.get(name)
    assert.equal(pending, 0)
  },
  async 'with wait the loop goes on, until the signal, whose reason it throws'() {
    const controller = new AbortController()
    const { version } = await client.bookings.digest()
    const reason = new Error('enough')
    const seen: number[] = []
    const loop = (async () => {
      for await (const { booking_id } of client.bookings.feed({
        after: version,
        wait: 20,
        signal: controller.signal,
      })) {
        seen.push(booking_id)
        if (seen.length === 2) controller.abort(reason)
      }
    })()
    const rejected = assert.rejects(loop, reason)
    for (let count = 0; count < 2; count += 1) {
      await new Promise((resolve) => setTimeout(resolve, 200))
      await client.bookings.create(stay())
    }
    await rejected
    assert.equal(seen.length, 2)
    const waiting = new AbortController()
    setTimeout(() => waiting.abort(reason), 300)
    await assert.rejects(async () => {
      for await (const _ of client.messages.feed({
        after: '2999-01-01 00:00:00',
        wait: 20,
        signal: waiting.signal,
      }));
    }, reason)
  },
  async 'the signal ends a loop between two items and at its end, and what was handled is acknowledged'() {
    await client.sandbox.play('guest-books', { count: 5 })
    const reason = new Error('enough')
    for (const [consumer, last] of [
      ['between', 2],
      ['at-end', Infinity],
    ] as const) {
      const count = Math.min(last, await total())
      const controller = new AbortController()
      const versions: string[] = []
      await assert.rejects(async () => {
        for await (const { version } of client.bookings.feed({ consumer, signal: controller.signal }))
          if (versions.push(version) === count) controller.abort(reason)
      }, reason)
      assert.equal(versions.length, count)
      assert.equal((await client.bookings.consumers.get(consumer)).acknowledged, versions.at(-1))
    }
  },
  async 'a consumer takes no filter, and its creation leaves no failed request'() {
    for (const more of [
      { listing_id: 2001 },
      { after: '2026-01-01 00:00:00' },
      { checkout_after: '2026-01-01' },
    ])
      assert.throws(
        // @ts-expect-error: the types refuse a filter, too.
        () => client.bookings.feed({ consumer: 'whole', ...more }),
        TypeError,
      )
    made.length = 0
    for await (const _ of client.bookings.feed({ consumer: 'whole' })) break
    assert.deepEqual([...new Set(made.map(({ status }) => status))], [200])
  },
  async 'no parameter and no path leads to another route'() {
    made.length = 0
    for (const id of ['..', '.', '', Number.NaN, undefined, {}] as never[]) {
      assert.throws(() => client.listings.get(id), TypeError)
      assert.throws(() => client.webhooks.delete(id), TypeError)
      assert.throws(() => client.bookings.consumers.get(id), TypeError)
    }
    for (const path of [
      '../../v1/me',
      '/../v1/me',
      '/%2e%2E/v1/me',
      '\\..\\..\\v1\\me',
      '/webhooks/..',
      '/listings/./2001',
      '/listings/..?page=1',
      'x/../../v1/me',
      '@127.0.0.1/',
      '/bookings/.\t./listings',
      '/bookings/.\n./listings',
      '/webhooks/.. ',
      '/webhooks/..\t',
    ])
      await assert.rejects(client.request('GET', path), TypeError, path)
    // A value that cannot be sent is not a network failure.
    // @ts-expect-error: an id is not a bigint
    await assert.rejects(client.bookings.create({ ...stay(), user_id: 1n }), TypeError)
    await assert.rejects(client.bookings.create(stay(), { idempotencyKey: 'Zürich ✓' }), TypeError)
    await assert.rejects(client.request('GET', '/me', { body: {} }), TypeError)
    assert.equal(made.length, 0)
    await assert.rejects(client.listings.get('../key'), { type: 'not_found' })
  },
  async 'fields that the service ignores are named, or refused by a strict client'() {
    const body = { ...stay(), colour: 'red' }
    const { meta } = await client.bookings.create(body).withResponse()
    assert.deepEqual(meta.ignored, ['colour'])
    const strict = createClient({ ...options, strict: true })
    await assert.rejects(strict.bookings.create({ ...body, ...stay() }), (error) => {
      assert.ok(error instanceof PartnerError)
      assert.deepEqual({ status: error.status, path: error.errors[0]?.path }, { status: 422, path: 'colour' })
      return true
    })
    const { response } = await strict.bookings.create(stay()).withResponse()
    assert.equal(response.headers.get('preference-applied'), 'handling=strict')
    assert.equal((await strict.host.get().withResponse()).response.headers.get('preference-applied'), null)
  },
  async 'a message says whether the conversation already ended with it'() {
    const { booking_id } = await client.bookings.create(stay())
    const first = await client.messages.send(booking_id, 'Yes.')
    assert.equal(first.duplicate, false)
    assert.equal(first.text, 'Yes.')
    assert.deepEqual(await client.messages.send(booking_id, 'Yes.'), { ...first, duplicate: true })
    const question = await client.sandbox.reply(booking_id, 'Really?')
    assert.equal(question.duplicate, false)
    assert.equal((await client.sandbox.reply(booking_id, 'Really?')).duplicate, true)
    const again = await client.messages.send(booking_id, 'Yes.').withResponse()
    assert.equal(again.data.duplicate, false)
    assert.equal(again.meta.duplicate, undefined)
    assert.notEqual(again.data.id, first.id)
  },
  async 'lists are pages and loops; any route can be asked'() {
    const first = await client.listings.list({ per_page: 1 })
    const all: number[] = []
    for await (const { id } of client.listings.list({ per_page: 1 })) all.push(id)
    assert.deepEqual({ first: first.length, all: all.length }, { first: 1, all: 2 })
    const users: number[] = []
    for await (const { user_id } of client.users.list({ per_page: 1 })) users.push(user_id)
    assert.deepEqual(users.slice(0, 2), [1001, 1002])
    const { email } = await client.users.get(1001)
    assert.deepEqual(
      (await client.users.list({ email: email.toUpperCase() })).map(({ user_id }) => user_id),
      [1001],
    )
    const { meta } = await client.listings.list({ per_page: 1 }).withResponse()
    assert.equal(meta.pagination.total, 2)
    // The service stores requests a moment after it has answered them.
    let requests = 0
    while (requests <= 5) {
      await client.host.get()
      requests = 0
      for await (const _ of client.requests.list({ per_page: 5 })) requests += 1
    }
    assert.equal((await client.request('GET', '/me')).email, (await client.host.get()).email)
    const { job_id } = await client.rates.update([
      { listing_id: 2001, room_type_id: 3001, base_price: 900, currency: 'EUR' },
    ])
    assert.equal((await client.rates.job(job_id)).status, 'applied')
  },
  async 'a hint is believed if its signature and its time are right'() {
    const secret = `whsec_${btoa('x'.repeat(32))}`
    const other = `whsec_${btoa('y'.repeat(32))}`
    const now = new Date()
    const sign = (body: string, at = now, with_ = 'x') => {
      const timestamp = String(Math.floor(at.getTime() / 1000))
      const hash = createHmac('sha256', with_.repeat(32)).update(`m.${timestamp}.${body}`).digest('base64')
      return { 'webhook-id': 'm', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${hash}` }
    }
    const body = JSON.stringify({
      type: 'booking.changed',
      timestamp: 'now',
      data: { booking_id: 7, note: 'é' },
    })
    const good = sign(body)
    for (const [content, headers] of [
      [body, good],
      [new TextEncoder().encode(body), new Headers(good)],
      [
        body,
        {
          'Webhook-Id': 'm',
          'Webhook-Timestamp': good['webhook-timestamp'],
          'Webhook-Signature': `v1,AAAA ${good['webhook-signature']}`,
        },
      ],
    ] as const) {
      const event = await verifyWebhook(content, headers, [other, secret], { now })
      assert.ok(event.type === 'booking.changed' && event.data.booking_id === 7)
    }
    const unknown = JSON.stringify({ type: 'new.thing', timestamp: 'now', data: {} })
    const event = await verifyWebhook(unknown, sign(unknown), secret)
    assert.deepEqual(
      { type: event.type, rawType: 'rawType' in event && event.rawType },
      { type: 'unknown', rawType: 'new.thing' },
    )
    const later = (seconds: number) => ({ now: new Date(now.getTime() + seconds * 1000) })
    const wrong: Parameters<typeof verifyWebhook>[] = [
      [`${body} `, good, secret],
      [body, sign(body, now, 'y'), secret],
      [body, { ...good, 'webhook-id': 'n' }, secret],
      [body, {}, secret],
      [body, { ...good, 'webhook-timestamp': 'soon' }, secret],
      [body, { ...good, 'webhook-signature': 'v1,%%%' }, secret],
      [body, { ...good, 'webhook-signature': good['webhook-signature'].slice(3) }, secret],
      [body, good, secret, later(302)],
      [body, good, secret, later(-302)],
      [body, good, []],
      ['no json', sign('no json'), secret],
      ['{}', sign('{}'), secret],
    ]
    for (const [index, post] of wrong.entries())
      await assert.rejects(verifyWebhook(...post), WebhookError, String(index))
    await verifyWebhook(body, good, secret, later(299))
    // Any number of signatures of other versions may come first, but only the first ten `v1` signatures are checked.
    const after = (others: string[]) => ({
      ...good,
      'webhook-signature': [...others, good['webhook-signature']].join(' '),
    })
    await verifyWebhook(body, after(Array(2000).fill('v1a,AAAA')), secret, { now })
    await verifyWebhook(body, after(Array(9).fill('v1,AAAA')), secret, { now })
    await assert.rejects(verifyWebhook(body, after(Array(10).fill('v1,AAAA')), secret, { now }), WebhookError)
  },
}

process.on('unhandledRejection', (reason) => {
  console.log(JSON.stringify({ name: 'a rejection that nobody handles', error: String(reason) }))
})

for (const [index, [name, run]] of Object.entries(cases).entries()) {
  if (String(index % 4) !== share) continue
  const error = await run().then(
    () => null,
    (failure) => failure?.stack ?? String(failure),
  )
  console.log(JSON.stringify({ name, error }))
}
process.exit(0)
