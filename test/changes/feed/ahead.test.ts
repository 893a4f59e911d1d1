import { expect, test } from 'vitest'
import { hostClockModel } from '../../../src/host-clock/model.ts'
import { bookingModel } from '../../../src/stays/bookings/model.ts'
import { type Actor, seedBooking, testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'

/** A reader whose position is ahead of the feed is told so on every way to start (decisions §9). */

const hour = 3_600_000
let ahead = 0
const clock = () => new Date(Date.now() + ahead)
const service = await testApp({ MONGODB_URL: await ownDatabase() }, clock)

const feeds = { bookings: 'Bookings', messages: 'messages' } as const
type Feed = keyof typeof feeds
const environments = ['/v1', '/sandbox'] as const
const each = environments.flatMap((root) =>
  (Object.keys(feeds) as Feed[]).map((feed) => ({
    root,
    feed,
    path: `${root}/integrations/provider_one/${feed}`,
  })),
)

const versionAt = (milliseconds: number) =>
  new Date(clock().getTime() + milliseconds).toISOString().slice(0, 19).replace('T', ' ')
const after = (version: string) => `updated_after=${encodeURIComponent(version)}`

async function partner(root: '/v1' | '/sandbox') {
  const actor = await service.actor()
  const booking = await seedBooking(actor, root)
  await actor.send('POST', `${root}/bookings/${booking.booking_id}/messages`, { body: { body: 'Hello.' } })
  return { actor, booking }
}

/** Returns the feed's newest version. */
async function newestOf(actor: Actor, path: string, feed: Feed): Promise<string> {
  const { body } = await actor.send('GET', `${path}?per_page=100`, { headers: { prefer: 'peek' } })
  return body.data[feeds[feed]].at(-1).version
}

test.for(each)(
  '$root $feed: a page after a later version than any says that its reader is ahead',
  async ({ root, feed, path }) => {
    const { actor, booking } = await partner(root)
    const newest = await newestOf(actor, path, feed)
    const filter =
      feed === 'bookings' ? `listing_id=${booking.listing_id}` : `booking_id=${booking.booking_id}`
    const far = after(versionAt(24 * hour))
    for (const query of [far, `${far}&page=2`, `${far}&${filter}`, `${far}&wait=1`]) {
      const { status, headers, body } = await actor.send('GET', `${path}?${query}`)
      expect({
        query,
        status,
        meta: body.meta,
        rows: body.data[feeds[feed]],
        etag: headers.get('etag'),
      }).toEqual({
        query,
        status: 200,
        meta: expect.objectContaining({ ahead: true, newest_version: newest }),
        rows: [],
        etag: null,
      })
    }
  },
)

test.for(each)(
  '$root $feed: a reader up to five minutes ahead of the clock or of the feed is not told anything',
  async ({ root, path }) => {
    const { actor } = await partner(root)
    const near = await actor.send('GET', `${path}?${after(versionAt(290_000))}`)
    const beyond = await actor.send('GET', `${path}?${after(versionAt(320_000))}`)
    expect(near.body.meta).not.toHaveProperty('ahead')
    expect(near.body.meta).not.toHaveProperty('newest_version')
    expect(near.headers.get('etag')).toEqual(expect.any(String))
    expect(beyond.body.meta.ahead).toBe(true)
  },
)

test('a page without changes is told apart from one ahead, although both are empty and one has a tag', async () => {
  const { actor } = await partner('/v1')
  const path = '/v1/integrations/provider_one/bookings'
  const near = `${path}?${after(versionAt(100_000))}`
  const etag = (await actor.send('GET', near)).headers.get('etag') as string
  expect((await actor.send('GET', near, { headers: { 'if-none-match': etag } })).status).toBe(304)
  const far = await actor.send('GET', `${path}?${after(versionAt(hour))}`, {
    headers: { 'if-none-match': `${etag}, *` },
  })
  expect({ status: far.status, ahead: far.body.meta.ahead }).toEqual({ status: 200, ahead: true })
})

test('a cursor, and a feed without anything in it, are judged by the same rule', async () => {
  const path = '/v1/integrations/provider_one/bookings'
  const { actor, booking } = await partner('/v1')
  const { user_id, listing_id, room_type_id } = booking
  const body = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  await actor.send('POST', '/v1/bookings', { body })
  // The page after which the restored database goes on is further than anything that it has now.
  ahead += 48 * hour
  await actor.send('POST', `/v1/bookings/${booking.booking_id}/confirm`, { body: {} })
  const later = await actor.send('POST', '/v1/bookings', {
    body: { ...body, checkin_at: '2032-01-01', checkout_at: '2032-02-01' },
  })
  expect(later.status).toBe(201)
  const page = await actor.send('GET', `${path}?per_page=2`)
  const cursor = page.body.meta.pagination.next_cursor
  const restored = await service.actor()
  ahead -= 48 * hour
  const fresh = await restored.send('GET', `${path}?cursor=${cursor}`)
  const empty = await restored.send('GET', `${path}?${after(versionAt(hour))}`)
  expect(fresh.body.meta).toMatchObject({ ahead: true, newest_version: null })
  expect(empty.body.meta).toMatchObject({ ahead: true, newest_version: null })
  expect((await actor.send('GET', `${path}?cursor=${cursor}`)).body.meta).not.toHaveProperty('ahead')
})

test("a sandbox's clock decides in the sandbox", async () => {
  const path = '/sandbox/integrations/provider_one/bookings'
  const { actor } = await partner('/sandbox')
  const position = after(versionAt(2 * hour))
  expect((await actor.send('GET', `${path}?${position}`)).body.meta.ahead).toBe(true)
  await actor.send('POST', '/sandbox/clock', { body: { advance_seconds: 7200 } })
  expect((await actor.send('GET', `${path}?${position}`)).body.meta).not.toHaveProperty('ahead')
})

test('a consumer whose position is ahead is told so', async () => {
  const path = '/v1/integrations/provider_one/bookings'
  const { actor, booking } = await partner('/v1')
  ahead += 48 * hour
  await actor.send('POST', `/v1/bookings/${booking.booking_id}/confirm`, { body: {} })
  const acknowledged = await newestOf(actor, path, 'bookings')
  expect((await actor.send('PUT', `${path}/consumers/sync`, { body: { acknowledged } })).status).toBe(200)
  ahead -= 48 * hour
  // What a restore does to the host's clock and bookings, without its consumers.
  const { db } = service.live
  const restored = new Date('2023-11-14T22:13:20Z')
  await hostClockModel(db).updateOne({ _id: actor.hostId }, { $set: { last: restored.getTime() / 1000 } })
  await bookingModel(db).updateMany({ owner_id: actor.hostId }, { $set: { updated_at: restored } })
  const { body } = await actor.send('GET', `${path}?consumer=sync`)
  expect(body.meta).toMatchObject({ ahead: true, newest_version: '2023-11-14 22:13:20' })
})
