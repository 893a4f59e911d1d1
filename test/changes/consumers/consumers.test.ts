import { expect, test } from 'vitest'
import { mintKey, revokeKey } from '../../../src/access/keys/store.ts'
import { consumersByLag, greatestLags } from '../../../src/changes/consumers/lag.ts'
import { type Actor, seedBooking, testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { rotateKey } from '../../support/keys.ts'

const service = await testApp()
const { db, clock } = service.live
const provider = '/v1/integrations/provider_one'

/** Creates a host with some bookings; returns functions that create another and that list the bookings' versions. */
async function hostWithBookings(bookings = 3) {
  const actor = await service.actor()
  const { user_id, listing_id, room_type_id, booking_id } = await seedBooking(actor)
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const book = () => actor.send('POST', '/v1/bookings', { body: stay })
  for (let count = 1; count < bookings; count += 1) await book()
  const versions = async (query = '') =>
    (await actor.send('GET', `${provider}/bookings?per_page=100&${query}`)).body.data.Bookings.map(
      ({ version }: { version: string }) => version,
    ) as string[]
  return { actor, booking_id, book, versions }
}

const put = (actor: Pick<Actor, 'send'>, name: string, body: object, feed = 'bookings') =>
  actor.send('PUT', `${provider}/${feed}/consumers/${name}`, { body })
const race = (actor: Pick<Actor, 'send'>, name: string, body: object) =>
  actor.send('PUT', `${provider}/bookings/consumers/${name}`, { body, repeatWhileBusy: true })

test('a consumer is created, moves forward and shows how far it is behind', async () => {
  const { actor, versions } = await hostWithBookings()
  const [first, second, third] = (await versions()) as [string, string, string]
  const created = await put(actor, 'sync', { acknowledged: null })
  expect({ status: created.status, consumer: created.body.data }).toEqual({
    status: 200,
    consumer: {
      name: 'sync',
      acknowledged: null,
      acknowledged_at: null,
      pending: 3,
      oldest_pending_at: `${first.replace(' ', 'T')}.000000Z`,
    },
  })
  expect((await put(actor, 'sync', { acknowledged: second })).body.data).toMatchObject({
    acknowledged: second,
    pending: 1,
  })
  const done = (await put(actor, 'sync', { acknowledged: third })).body.data
  expect(done).toMatchObject({ acknowledged: third, pending: 0, oldest_pending_at: null })
  expect((await actor.send('GET', `${provider}/bookings/consumers`)).body.data).toEqual([done])
  expect((await actor.send('GET', `${provider}/bookings/consumers/sync`)).body.data).toEqual(done)
})

test('a consumer moves back only by seeking, and never moves past the changes the feed has shown', async () => {
  const { actor, versions } = await hostWithBookings()
  const [first, second, third] = (await versions()) as [string, string, string]
  await put(actor, 'sync', { acknowledged: third })
  for (const acknowledged of [first, null])
    expect((await put(actor, 'sync', { acknowledged })).body.data.acknowledged).toBe(third)
  expect((await put(actor, 'sync', { acknowledged: second, seek: true })).body.data.acknowledged).toBe(second)
  expect((await put(actor, 'sync', { acknowledged: null, seek: true })).body.data.acknowledged).toBeNull()
  for (const seek of [true, false]) {
    const { status, body } = await put(actor, 'sync', { acknowledged: '2099-01-01 00:00:00', seek })
    expect({ status, path: body.error.errors[0].path, code: body.error.errors[0].code }).toEqual({
      status: 422,
      path: 'acknowledged',
      code: 'invalid',
    })
  }
})

test("the feed continues after a consumer's last acknowledgement, and reading acknowledges nothing", async () => {
  const { actor, versions } = await hostWithBookings()
  const all = await versions()
  await put(actor, 'sync', { acknowledged: all[0] as string })
  expect(await versions('consumer=sync')).toEqual(all.slice(1))
  expect(await versions('consumer=sync')).toEqual(all.slice(1))
  const statusOf = async (query: string) => {
    const { status, body } = await actor.send('GET', `${provider}/bookings?${query}`)
    return [status, ...(body.error?.errors ?? []).map(({ path }: { path: string }) => path)]
  }
  expect(await statusOf('consumer=nobody')).toEqual([404])
  expect(await statusOf('consumer=sync&updated_after=2026-01-01')).toEqual([422, 'updated_after'])
})

test('page numbers are refused with a consumer, because an acknowledgement would make the next page skip changes', async () => {
  const { actor, versions } = await hostWithBookings()
  const all = await versions()
  await put(actor, 'sync', { acknowledged: null })
  for (const feed of ['bookings', 'messages']) {
    const path = `${provider}/${feed}?per_page=1&page=2&updated_after=2026-01-01&consumer=sync`
    const { status, body } = await actor.send('GET', path)
    const problems = body.error.errors.map(({ path, code }: Record<string, string>) => [path, code])
    expect({ status, problems: problems.sort() }).toEqual({
      status: 422,
      problems: [
        ['page', 'invalid'],
        ['updated_after', 'invalid'],
      ],
    })
  }
  expect((await actor.send('GET', `${provider}/bookings?consumer=sync&page=1`)).status).toBe(200)
  // Each page is read and acknowledged before the next, and no booking is skipped.
  const seen: string[] = []
  for (let count = 0; count < all.length; count += 1) {
    const { body } = await actor.send('GET', `${provider}/bookings?consumer=sync&per_page=1`)
    seen.push(body.data.Bookings[0].version)
    await put(actor, 'sync', { acknowledged: seen.at(-1) as string })
  }
  expect(seen).toEqual(all)
})

test('filters are refused with a consumer, because hidden changes would be acknowledged unseen or stay pending', async () => {
  const actor = await service.actor()
  for (const feed of ['bookings', 'messages'] as const) await put(actor, 'sync', { acknowledged: null }, feed)
  for (const [feed, filter, value] of [
    ['bookings', 'listing_id', '1'],
    ['bookings', 'checkout_after', '2026-01-01'],
    ['messages', 'booking_id', '1'],
    ['messages', 'sender', 'guest'],
  ] as const) {
    const { status, body } = await actor.send('GET', `${provider}/${feed}?consumer=sync&${filter}=${value}`)
    const [{ path, code }] = body.error.errors
    expect({ status, path, code }).toEqual({ status: 422, path: filter, code: 'invalid' })
  }
})

test('consumers of different feeds, keys or environments are separate', async () => {
  const { actor, versions } = await hostWithBookings()
  const last = (await versions()).at(-1) as string
  await put(actor, 'sync', { acknowledged: last })
  const second = await mintKey(db, clock, {
    host: actor.hostId,
    name: 'Second',
    permissions: ['bookings.read'],
  })
  const statuses = await Promise.all([
    actor.send('GET', `${provider}/messages/consumers/sync`),
    actor.send('GET', `${provider}/bookings/consumers/sync`, { key: second.key }),
    actor.send('GET', '/sandbox/integrations/provider_one/bookings/consumers/sync'),
    actor.send('GET', `${provider}/bookings/consumers/sync`),
  ])
  expect(statuses.map(({ status }) => status)).toEqual([404, 404, 404, 200])
  const rotated = await rotateKey(db, clock, String(actor.keyId), 60)
  const kept = await actor.send('GET', `${provider}/bookings/consumers/sync`, { key: rotated.key })
  expect(kept.body.data.acknowledged).toBe(last)
})

test('the list shows every consumer exactly as GET shows it by name', async () => {
  const { actor, versions } = await hostWithBookings(6)
  const known = await versions()
  const places = [null, known[0], known[2], known[2], known[5], null]
  for (const [index, acknowledged] of places.entries()) await put(actor, `c-${index}`, { acknowledged })
  const list = (await actor.send('GET', `${provider}/bookings/consumers`)).body.data
  expect(list.map(({ pending }: { pending: number }) => pending)).toEqual([6, 5, 3, 3, 0, 6])
  for (const item of list)
    expect((await actor.send('GET', `${provider}/bookings/consumers/${item.name}`)).body.data).toEqual(item)
})

test('a key has at most 20 consumers per feed, even if 40 are created concurrently', async () => {
  const { actor } = await hostWithBookings(1)
  const responses = await Promise.all(
    Array.from({ length: 40 }, (_, index) => race(actor, `c-${index}`, { acknowledged: null })),
  )
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(20)
  const refused = responses.find(({ status }) => status === 422)
  expect(refused?.body.error.errors).toMatchObject([{ path: 'name', code: 'max' }])
  const list = (await actor.send('GET', `${provider}/bookings/consumers`)).body.data
  expect(list).toHaveLength(20)
  const [{ name }] = list
  const deleted = await actor.send('DELETE', `${provider}/bookings/consumers/${name}`)
  expect({ status: deleted.status, message: deleted.body.data.message }).toEqual({
    status: 200,
    message: 'The consumer was deleted',
  })
  expect((await actor.send('DELETE', `${provider}/bookings/consumers/${name}`)).status).toBe(404)
  expect((await put(actor, 'new', { acknowledged: null })).status).toBe(200)
})

test('20 concurrent equal creates make one consumer', async () => {
  const { actor, versions } = await hostWithBookings(1)
  const [version] = await versions()
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      race(actor, 'one', { acknowledged: index % 2 ? version : null }),
    ),
  )
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
  expect((await actor.send('GET', `${provider}/bookings/consumers`)).body.data).toMatchObject([
    { name: 'one', acknowledged: version },
  ])
})

test('the length of a name counts characters, not UTF-16 units', async () => {
  const { actor } = await hostWithBookings(1)
  const { body } = await put(actor, encodeURIComponent('🏠'.repeat(40)), { acknowledged: null })
  expect(body.error.errors).toMatchObject([{ path: 'name', code: 'invalid' }])
})

test.each(['Upper', 'under_score', 'a'.repeat(65), '%20', '%ff', 'ä'])(
  'the name %s is refused',
  async (name) => {
    const { actor } = await hostWithBookings(1)
    const { status, body } = await put(actor, name, { acknowledged: null })
    expect({ status, paths: body.error.errors.map(({ path }: { path: string }) => path) }).toEqual({
      status: 422,
      paths: ['name'],
    })
  },
)

test('consumer requests have their own rate limit, which is independent of the main one', async () => {
  const limited = await service.actor({ rateLimit: 1 })
  expect((await limited.send('GET', '/v1/me')).status).toBe(200)
  expect((await limited.send('GET', '/v1/me')).status).toBe(429)
  expect((await put(limited, 'sync', { acknowledged: null })).status).toBe(200)
})

test('the metric and the top of the list show the oldest pending change, and expired keys appear in neither', async () => {
  const apart = await testApp({ MONGODB_URL: await ownDatabase() })
  const slow = await apart.actor()
  const quick = await apart.actor()
  const gone = await apart.actor()
  for (const actor of [slow, quick, gone]) await seedBooking(actor)
  const { body } = await quick.send('GET', `${provider}/bookings`)
  await put(slow, 'slow', { acknowledged: null })
  await put(gone, 'gone', { acknowledged: null })
  await put(quick, 'quick', { acknowledged: body.data.Bookings.at(-1).version })
  await revokeKey(apart.live.db, apart.live.clock, String(gone.keyId))
  const later = new Date(Date.now() + 3_600_000)
  const found = await consumersByLag(apart.live.db, later)
  expect(found.map(({ consumer, oldestPending }) => [consumer.name, oldestPending === null])).toEqual([
    ['slow', false],
    ['quick', true],
  ])
  const lags = await greatestLags(apart.live.db, later)
  expect(lags.bookings).toBeGreaterThan(3500)
  expect(lags.messages).toBe(0)
  expect((await greatestLags(apart.live.db, new Date(0))).bookings).toBe(0)
})
