import { afterAll, describe, expect, test } from 'vitest'
import { setKeyActive } from '../../src/keys/store.ts'
import { type Actor, seedBooking, sender, testApp, testEnvironment } from '../support/app.ts'
import { startService } from '../support/processes.ts'

const service = await testApp()
const process = await startService(testEnvironment())
afterAll(() => process.stop())
const http = sender(fetch, process.url)
const provider = '/v1/integrations/provider_one'

/** Sends to a process of its own, where connections, idle times and hang-ups are real. */
const over = ({ key }: Actor, method: string, path: string, body?: unknown, headers = {}) =>
  http(method, path, { key, body, headers })

async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const start = performance.now()
  return [await work(), performance.now() - start]
}

/** A host with a booking, and how to ask for what comes after it. */
async function hostWithBooking() {
  const actor = await service.actor()
  const { user_id, listing_id, room_type_id, booking_id } = await seedBooking(actor)
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const last = async (feed: 'bookings' | 'messages') => {
    const { data } = (await actor.send('GET', `${provider}/${feed}?per_page=100`)).body
    return (data.Bookings ?? data.messages).at(-1)?.version ?? '2020-01-01 00:00:00'
  }
  const path = async (feed: 'bookings' | 'messages', wait: number, more = '') =>
    `${provider}/${feed}?updated_after=${encodeURIComponent(await last(feed))}&wait=${wait}${more}`
  const book = (more: object = {}) => actor.send('POST', '/v1/bookings', { body: { ...stay, ...more } })
  return { actor, booking_id, listing_id, path, book }
}

describe.concurrent('a poll that waits', () => {
  test('responds with a booking as soon as another process has created it', async () => {
    const { actor, path, book } = await hostWithBooking()
    const waiting = timed(async () => over(actor, 'GET', await path('bookings', 20)))
    await Bun.sleep(500)
    const created = await book()
    const since = performance.now()
    const [response] = await waiting
    expect(performance.now() - since).toBeLessThan(1000)
    expect(response.body.data.Bookings.map(({ booking_id }: { booking_id: number }) => booking_id)).toEqual([
      created.body.data.booking_id,
    ])
  })

  test('responds with the ordinary empty page when its time is over', async () => {
    const { actor, path } = await hostWithBooking()
    const [response, milliseconds] = await timed(async () => over(actor, 'GET', await path('bookings', 1)))
    expect(response.status).toBe(200)
    expect(response.body.data.Bookings).toEqual([])
    expect(response.body.meta.pagination).toMatchObject({ total: 0, last_page: 1, next_cursor: null })
    expect(milliseconds).toBeGreaterThanOrEqual(1000)
    expect(milliseconds).toBeLessThan(2000)
  })

  test('is not ended by a message, nor by a booking that its query does not show', async () => {
    const { actor, path, book, booking_id, listing_id } = await hostWithBooking()
    const other = (await actor.send('POST', '/v1/listings', { body: { name: 'Other', room_types: [] } })).body
    const waiting = timed(async () =>
      over(actor, 'GET', await path('bookings', 3, `&listing_id=${other.data.id}`)),
    )
    const plain = timed(async () => over(actor, 'GET', await path('bookings', 2)))
    await Bun.sleep(300)
    await actor.send('POST', `/v1/bookings/${booking_id}/messages`, { body: { message: { text: 'Hello' } } })
    const [unmoved, waited] = await plain
    expect(unmoved.body.data.Bookings).toEqual([])
    expect(waited).toBeGreaterThan(1900)
    await book({ listing_id })
    const [response, milliseconds] = await waiting
    expect(response.body.data.Bookings).toEqual([])
    expect(milliseconds).toBeGreaterThan(2900)
  })

  test('of the messages is ended by a message', async () => {
    const { actor, path, booking_id } = await hostWithBooking()
    const waiting = over(actor, 'GET', await path('messages', 20))
    await Bun.sleep(300)
    await actor.send('POST', `/v1/bookings/${booking_id}/messages`, {
      body: { message: { text: 'Come in' } },
    })
    const { body } = await waiting
    expect(body.data.messages.map(({ text }: { text: string }) => text)).toEqual(['Come in'])
  })

  test('lives through more seconds without a byte than Bun gives a connection', {
    timeout: 30_000,
  }, async () => {
    const { actor, path } = await hostWithBooking()
    const [response, milliseconds] = await timed(async () => over(actor, 'GET', await path('bookings', 14)))
    expect(response.status).toBe(200)
    expect(milliseconds).toBeGreaterThan(13_900)
  })

  test.each([
    ['31', 'max'],
    ['-1', 'min'],
    ['1.5', 'invalid'],
    ['soon', 'invalid'],
    ['', 'invalid'],
  ])('refuses wait=%s with the code %s', async (wait, code) => {
    const actor = await service.actor()
    const { status, body } = await actor.send('GET', `${provider}/bookings?wait=${wait}`)
    expect(status).toBe(422)
    expect(body.error.errors.map(({ path, code }: Record<string, string>) => [path, code])).toEqual([
      ['wait', code],
    ])
  })

  test('is not held on a later page', async () => {
    const { actor, path } = await hostWithBooking()
    const [response, milliseconds] = await timed(async () =>
      over(actor, 'GET', await path('bookings', 5, '&page=2')),
    )
    expect(response.status).toBe(200)
    expect(milliseconds).toBeLessThan(1000)
  })

  test('counts once, and its rate limit headers are those of the moment it is sent', async () => {
    const { actor, path } = await hostWithBooking()
    const waiting = over(actor, 'GET', await path('bookings', 2))
    await Bun.sleep(300)
    const { headers } = await actor.send('GET', '/v1/me')
    const left = (header: string | null) => Number(/r=(\d+)/.exec(header ?? '')?.[1])
    expect(left((await waiting).headers.get('ratelimit'))).toBe(left(headers.get('ratelimit')))
  })

  test('is 401 when the key was deactivated meanwhile, also in place of a 304', async () => {
    const { actor, path } = await hostWithBooking()
    const target = await path('bookings', 2)
    const { headers } = await over(actor, 'GET', target.replace('wait=2', 'wait=0'))
    const tag = headers.get('etag') as string
    const waiting = [
      over(actor, 'GET', target),
      over(actor, 'GET', target, undefined, { 'if-none-match': tag }),
    ]
    await Bun.sleep(500)
    await setKeyActive(service.live.db, String(actor.keyId), false)
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([401, 401])
  })

  test('holds five requests of a key, over both feeds and environments; one more responds at once', async () => {
    const { actor, path } = await hostWithBooking()
    const sandbox = await over(actor, 'GET', '/sandbox/integrations/provider_one/messages')
    const version = encodeURIComponent(sandbox.body.data.messages.at(-1).version)
    const paths = [
      await path('bookings', 3),
      await path('bookings', 3),
      await path('messages', 3),
      await path('messages', 3),
      `/sandbox/integrations/provider_one/messages?updated_after=${version}&wait=3`,
    ]
    const waiting = Promise.all(paths.map((target) => timed(() => over(actor, 'GET', target))))
    await Bun.sleep(700)
    const [, sixth] = await timed(async () => over(actor, 'GET', await path('bookings', 3)))
    expect(sixth).toBeLessThan(700)
    expect((await waiting).filter(([, milliseconds]) => milliseconds > 2900)).toHaveLength(5)
  })

  test('frees its place within a second when its client hangs up', async () => {
    const { actor, path } = await hostWithBooking()
    const target = await path('bookings', 20)
    const clients = Array.from({ length: 5 }, () => {
      const controller = new AbortController()
      const request = fetch(process.url + target, {
        headers: { 'x-api-key': actor.key },
        signal: controller.signal,
      })
      request.catch(() => {})
      return controller
    })
    await Bun.sleep(700)
    for (const client of clients) client.abort()
    await Bun.sleep(900)
    const [, milliseconds] = await timed(async () => over(actor, 'GET', await path('bookings', 1)))
    expect(milliseconds).toBeGreaterThan(950)
  })

  test('is answered at once by a process that holds as many as it may', async () => {
    const small = await startService(testEnvironment({ MAX_HELD_REQUESTS: '1' }))
    const [one, other] = [await hostWithBooking(), await hostWithBooking()]
    const ask = async ({ actor, path }: typeof one) =>
      timed(async () => sender(fetch, small.url)('GET', await path('bookings', 2), { key: actor.key }))
    const first = ask(one)
    await Bun.sleep(500)
    const [, second] = await ask(other)
    expect(second).toBeLessThan(1000)
    expect((await first)[1]).toBeGreaterThan(1900)
    await small.stop()
  })

  test('in a sandbox responds at once when the sandbox is cleared', async () => {
    const actor = await service.actor()
    const { body } = await over(actor, 'GET', '/sandbox/integrations/provider_one/bookings')
    const version = encodeURIComponent(body.data.Bookings.at(-1).version)
    const waiting = timed(() =>
      over(actor, 'GET', `/sandbox/integrations/provider_one/bookings?updated_after=${version}&wait=20`),
    )
    await Bun.sleep(500)
    await over(actor, 'DELETE', '/sandbox')
    const [response, milliseconds] = await waiting
    expect(response.status).toBe(200)
    expect(milliseconds).toBeLessThan(3000)
  })

  test('responds within a second when its process shuts down, and ends its connection', async () => {
    const leaving = await startService(testEnvironment())
    const { actor, path } = await hostWithBooking()
    const target = await path('bookings', 20)
    const waiting = sender(fetch, leaving.url)('GET', target, { key: actor.key })
    await Bun.sleep(700)
    const ended = leaving.end('SIGTERM')
    const [response, milliseconds] = await timed(() => waiting)
    expect(response.status).toBe(200)
    expect(milliseconds).toBeLessThan(1000)
    expect(response.headers.get('connection')).toBe('close')
    expect(await ended).toBe(0)
  })
})

describe('the entity tag of a page', () => {
  test('is weak, the same in every process, and changes with the page', async () => {
    const { actor, book } = await hostWithBooking()
    const path = `${provider}/bookings`
    const here = await actor.send('GET', path)
    const there = await over(actor, 'GET', path)
    expect(here.headers.get('etag')).toMatch(/^W\/"[\w-]{22}"$/)
    expect(there.headers.get('etag')).toBe(here.headers.get('etag'))
    expect(here.headers.get('cache-control')).toBe('private, no-cache')
    await book()
    expect((await actor.send('GET', path)).headers.get('etag')).not.toBe(here.headers.get('etag'))
  })

  test.each([
    ['the tag', (tag: string) => tag],
    ['the strong form of the tag', (tag: string) => tag.slice(2)],
    ['a list with the tag', (tag: string) => `"other", ${tag}`],
    ['a star', () => '*'],
  ])('gives 304 without a body to If-None-Match with %s', async (_, sent) => {
    const { actor } = await hostWithBooking()
    const path = `${provider}/bookings`
    const tag = (await actor.send('GET', path)).headers.get('etag') as string
    const response = await over(actor, 'GET', path, undefined, { 'if-none-match': sent(tag) })
    expect([response.status, response.text]).toEqual([304, ''])
    expect(response.headers.get('etag')).toBe(tag)
    expect(response.headers.get('x-request-id')).toMatch(/./)
    expect(response.headers.get('ratelimit')).toMatch(/r=\d+/)
  })

  test('gives 304 at the end of a wait in which nothing came', async () => {
    const { actor, path } = await hostWithBooking()
    const target = await path('bookings', 1)
    const tag = (await actor.send('GET', target)).headers.get('etag') as string
    const [response, milliseconds] = await timed(() =>
      over(actor, 'GET', target, undefined, { 'if-none-match': tag }),
    )
    expect(response.status).toBe(304)
    expect(milliseconds).toBeGreaterThan(950)
  })
})
