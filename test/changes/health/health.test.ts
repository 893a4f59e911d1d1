import { expect, test } from 'vitest'
import { setListingStatus } from '../../../src/inventory/listings/store.ts'
import { type Actor, seedBooking, testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'

const minute = 60_000
let ahead = 0
const clock = () => new Date(Date.now() + ahead)
const service = await testApp({ MONGODB_URL: await ownDatabase(), WEBHOOKS_ALLOW_PRIVATE: 'on' }, clock)
const feed = '/v1/integrations/provider_one/bookings'
const messages = '/v1/integrations/provider_one/messages'

const healthOf = async (actor: Actor, root = '/v1') => {
  await Promise.all([service.live.reads.flush(), service.sandbox.reads.flush(), service.logged()])
  const { status, body } = await actor.send('GET', `${root}/health`)
  expect(status).toBe(200)
  return body.data
}
const codesOf = async (actor: Actor, root = '/v1') =>
  (await healthOf(actor, root)).findings.map(({ code }: { code: string }) => code)
const pass = (milliseconds: number) => {
  ahead += milliseconds
}

test('a key that reads its feeds is well, and sees how far it has read them', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  const before = await healthOf(actor)
  expect(before).toMatchObject({ status: 'ok', findings: [] })
  expect(before.feeds.bookings).toMatchObject({ read_version: null, read_at: null, unread: null })
  const page = await actor.send('GET', feed)
  await actor.send('GET', messages)
  const version = page.body.data.Bookings.at(-1).version
  const after = await healthOf(actor)
  expect(after.feeds.bookings).toEqual({
    newest_version: version,
    read_version: version,
    read_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    unread: 0,
    oldest_unread_at: null,
  })
  await actor.send('POST', `/v1/bookings/${booking_id}/confirm`, { body: {} })
  const behind = await healthOf(actor)
  expect(behind.feeds.bookings).toMatchObject({ read_version: version, unread: 1 })
  expect(behind.feeds.bookings.newest_version > version).toBe(true)
})

test('a feed that is no longer read is a failure after 30 minutes, until it is read again', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  await actor.send('GET', feed)
  await healthOf(actor)
  pass(31 * minute)
  expect(await codesOf(actor)).toEqual([])
  await actor.send('POST', `/v1/bookings/${booking_id}/confirm`, { body: {} })
  pass(31 * minute)
  const { status, findings } = await healthOf(actor)
  expect({ status, findings }).toEqual({
    status: 'failing',
    findings: [
      {
        code: 'feed_unread',
        severity: 'failing',
        since: expect.any(String),
        message: expect.stringContaining('1 change is unread'),
        guide: expect.stringMatching(/\/guide\/quiet-or-broken#feed_unread$/),
        feed: 'bookings',
        unread: 1,
      },
    ],
  })
  expect(await codesOf(actor)).toEqual(['feed_unread'])
  await actor.send('GET', feed)
  expect(await codesOf(actor)).toEqual([])
})

test('a page with a filter or with "Prefer: peek" is no read, an empty page and a 304 are', async () => {
  const actor = await service.actor()
  const { booking_id, listing_id } = await seedBooking(actor)
  await actor.send('GET', `${feed}?listing_id=${listing_id}`)
  await actor.send('GET', feed, { headers: { prefer: 'peek' } })
  await actor.send('GET', `${messages}?booking_id=${booking_id}`)
  const unread = await healthOf(actor)
  expect({ bookings: unread.feeds.bookings.read_at, messages: unread.feeds.messages.read_at }).toEqual({
    bookings: null,
    messages: null,
  })
  const { headers, body } = await actor.send('GET', feed)
  const { read_at, read_version } = (await healthOf(actor)).feeds.bookings
  expect(read_version).toBe(body.data.Bookings.at(-1).version)
  pass(minute)
  const known = { headers: { 'if-none-match': headers.get('etag') ?? '' } }
  expect((await actor.send('GET', feed, known)).status).toBe(304)
  const again = (await healthOf(actor)).feeds.bookings
  expect(again.read_at > read_at).toBe(true)
  pass(minute)
  const empty = await actor.send('GET', `${feed}?updated_after=${encodeURIComponent(read_version)}`)
  expect(empty.body.data.Bookings).toEqual([])
  const last = (await healthOf(actor)).feeds.bookings
  expect({ isLater: last.read_at > again.read_at, version: last.read_version }).toEqual({
    isLater: true,
    version: read_version,
  })
})

test('an empty feed that was read is read up to nothing, and the first change is then unread', async () => {
  const actor = await service.actor()
  await actor.send('GET', feed)
  expect((await healthOf(actor)).feeds.bookings).toMatchObject({
    newest_version: null,
    read_version: null,
    unread: 0,
  })
  await seedBooking(actor)
  const { bookings } = (await healthOf(actor)).feeds
  expect(bookings).toMatchObject({ read_version: null, unread: 1, oldest_unread_at: expect.any(String) })
})

test('a consumer that acknowledges nothing for 30 minutes is behind, and one that was just made or moved is not', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  pass(40 * minute)
  const path = `${feed}/consumers/sync`
  const put = (body: object) => actor.send('PUT', path, { body })
  await put({ acknowledged: null })
  await actor.send('GET', feed)
  expect(await codesOf(actor)).toEqual([])
  pass(31 * minute)
  const { findings } = await healthOf(actor)
  expect(findings).toMatchObject([
    { code: 'consumer_behind', feed: 'bookings', consumer: 'sync', pending: 1 },
  ])
  const page = await actor.send('GET', feed)
  await put({ acknowledged: page.body.data.Bookings.at(-1).version })
  expect(await codesOf(actor)).toEqual([])
  await actor.send('POST', `/v1/bookings/${booking_id}/confirm`, { body: {} })
  pass(31 * minute)
  expect(await codesOf(actor)).toEqual(['consumer_behind'])
  // Moving back is no progress.
  await put({ acknowledged: null, seek: true })
  expect(await codesOf(actor)).toEqual(['consumer_behind'])
})

test('without "bookings.read" the feeds are null, and without "listings.read" listings are not judged', async () => {
  const actor = await service.actor({ permissions: ['users.read'] })
  expect(await healthOf(actor)).toMatchObject({
    status: 'ok',
    findings: [],
    feeds: { bookings: null, messages: null },
  })
})

test('health counts the requests of the last hour, and says when most of them were refused', async () => {
  const actor = await service.actor()
  for (let count = 0; count < 20; count += 1) await actor.send('GET', '/v1/users/999999999')
  await actor.send('GET', '/v1/me')
  const { status, findings, requests } = await healthOf(actor)
  expect({ status, requests }).toEqual({
    status: 'warning',
    requests: { succeeded: 1, refused: 20, limited: 0, failed: 0, unanswered: 0 },
  })
  expect(findings).toMatchObject([{ code: 'requests_refused', since: null, refused: 20 }])
  pass(61 * minute)
  expect(await codesOf(actor)).toEqual([])
})

test('reading health counts as no read and no request, and is not listed', async () => {
  const actor = await service.actor()
  await seedBooking(actor)
  const first = await healthOf(actor)
  const second = await healthOf(actor)
  expect(second.requests).toEqual(first.requests)
  expect(second.feeds.bookings.read_at).toBe(null)
  const listed = (await actor.send('GET', '/v1/requests')).body.data.map(({ path }: { path: string }) => path)
  expect(listed).not.toContain('/v1/health')
})

test('the sandbox has positions of its own, on its own clock, and clearing it forgets them', async () => {
  const actor = await service.actor()
  const sandboxFeed = feed.replace('/v1', '/sandbox')
  await actor.send('GET', sandboxFeed)
  expect((await healthOf(actor)).feeds.bookings.read_at).toBe(null)
  expect(await codesOf(actor, '/sandbox')).toEqual([])
  const [booking] = (await actor.send('GET', `${sandboxFeed}?updated_after=2020-01-01`)).body.data.Bookings
  await actor.send('POST', `/sandbox/bookings/${booking.booking_id}/messages/guest`, {
    body: { message: { text: 'Hello' } },
  })
  await actor.send('GET', `/sandbox/integrations/provider_one/messages`)
  await actor.send('POST', `/sandbox/bookings/${booking.booking_id}/messages/guest`, {
    body: { message: { text: 'Anybody there?' } },
  })
  await healthOf(actor, '/sandbox')
  await actor.send('POST', '/sandbox/clock', { body: { advance_seconds: 31 * 60 } })
  expect(await codesOf(actor, '/sandbox')).toContain('feed_unread')
  expect(await codesOf(actor)).toEqual([])
  await actor.send('DELETE', '/sandbox')
  expect((await healthOf(actor, '/sandbox')).feeds.bookings.read_at).toBe(null)
})

test('a published listing with a room type without any price is named, and a price of 0 is a price', async () => {
  const actor = await service.actor()
  const room_types = [{ name: 'Single' }, { name: 'Double', prices: { price_jul: 900 } }]
  const created = await actor.send('POST', '/v1/listings', { body: { name: 'House', room_types } })
  const { id } = created.body.data
  const listing = await actor.send('GET', `/v1/listings/${id}`)
  expect(await codesOf(actor)).toEqual([])
  await setListingStatus(service.live, { id, owner_id: actor.hostId }, 'published')
  expect((await healthOf(actor)).findings).toMatchObject([
    { code: 'listing_without_price', severity: 'warning', since: null, listing_ids: [id], count: 1 },
  ])
  const [single] = listing.body.data.room_types
  const rates = { data: [{ listing_id: id, room_type_id: single.id, base_price: 0 }] }
  await actor.send('POST', '/v1/integrations/provider_one/rates', { body: rates })
  expect(await codesOf(actor)).toEqual([])
})
