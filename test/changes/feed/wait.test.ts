import { afterAll, describe, expect, test } from 'vitest'
import { updateKey } from '../../../src/access/keys/store.ts'
import { type Actor, seedBooking, sender, type TestApp, testApp, testEnvironment } from '../../support/app.ts'
import { seriesOf } from '../../support/metrics.ts'
import { startService } from '../../support/processes.ts'

const METRICS_TOKEN = 'a-token-of-the-operator'
const service = await testApp()
const process = await startService(testEnvironment({ METRICS_TOKEN }))
afterAll(() => process.stop())
const provider = '/v1/integrations/provider_one'

/** Sends a request to a separate process, where connections and disconnects are real. */
const over = ({ key }: Actor, method: string, path: string, { headers = {}, to = process } = {}) =>
  sender(fetch, to.url)(method, path, { key, headers })

/** Resolves once the process `by`, by default this one, holds this many requests. */
async function held(count: number, by: TestApp | typeof process = service): Promise<void> {
  const size = async () => {
    if ('live' in by) return by.live.heldRequests.size
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
    return seriesOf(await (await fetch(`${by.url}/metrics`, { headers })).text()).get('held_requests')
  }
  // A scrape takes a service some computing, and these tests ask dozens of times.
  await expect.poll(size, { interval: 'live' in by ? 50 : 150 }).toBe(count)
}

/** Creates a host with a booking; returns the paths of polls for later changes, and functions that cause changes. */
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
  return {
    actor,
    booking_id,
    path,
    book: async (more: object = {}) =>
      (await actor.send('POST', '/v1/bookings', { body: { ...stay, ...more } })).body.data.booking_id,
    say: (text: string) =>
      actor.send('POST', `/v1/bookings/${booking_id}/messages`, { body: { message: { text } } }),
  }
}

const idsIn = ({ body }: { body: { data: { Bookings: { booking_id: number }[] } } }) =>
  body.data.Bookings.map(({ booking_id }) => booking_id)

/** A `wait` in seconds that is longer than any of these tests, so every response arrives before it ends. */
const long = 30

describe('a poll that waits', () => {
  test('gets a booking as soon as another process has created it', async () => {
    const { actor, path, book } = await hostWithBooking()
    const waiting = over(actor, 'GET', await path('bookings', long))
    await held(1, process)
    const created = await book()
    expect(idsIn(await waiting)).toEqual([created])
  })

  test('gets the ordinary empty page when its time is over', async () => {
    const { actor, path } = await hostWithBooking()
    const response = await over(actor, 'GET', await path('bookings', 1))
    expect(response.status).toBe(200)
    expect(response.body.data.Bookings).toEqual([])
    expect(response.body.meta.pagination).toMatchObject({ total: 0, last_page: 1, next_cursor: null })
  })

  test('notices within five seconds that its consumer was moved back or deleted, in either feed', async () => {
    const { actor, path, book, say } = await hostWithBooking()
    await say('Hello')
    // The first held request of a process opens its change stream, and whatever is held then is read once more.
    const first = over(actor, 'GET', await path('bookings', long))
    await held(1, process)
    await book()
    await first
    const consume = async (feed: 'bookings' | 'messages') => {
      const [, version = ''] = /updated_after=([^&]+)/.exec(await path(feed, 0)) ?? []
      const consumer = `${provider}/${feed}/consumers/held`
      await actor.send('PUT', consumer, { body: { acknowledged: decodeURIComponent(version) } })
      return { consumer, poll: `${provider}/${feed}?consumer=held&wait=${long}` }
    }
    let milliseconds = Number.POSITIVE_INFINITY
    // A busy machine may need more than the service takes, and then this is tried again.
    while (milliseconds > 8000) {
      const bookings = await consume('bookings')
      const messages = await consume('messages')
      const waiting = [over(actor, 'GET', bookings.poll), over(actor, 'GET', messages.poll)]
      await held(2, process)
      const start = performance.now()
      await actor.send('PUT', bookings.consumer, { body: { acknowledged: null, seek: true } })
      await actor.send('DELETE', messages.consumer)
      const [moved, gone] = await Promise.all(waiting)
      milliseconds = performance.now() - start
      expect({ bookings: moved?.body.data.Bookings.length, ofDeleted: gone?.status }).toEqual({
        bookings: 2,
        ofDeleted: 404,
      })
    }
  })

  test('is not ended by a message', async () => {
    const { actor, path, book, say } = await hostWithBooking()
    const waiting = actor.send('GET', await path('bookings', long))
    await held(1)
    await say('Hello')
    const created = await book()
    expect(idsIn(await waiting)).toEqual([created])
  })

  test('is not ended by a booking that its query does not match', async () => {
    const { actor, path, book } = await hostWithBooking()
    const made = await actor.send('POST', '/v1/listings', {
      body: { name: 'O', room_types: [{ name: 'T' }] },
    })
    const listing_id = made.body.data.id
    const waiting = actor.send('GET', await path('bookings', long, `&listing_id=${listing_id}`))
    await held(1)
    await book()
    const shown = await book({ listing_id, room_type_id: undefined })
    expect(idsIn(await waiting)).toEqual([shown])
  })

  test('is ended by a message if it polls the message feed', async () => {
    const { actor, path, say } = await hostWithBooking()
    const waiting = over(actor, 'GET', await path('messages', long))
    await held(1, process)
    await say('Come in')
    const { body } = await waiting
    expect(body.data.messages.map(({ text }: { text: string }) => text)).toEqual(['Come in'])
  })

  test.each([
    ['31', 'max'],
    ['-1', 'min'],
    ['1.5', 'invalid'],
    ['soon', 'invalid'],
    ['', 'invalid'],
  ])('is refused with wait=%s and the code %s', async (wait, code) => {
    const actor = await service.actor()
    const { status, body } = await actor.send('GET', `${provider}/bookings?wait=${wait}`)
    expect(status).toBe(422)
    expect(body.error.errors).toMatchObject([{ path: 'wait', code }])
  })

  test('is not held on a later page', async () => {
    const { actor, path, book } = await hostWithBooking()
    const first = actor.send('GET', await path('bookings', long))
    await held(1)
    expect((await actor.send('GET', await path('bookings', long, '&page=2'))).status).toBe(200)
    // The poll on the first page is still held, although it started first.
    expect(service.live.heldRequests.size).toBe(1)
    const created = await book()
    expect(idsIn(await first)).toEqual([created])
  })

  test('counts as one request and carries the rate limit headers of the time of its response', async () => {
    const { actor, path, book } = await hostWithBooking()
    const waiting = actor.send('GET', await path('bookings', long))
    await held(1)
    await book()
    const left = (headers: Headers) => Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])
    const response = await waiting
    expect(left((await actor.send('GET', '/v1/me')).headers)).toBe(left(response.headers) - 1)
  })

  test('gets 401 and never 304 if the key was deactivated while it was held', async () => {
    const { actor, path } = await hostWithBooking()
    const target = await path('bookings', 2)
    const { headers } = await actor.send('GET', target.replace('wait=2', 'wait=0'))
    const tag = headers.get('etag') as string
    const waiting = [
      actor.send('GET', target),
      actor.send('GET', target, { headers: { 'if-none-match': tag } }),
    ]
    await held(2)
    await updateKey(service.live.db, String(actor.keyId), { active: false })
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([401, 401])
  })

  test('gets 403 and no change if the permission to read was taken from the key while it was held', async () => {
    const { actor, path, book } = await hostWithBooking()
    const waiting = actor.send('GET', `${await path('bookings', long)}&include=detail`)
    await held(1)
    await updateKey(service.live.db, String(actor.keyId), {
      permissions: ['listings.read', 'bookings.write'],
    })
    await book()
    const { status, body } = await waiting
    expect({ status, type: body.error?.type }).toEqual({ status: 403, type: 'forbidden' })
  })

  test('is one of at most five that a key holds over both feeds and environments, and a sixth gets an immediate response', async () => {
    const { actor, path, book, say } = await hostWithBooking()
    const sandbox = '/sandbox/integrations/provider_one/messages'
    const shown = (await actor.send('GET', sandbox)).body.data.messages.at(-1)
    const waiting = [
      actor.send('GET', await path('bookings', long)),
      actor.send('GET', await path('bookings', long)),
      actor.send('GET', await path('messages', long)),
      actor.send('GET', await path('messages', long)),
      actor.send('GET', `${sandbox}?updated_after=${encodeURIComponent(shown.version)}&wait=${long}`),
    ]
    await held(5)
    const sixth = await actor.send('GET', await path('bookings', long))
    expect(idsIn(sixth)).toEqual([])
    // The five earlier polls are still held.
    expect(service.live.heldRequests.size).toBe(5)
    const created = await book()
    await say('Hello')
    const answer = { message: { text: 'Hello' } }
    await actor.send('POST', `/sandbox/bookings/${shown.booking_id}/messages/guest`, { body: answer })
    const responses = await Promise.all(waiting)
    expect(responses.slice(0, 2).map(idsIn)).toEqual([[created], [created]])
    for (const { body } of responses.slice(2)) expect(body.data.messages).toMatchObject([{ text: 'Hello' }])
  })

  test('frees its slot when its client hangs up', async () => {
    const { actor, path, book } = await hostWithBooking()
    const target = await path('bookings', long)
    const leave = new AbortController()
    const left = Array.from({ length: 5 }, () =>
      fetch(process.url + target, { headers: { 'x-api-key': actor.key }, signal: leave.signal }),
    )
    await held(5, process)
    leave.abort()
    for (const request of left) await expect(request).rejects.toThrow()
    await held(0, process)
    const waiting = over(actor, 'GET', target)
    await held(1, process)
    const created = await book()
    expect(idsIn(await waiting)).toEqual([created])
  })

  test('gets an immediate response if the process already holds its maximum', async () => {
    const small = await testApp({ MAX_HELD_REQUESTS: '1' })
    const one = await hostWithBooking()
    const other = await hostWithBooking()
    const ask = async ({ actor, path }: typeof one) =>
      small.send('GET', await path('bookings', long), { key: actor.key })
    const first = ask(one)
    await held(1, small)
    expect(idsIn(await ask(other))).toEqual([])
    expect(small.live.heldRequests.size).toBe(1)
    const created = await one.book()
    expect(idsIn(await first)).toEqual([created])
  })

  test('gets an immediate response in a sandbox that is cleared', async () => {
    const actor = await service.actor()
    const feed = '/sandbox/integrations/provider_one/bookings'
    const { body } = await actor.send('GET', feed)
    const version = encodeURIComponent(body.data.Bookings.at(-1).version)
    const waiting = actor.send('GET', `${feed}?updated_after=${version}&wait=${long}`)
    await held(1)
    await actor.send('DELETE', '/sandbox')
    expect((await waiting).status).toBe(200)
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
  ])('gives 304 without a body for If-None-Match with %s', async (_, sent) => {
    const { actor } = await hostWithBooking()
    const path = `${provider}/bookings`
    const tag = (await actor.send('GET', path)).headers.get('etag') as string
    const response = await over(actor, 'GET', path, { headers: { 'if-none-match': sent(tag) } })
    expect({ status: response.status, text: response.text }).toEqual({ status: 304, text: '' })
    expect(response.headers.get('etag')).toBe(tag)
    expect(response.headers.get('x-request-id')).toMatch(/./)
    expect(response.headers.get('ratelimit')).toMatch(/r=\d+/)
  })

  test('responds 304 at the end of a wait without changes', async () => {
    const { actor, path } = await hostWithBooking()
    const target = await path('bookings', 1)
    const tag = (await actor.send('GET', target.replace('wait=1', 'wait=0'))).headers.get('etag') as string
    const response = await over(actor, 'GET', target, { headers: { 'if-none-match': tag } })
    expect(response.status).toBe(304)
  })
})
