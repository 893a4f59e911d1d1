import { expect, test } from 'vitest'
import { revokeKey } from '../../../src/access/keys/store.ts'
import { type Actor, seedBooking } from '../../support/app.ts'
import { limitAllNights } from '../../support/availability.ts'
import { withClock } from '../../support/hook-services.ts'
import { type Received, startReceiver } from '../../support/receiver.ts'
import { deliveriesOf } from '../../support/webhooks.ts'

/** Alarms while a receiver is down, after a key has ended, and on clocks that were moved by days. */

const minute = 60_000
const daySeconds = 86_400
const { service, move } = await withClock()
const feed = '/integrations/provider_one/bookings?per_page=100'
const events = ['alarm.opened', 'alarm.resolved']
const typesOf = (received: Received[]) => received.map(({ hint }) => hint.type)

async function hook(actor: Actor, url: string, root = '/v1'): Promise<number> {
  const { status, body } = await actor.send('POST', `${root}/webhooks`, { body: { url, events } })
  expect(status).toBe(201)
  return body.data.id
}

async function read(actor: Actor, root = '/v1') {
  await actor.send('GET', root + feed)
  await Promise.all([service.live.activity.flush(), service.sandbox.activity.flush()])
}

/** Returns a partner who has read the booking feed of a sandbox, and a change that comes after. */
async function sandboxReader(): Promise<Actor> {
  const actor = await service.actor()
  await read(actor, '/sandbox')
  await seedBooking(actor, '/sandbox')
  await limitAllNights(actor, '/sandbox')
  return actor
}

async function advance(actor: Actor, seconds: number): Promise<void> {
  const { status } = await actor.send('POST', '/sandbox/clock', { body: { advance_seconds: seconds } })
  expect(status).toBe(200)
}

test('a receiver that is down for an hour hears of an opening once, and then of its end', async (context) => {
  let isUp = false
  const accepted: Received[] = []
  const { url, received } = startReceiver(context, (one) => {
    if (!isUp) return new Response(null, { status: 503 })
    accepted.push(one)
    return new Response()
  })
  const actor = await service.actor()
  await read(actor)
  await seedBooking(actor)
  const id = await hook(actor, url)
  move(31 * minute)
  await expect.poll(() => received.length).toBe(1)
  // The first pauses between attempts are 5 s, 5 min and 30 min.
  for (const [attempt, pause] of [1, 6, 31].entries()) {
    move(pause * minute)
    await expect.poll(() => received.length).toBe(attempt + 2)
  }
  await read(actor)
  move(22 * minute)
  const alarms = service.live.db.collection('alarms')
  await expect.poll(() => alarms.countDocuments({ owner_id: actor.hostId, is_open: false })).toBe(1)
  expect(typesOf(received)).toEqual(Array(4).fill('alarm.opened'))
  isUp = true
  move(120 * minute)
  await expect.poll(() => typesOf(accepted)).toEqual(events)
  move(minute)
  await expect.poll(() => alarms.countDocuments({ owner_id: actor.hostId })).toBe(0)
  expect({
    posts: received.length,
    alarms: new Set(received.map(({ hint }) => hint.data.alarm_id)).size,
    openings: new Set(received.slice(0, 5).map(({ headers }) => headers['webhook-id'])).size,
    deliveries: (await deliveriesOf(actor, id)).length,
  }).toEqual({ posts: 6, alarms: 1, openings: 1, deliveries: 2 })
})

test('in the sandbox, the alarms of a key that is revoked end without a word', async (context) => {
  const { url, received } = startReceiver(context)
  const actor = await sandboxReader()
  await hook(actor, url, '/sandbox')
  await advance(actor, 31 * 60)
  await expect.poll(() => typesOf(received)).toEqual(['alarm.opened'])
  await revokeKey(service.live.db, service.live.clock, String(actor.keyId))
  const alarms = service.sandbox.db.collection('alarms')
  await expect.poll(() => alarms.countDocuments({ key_id: actor.keyId })).toBe(0)
  expect(received).toHaveLength(1)
})

test('in the sandbox, alarms open and resolve once on a clock that is moved by days', async (context) => {
  const { url, received } = startReceiver(context)
  const actor = await sandboxReader()
  await hook(actor, url, '/sandbox')
  for (const days of [1, 3, 8]) {
    received.length = 0
    await advance(actor, days * daySeconds)
    await expect.poll(() => typesOf(received)).toEqual(['alarm.opened'])
    await read(actor, '/sandbox')
    await advance(actor, days * daySeconds)
    await expect.poll(() => typesOf(received)).toEqual(events)
    const [opened, resolved] = received.map(({ hint }) => hint.data)
    expect(resolved).toMatchObject({ alarm_id: opened?.alarm_id, code: 'feed_unread' })
    await actor.send('POST', '/sandbox/scenarios/guest-books', { body: { count: 1 } })
  }
})

test('in the sandbox, a delivery that has expired holds up neither the end of its webhook nor another webhook', async (context) => {
  const down = startReceiver(context, () => new Response(null, { status: 503 }))
  const healthy = startReceiver(context)
  const actor = await sandboxReader()
  const id = await hook(actor, down.url, '/sandbox')
  await hook(actor, healthy.url, '/sandbox')
  await advance(actor, 31 * 60)
  await expect.poll(() => down.received.length).toBeGreaterThan(0)
  await advance(actor, 8 * daySeconds)
  const webhook = async () => (await actor.send('GET', `/sandbox/webhooks/${id}`)).body.data
  await expect.poll(webhook).toMatchObject({ enabled: false, disabled_reason: 'failing' })
  await read(actor, '/sandbox')
  await advance(actor, 1)
  const ofFeed = () => healthy.received.filter(({ hint }) => hint.data.code === 'feed_unread')
  await expect.poll(() => typesOf(ofFeed())).toEqual(events)
  const deliveries = service.sandbox.db.collection('webhook_deliveries')
  expect(await deliveries.countDocuments({ webhook_id: id, status: 'waiting' })).toBe(0)
  expect(typesOf(down.received)).not.toContain('alarm.resolved')
})
