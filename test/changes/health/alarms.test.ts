import { expect, test } from 'vitest'
import { verifyWebhook } from '../../../client/src/verify.ts'
import { revokeKey } from '../../../src/access/keys/store.ts'
import { turnOffForKeys } from '../../../src/changes/webhooks/turn-off.ts'
import { setListingStatus } from '../../../src/inventory/listings/store.ts'
import { type Actor, seedBooking, testApp } from '../../support/app.ts'
import { limitAllNights } from '../../support/availability.ts'
import { listingWithCalendars } from '../../support/calendars.ts'
import { ownDatabase } from '../../support/databases.ts'
import { type Received, startReceiver } from '../../support/receiver.ts'
import { deliveriesOf } from '../../support/webhooks.ts'

// This file has its own database, because any service that shares a database may evaluate its alarms.
const MONGODB_URL = await ownDatabase()
let ahead = 0
const clock = () => new Date(Date.now() + ahead)
const settings = { MONGODB_URL, WEBHOOKS_ALLOW_PRIVATE: 'on' }
// Every test waits for several rounds.
const often = { alarmInterval: 200, workInterval: 200 }
const service = await testApp(settings, clock, often)
const other = await testApp(settings, clock, often)
const feed = '/v1/integrations/provider_one/bookings'
const bothAlarms = ['alarm.opened', 'alarm.resolved']

const minute = 60_000
const pass = async (milliseconds: number) => {
  await Promise.all([service.live.activity.flush(), other.live.activity.flush()])
  // A round in progress may have read the webhooks before the test's was created; the next evaluation is 30 s later.
  await Bun.sleep(often.alarmInterval)
  ahead += milliseconds
}
/** Lets everything be evaluated again. */
const evaluateAgain = () => pass(minute)
const hook = async (actor: Actor, url: string, events = bothAlarms, root = '/v1') => {
  const { status, body } = await actor.send('POST', `${root}/webhooks`, { body: { url, events } })
  expect(status).toBe(201)
  return body.data as { id: number; secret: string }
}
const alarmOf = ({ hint }: Received) => {
  const { alarm_id, code, webhook_id } = hint.data
  return { type: hint.type, alarm_id, code, ...(webhook_id === undefined ? {} : { webhook_id }) }
}

/** Returns a partner who has read the booking feed, and a change that comes after. */
async function reader() {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  await actor.send('GET', feed)
  await service.live.activity.flush()
  await actor.send('POST', `/v1/bookings/${booking_id}/confirm`, { body: {} })
  return actor
}

test('a finding opens one alarm and resolves it once, with two processes and with several evaluations', async (context) => {
  const { url, received } = startReceiver(context)
  const actor = await reader()
  const { id, secret } = await hook(actor, url)
  await pass(31 * minute)
  await expect.poll(() => received.map(({ hint }) => hint.type)).toEqual(['alarm.opened'])
  const [opened] = received as [Received]
  // The signature has the service's time, which the test has moved.
  await verifyWebhook(opened.body, opened.headers, secret, { now: clock() })
  const { findings } = (await actor.send('GET', '/v1/health')).body.data
  expect(opened.hint.data).toMatchObject({ ...findings[0], alarm_id: expect.any(Number) })
  await pass(5 * minute)
  await actor.send('GET', feed)
  await evaluateAgain()
  await expect.poll(() => received.map(({ hint }) => hint.type)).toEqual(bothAlarms)
  expect(received.map(alarmOf)[1]).toEqual({ ...alarmOf(opened), type: 'alarm.resolved' })
  expect(received[1]?.hint.data).toHaveProperty('resolved_at')
  const outcomes = async () =>
    (await deliveriesOf(actor, id)).map(({ event, status }: Record<string, string>) => ({ event, status }))
  // An outcome is stored just after the response.
  await expect.poll(outcomes).toEqual([
    { event: 'alarm.resolved', status: 'delivered' },
    { event: 'alarm.opened', status: 'delivered' },
  ])
  expect(await service.live.db.collection('alarms').countDocuments({ owner_id: actor.hostId })).toBe(0)
})

test('an end is reported after the opening, even if the receiver was down when the finding went', async (context) => {
  let isUp = false
  const { url, received } = startReceiver(context, () => new Response(null, { status: isUp ? 204 : 503 }))
  const actor = await reader()
  const { id } = await hook(actor, url)
  await pass(31 * minute)
  await expect.poll(() => received.length).toBeGreaterThan(0)
  await actor.send('GET', feed)
  await evaluateAgain()
  const alarms = service.live.db.collection('alarms')
  await expect.poll(() => alarms.countDocuments({ owner_id: actor.hostId, is_open: false })).toBe(1)
  expect((await deliveriesOf(actor, id)).map(({ event }: { event: string }) => event)).toEqual([
    'alarm.opened',
  ])
  isUp = true
  ahead += 60 * minute
  await expect.poll(() => received.at(-1)?.hint.type).toBe('alarm.resolved')
  expect(new Set(received.map((one) => alarmOf(one).alarm_id)).size).toBe(1)
})

test('a webhook that is down does not hold up the end for another webhook', async (context) => {
  const down = startReceiver(context, () => new Response(null, { status: 503 }))
  const healthy = startReceiver(context)
  const actor = await reader()
  const { id } = await hook(actor, down.url)
  await hook(actor, healthy.url)
  await pass(31 * minute)
  await expect.poll(() => down.received.length).toBeGreaterThan(0)
  await actor.send('GET', feed)
  await evaluateAgain()
  await expect.poll(() => healthy.received.map(({ hint }) => hint.type)).toEqual(bothAlarms)
  const deliveries = await deliveriesOf(actor, id)
  expect(deliveries.map(({ event, status }: Record<string, string>) => ({ event, status }))).toEqual([
    { event: 'alarm.opened', status: 'waiting' },
  ])
})

test('a webhook hears nothing about itself, another webhook of the key does', async (context) => {
  const failing = startReceiver(context, () => new Response(null, { status: 410 }))
  const elsewhere = startReceiver(context)
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  const gone = await hook(actor, failing.url, ['booking.changed', ...bothAlarms])
  await hook(actor, elsewhere.url)
  await actor.send('POST', `/v1/bookings/${booking_id}/confirm`, { body: {} })
  const isOff = async () => (await actor.send('GET', `/v1/webhooks/${gone.id}`)).body.data.disabled_reason
  await expect.poll(isOff).toBe('gone')
  await evaluateAgain()
  await expect
    .poll(() => elsewhere.received.map(alarmOf))
    .toEqual([
      { type: 'alarm.opened', alarm_id: expect.any(Number), code: 'webhook_off', webhook_id: gone.id },
    ])
  expect(failing.received.map(({ hint }) => hint.type)).not.toContain('alarm.opened')
  await actor.send('PATCH', `/v1/webhooks/${gone.id}`, { body: { enabled: true } })
  await evaluateAgain()
  await expect.poll(() => elsewhere.received.map(({ hint }) => hint.type)).toEqual(bothAlarms)
})

test('an open alarm is opened for a webhook that is new or on again, under the same id', async (context) => {
  const first = startReceiver(context)
  const second = startReceiver(context)
  const actor = await reader()
  const { id } = await hook(actor, first.url)
  await pass(31 * minute)
  await expect.poll(() => first.received.length).toBe(1)
  await hook(actor, second.url)
  await evaluateAgain()
  await expect.poll(() => second.received.length).toBe(1)
  const alarm_id = alarmOf(first.received[0] as Received).alarm_id
  expect(alarmOf(second.received[0] as Received).alarm_id).toBe(alarm_id)
  await actor.send('PATCH', `/v1/webhooks/${id}`, { body: { enabled: false } })
  await actor.send('PATCH', `/v1/webhooks/${id}`, { body: { enabled: true } })
  await evaluateAgain()
  await expect.poll(() => first.received.map((one) => alarmOf(one).alarm_id)).toEqual([alarm_id, alarm_id])
})

test('a webhook that is told later gets the values at the opening, and each gets the last ones at the end', async (context) => {
  const first = startReceiver(context)
  const second = startReceiver(context)
  const actor = await service.actor()
  const { user_id, listing_id, room_type_id } = await seedBooking(actor)
  const book = async (year: number) => {
    const stay = { checkin_at: `${year}-01-01`, checkout_at: `${year}-02-01` }
    const body = { user_id, listing_id, room_type_id, ...stay }
    expect((await actor.send('POST', '/v1/bookings', { body })).status).toBe(201)
  }
  const dataOf = ({ received }: typeof first) => received.map(({ hint }) => hint.data)
  await actor.send('GET', feed)
  await service.live.activity.flush()
  await book(2031)
  await hook(actor, first.url)
  await pass(31 * minute)
  await expect.poll(() => dataOf(first)).toMatchObject([{ code: 'feed_unread', unread: 1 }])
  await book(2032)
  await hook(actor, second.url)
  await evaluateAgain()
  await expect.poll(() => second.received.length).toBe(1)
  expect(dataOf(second)).toEqual(dataOf(first))
  await actor.send('GET', feed)
  await evaluateAgain()
  const end = { code: 'feed_unread', unread: 2, resolved_at: expect.any(String) }
  for (const receiver of [first, second])
    await expect.poll(() => dataOf(receiver)).toMatchObject([{ unread: 1 }, end])
})

test('the alarms of a key that ends, or whose last webhook for alarms is off, end without a word', async (context) => {
  const { url, received } = startReceiver(context)
  const [revoked, silenced] = await Promise.all([reader(), reader()])
  await hook(revoked, url)
  const { id } = await hook(silenced, url)
  await pass(31 * minute)
  await expect.poll(() => received.length).toBe(2)
  await revokeKey(service.live.db, service.live.clock, String(revoked.keyId))
  await turnOffForKeys(service.live, [revoked.keyId])
  await silenced.send('PATCH', `/v1/webhooks/${id}`, { body: { enabled: false } })
  const alarms = service.live.db.collection('alarms')
  const owner_id = { $in: [revoked.hostId, silenced.hostId] }
  await expect.poll(() => alarms.countDocuments({ owner_id })).toBe(0)
  expect(received.map(({ hint }) => hint.type)).toEqual(['alarm.opened', 'alarm.opened'])
})

test('in the sandbox, an alarm follows a moved clock within seconds, and clearing the sandbox ends it silently', async (context) => {
  const { url, received } = startReceiver(context)
  const actor = await service.actor()
  const sandboxFeed = feed.replace('/v1', '/sandbox')
  await limitAllNights(actor, '/sandbox')
  const page = await actor.send('GET', sandboxFeed)
  await service.sandbox.activity.flush()
  await hook(actor, url, bothAlarms, '/sandbox')
  const [booking] = page.body.data.Bookings
  await actor.send('POST', `/sandbox/bookings/${booking.booking_id}/cancel`, { body: {} })
  await actor.send('POST', '/sandbox/clock', { body: { advance_seconds: 31 * 60 } })
  await expect.poll(() => received.map(({ hint }) => hint.type)).toEqual(['alarm.opened'])
  expect(received.map(alarmOf)).toMatchObject([{ code: 'feed_unread' }])
  await actor.send('DELETE', '/sandbox')
  const alarms = service.sandbox.db.collection('alarms')
  expect(await alarms.countDocuments({ key_id: actor.keyId })).toBe(0)
  expect(received).toHaveLength(1)
})

test('each listing has an alarm of its own, so a second one is told of while the first is open', async (context) => {
  const { url, received } = startReceiver(context)
  const actor = await service.actor()
  await hook(actor, url)
  const ids: number[] = []
  for (let listing = 1; listing <= 2; listing += 1) {
    const { listing_id: id } = await listingWithCalendars(actor, [null])
    ids.push(id)
    await setListingStatus(service.live, { id, owner_id: actor.hostId }, 'published')
    await evaluateAgain()
    await expect.poll(() => received.length).toBe(listing)
  }
  const opened = received.map(({ hint }) => hint.data)
  expect(opened).toMatchObject(ids.map((id) => ({ code: 'nights_open', listing_ids: [id], count: 1 })))
  expect((await actor.send('GET', '/v1/health')).body.data.findings).toMatchObject([
    { code: 'nights_open', listing_ids: ids, count: 2 },
  ])
  await limitAllNights(actor, '/v1')
  await evaluateAgain()
  await expect.poll(() => received.length).toBe(4)
  const ended = received.slice(2).map(({ hint }) => ({ type: hint.type, alarm_id: hint.data.alarm_id }))
  const resolved = opened.map(({ alarm_id }) => ({ type: 'alarm.resolved', alarm_id }))
  expect(ended).toEqual(expect.arrayContaining(resolved))
})
