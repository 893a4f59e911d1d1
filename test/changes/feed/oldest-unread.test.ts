import { expect, test } from 'vitest'
import { setHostSuspended } from '../../../src/access/hosts/store.ts'
import { mintKey, revokeKey, updateKey } from '../../../src/access/keys/store.ts'
import { type Actor, seedBooking, testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { scrapeOf } from '../../support/metrics.ts'

const METRICS_TOKEN = 'a-token-of-the-operator'
const feed = '/v1/integrations/provider_one/bookings'

/** Starts a service with its own database and a movable clock; also returns its gauge of the oldest unread change. */
async function watched() {
  let ahead = 0
  const settings = { METRICS_TOKEN, MONGODB_URL: await ownDatabase() }
  const service = await testApp(settings, () => new Date(Date.now() + ahead))
  return {
    service,
    later: (seconds: number) => {
      ahead += seconds * 1000
    },
    async unread() {
      await service.live.activity.flush()
      return (await scrapeOf(service, METRICS_TOKEN)).get('feed_oldest_unread_seconds') as number
    },
  }
}

const read = (actor: Actor, query = '') => actor.send('GET', `${feed}${query}`)
const confirm = (actor: Actor, id: number) => actor.send('POST', `/v1/bookings/${id}/confirm`)

test('the metrics show a change until a key of its host reads it', async () => {
  const { service, later, unread } = await watched()
  const actor = await service.actor()
  const other = await service.actor()
  const { booking_id } = await seedBooking(actor)
  await seedBooking(other)
  later(1000)
  // A host does not count until its partner starts reading.
  expect(await unread()).toBe(0)
  await read(actor)
  await read(other)
  expect(await unread()).toBe(0)
  await confirm(actor, booking_id)
  later(500)
  await read(other)
  // Somebody who only looks, such as a person at the console, does not handle the changes.
  const looked = await actor.send('GET', feed, { headers: { prefer: 'respond-async, PEEK' } })
  expect(looked.headers.get('preference-applied')).toBe('peek')
  // Reading the sandbox, messages or a single booking does not count as reading the feed.
  await actor.send('GET', feed.replace('/v1', '/sandbox'))
  await actor.send('GET', feed.replace('bookings', 'messages'))
  await actor.send('GET', `${feed}/${booking_id}`)
  const age = await unread()
  expect(age).toBeGreaterThan(490)
  expect(age).toBeLessThan(560)
  await read(actor)
  expect(await unread()).toBe(0)
})

test('pages that were not fetched stay unread, and a position in the future hides nothing', async () => {
  const { service, later, unread } = await watched()
  const actor = await service.actor()
  // A start that is further in the future is ahead of the feed, and does not count as reading it.
  const soon = new Date(Date.now() + 200_000).toISOString().slice(0, 19).replace('T', ' ')
  await read(actor, '?updated_after=2090-01-01')
  expect(await unread()).toBe(0)
  await read(actor, `?updated_after=${soon}`)
  const { user_id, listing_id, room_type_id } = await seedBooking(actor)
  later(100)
  expect(await unread()).toBeGreaterThan(90)
  const body = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  await actor.send('POST', '/v1/bookings', { body })
  later(300)
  const { meta } = (await read(actor, '?per_page=1')).body
  expect(await unread()).toBeLessThan(360)
  expect(await unread()).toBeGreaterThan(290)
  await read(actor, `?per_page=1&cursor=${meta.pagination.next_cursor}`)
  expect(await unread()).toBe(0)
})

test('a page with a filter, or an empty page without a time, does not count as reading the whole feed', async () => {
  const { service, later, unread } = await watched()
  const actor = await service.actor()
  const { booking_id, listing_id } = await seedBooking(actor)
  await read(actor, '?listing_id=999')
  await read(actor, `?listing_id=${listing_id}`)
  await read(actor, '?page=9')
  later(1000)
  expect(await unread()).toBe(0)
  await read(actor)
  await confirm(actor, booking_id)
  later(500)
  await read(actor, `?listing_id=${listing_id}`)
  expect(await unread()).toBeGreaterThan(490)
})

test('a host counts as long as one of its keys may read, and is not suspended', async () => {
  const { service, later, unread } = await watched()
  const { db, clock } = service.live
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  await read(actor)
  await confirm(actor, booking_id)
  later(1000)
  const key = String(actor.keyId)
  const host = actor.hostId
  expect(await unread()).toBeGreaterThan(900)
  await updateKey(db, key, { active: false })
  expect(await unread()).toBe(0)
  // The new key has read nothing, so the old key's reads count.
  await mintKey(db, clock, { host, name: 'New', permissions: ['bookings.read'] })
  expect(await unread()).toBeGreaterThan(900)
  await revokeKey(db, clock, key)
  expect(await unread()).toBeGreaterThan(900)
  await setHostSuspended(db, host, new Date())
  expect(await unread()).toBe(0)
})
