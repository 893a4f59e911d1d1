import { test } from 'vitest'
import { insertDelivery, newDelivery } from '../../../src/changes/webhooks/deliveries-store.ts'
import { hintOf } from '../../../src/changes/webhooks/hint.ts'
import { webhookDeliveryModel } from '../../../src/changes/webhooks/model.ts'
import { HintSender } from '../../../src/changes/webhooks/send/sender.ts'
import type { WebhookWorker } from '../../../src/changes/webhooks/send/worker.ts'
import { partnerctlHere } from '../../support/admin.ts'
import { testApp } from '../../support/app.ts'
import { hookSettings, withClock } from '../../support/hook-services.ts'
import { startReceiver } from '../../support/receiver.ts'
import { bothEvents, deliveriesOf, hookedPartner } from '../../support/webhooks.ts'

const path = '/v1/webhooks'
const hour = 3_600_000

/** A service that sends no hints by itself, because its worker is stopped. */
const silent = await testApp(await hookSettings())
await (silent.live.webhooks as WebhookWorker).stop()

const service = await testApp(await hookSettings())
const clocked = await Promise.all([withClock(), withClock()])

/** Cancels a booking as an administrator, without a key. */
const cancel = (id: number) =>
  partnerctlHere(['bookings', 'cancel', String(id)], {
    MONGODB_URL: service.live.config.mongodbUrl as string,
  })

test.concurrent('changes behind a hint in flight merge into one hint with the newest version', async (context) => {
  const { expect } = context
  const gate = Promise.withResolvers<void>()
  const { url, received } = startReceiver(context, async (_, count) => {
    if (count === 1) await gate.promise
    return new Response()
  })
  const { actor, id, book } = await hookedPartner(service, url, ['booking.changed'])
  const quick = startReceiver(context)
  await actor.send('POST', path, { body: { url: quick.url, events: ['booking.changed'] } })
  const { booking_id } = (await book()).body.data
  await expect.poll(() => received.length).toBe(1)
  await actor.send('POST', `/v1/bookings/${booking_id}/confirm`)
  await cancel(booking_id)
  const feed = await actor.send('GET', '/v1/integrations/provider_one/bookings')
  const { version } = feed.body.data.Bookings.at(-1)
  // The quick webhook got the newest version, so the service has read all changes.
  await expect.poll(() => quick.received.at(-1)?.hint.data.version).toBe(version)
  gate.resolve()
  await expect.poll(() => received.length).toBe(2)
  expect(received[1]?.hint.data).toMatchObject({ booking_id, version })
  const statuses = async () => (await deliveriesOf(actor, id)).map((one: { status: string }) => one.status)
  await expect.poll(statuses).toEqual(['delivered', 'delivered'])
})

test.concurrent('a hint is attempted eight times at the specified intervals, and a longer Retry-After is respected', async (context) => {
  const { expect } = context
  const { service: apart, move } = clocked[0]
  const { url, received } = startReceiver(
    context,
    (_, count) => new Response(null, { status: 503, headers: count === 2 ? { 'retry-after': '1800' } : {} }),
  )
  const { actor, id, book } = await hookedPartner(apart, url, ['booking.changed'])
  let begun = apart.live.clock().getTime()
  await book()
  const last = async () => (await deliveriesOf(actor, id))[0]
  const pauses = [5, 1800, 1800, 7200, 18_000, 36_000, 50_400]
  for (const [index, seconds] of pauses.entries()) {
    let next = 0
    const seen = async () => {
      const delivery = await last()
      next = Date.parse(delivery.next_attempt_at)
      return delivery
    }
    await expect.poll(seen).toMatchObject({ attempts: index + 1, next_attempt_at: expect.any(String) })
    // The attempt ended between `begun` and `now`.
    const now = apart.live.clock().getTime()
    const endedAt = next - seconds * 1000
    expect(endedAt).toBeGreaterThanOrEqual(begun)
    expect(endedAt).toBeLessThanOrEqual(now)
    begun = now
    move(next - now)
  }
  await expect
    .poll(last)
    .toMatchObject({ attempts: 8, response_status: 503, status: 'failed', next_attempt_at: null })
  expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  expect(new Set(received.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(8)
})

test.concurrent('a webhook that fails for six days is turned off and audited, and reports the gap when it is turned on', async (context) => {
  const { expect } = context
  const { service: apart, move } = clocked[1]
  let isDead = true
  const { url, received } = startReceiver(context, () => new Response(null, { status: isDead ? 500 : 200 }))
  const { actor, id, book } = await hookedPartner(apart, url, ['booking.changed'])
  const missed = [(await book()).body.data.booking_id]
  const state = async () => (await actor.send('GET', `${path}/${id}`)).body.data
  await expect
    .poll(async () => (await deliveriesOf(actor, id))[0])
    .toMatchObject({ attempts: 1, response_status: 500 })
  move(4.9 * 24 * hour)
  await expect
    .poll(async () => (await deliveriesOf(actor, id))[0])
    .toMatchObject({ attempts: 2, next_attempt_at: expect.any(String) })
  expect(await state()).toMatchObject({ enabled: true, disabled_reason: null })
  move(1.1 * 24 * hour)
  await expect.poll(state).toMatchObject({ enabled: false, disabled_reason: 'failing' })
  expect((await state()).disabled_at).toMatch(/^\d{4}-/)
  const audit = await partnerctlHere(['audit', 'list', '--json'], {
    MONGODB_URL: apart.live.config.mongodbUrl as string,
  })
  const entry = { action: 'webhooks disable', target: `webhook ${id}: failing` }
  expect(JSON.parse(audit.stdout)).toContainEqual(expect.objectContaining(entry))
  const tried = received.length
  missed.push((await book()).body.data.booking_id)
  expect((await deliveriesOf(actor, id)).map(({ status }: { status: string }) => status)).toEqual(['failed'])
  isDead = false
  const on = await actor.send('PATCH', `${path}/${id}`, { body: { enabled: true } })
  const after = encodeURIComponent(on.body.meta.gap.bookings_after)
  const gap = await actor.send('GET', `/v1/integrations/provider_one/bookings?updated_after=${after}`)
  const found = gap.body.data.Bookings.map(({ booking_id }: { booking_id: number }) => booking_id)
  expect(found).toEqual(missed)
  const next = (await book()).body.data.booking_id
  await expect.poll(() => received.at(-1)?.hint.data.booking_id).toBe(next)
  expect(received).toHaveLength(tried + 1)
})

test.concurrent('a poller that also listens loses nothing when all hints are dropped', async (context) => {
  const { expect } = context
  const { url, received } = startReceiver(context, () => new Response(null, { status: 503 }))
  const { actor, book } = await hookedPartner(service, url)
  const seen = new Set<number>()
  let cursor = 'updated_after=2000-01-01'
  let isOver = false
  const poller = (async () => {
    while (!isOver) {
      const { body } = await actor.send('GET', `/v1/integrations/provider_one/bookings?wait=1&${cursor}`)
      for (const { booking_id } of body.data.Bookings) seen.add(booking_id)
      const last = body.data.Bookings.at(-1)?.version
      if (last) cursor = `updated_after=${encodeURIComponent(last)}`
    }
  })()
  const made: number[] = []
  for (let count = 0; count < 25; count += 1) made.push((await book()).body.data.booking_id)
  await expect.poll(() => made.filter((id) => !seen.has(id))).toEqual([])
  isOver = true
  await poller
  await expect.poll(() => received.length).toBeGreaterThan(5)
})

test.concurrent('the sandbox has five webhooks of its own, hints no bookings that it is filled with, and deletes its webhooks when it is cleared', async (context) => {
  const { expect } = context
  const { url, received } = startReceiver(context)
  const actor = await service.actor()
  const make = () => actor.send('POST', '/sandbox/webhooks', { body: { url, events: bothEvents } })
  const made = await make()
  expect(made.status).toBe(201)
  const stay = { user_id: 1001, listing_id: 2002, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const booked = await actor.send('POST', '/sandbox/bookings', { body: stay })
  await expect.poll(() => received.length).toBe(1)
  expect(received[0]?.hint.data.booking_id).toBe(booked.body.data.booking_id)
  for (let count = 1; count < 5; count += 1) expect((await make()).status).toBe(201)
  expect((await make()).status).toBe(409)
  expect((await actor.send('GET', path)).body.data).toEqual([])
  await actor.send('DELETE', '/sandbox')
  expect((await actor.send('GET', '/sandbox/webhooks')).body.data).toEqual([])
  const next = startReceiver(context)
  await actor.send('POST', '/sandbox/webhooks', { body: { url: next.url, events: bothEvents } })
  const again = await actor.send('POST', '/sandbox/bookings', { body: stay })
  await expect.poll(() => next.received.length).toBe(1)
  expect(next.received[0]?.hint.data.booking_id).toBe(again.body.data.booking_id)
  expect(received).toHaveLength(1)
})

test.concurrent('a response from a previous address does not turn off a webhook', async (context) => {
  const { expect } = context
  const answer = Promise.withResolvers<void>()
  const gone = startReceiver(context, async () => {
    await answer.promise
    return new Response(null, { status: 410 })
  })
  const well = startReceiver(context)
  const { actor, id, book } = await hookedPartner(service, gone.url, ['booking.changed'])
  const { body } = await book()
  await expect.poll(() => gone.received.length).toBe(1)
  const [delivery] = await deliveriesOf(actor, id)
  expect(delivery).toMatchObject({ status: 'waiting', attempts: 1, next_attempt_at: null })
  const resend = await actor.send('POST', `${path}/${id}/deliveries/${delivery.id}/resend`)
  expect({ status: resend.status, type: resend.body.error.type }).toEqual({ status: 409, type: 'conflict' })
  await actor.send('PATCH', `${path}/${id}`, { body: { url: well.url } })
  answer.resolve()
  await expect.poll(async () => (await deliveriesOf(actor, id))[0].response_status).toBe(410)
  const next = await book()
  await expect
    .poll(() => well.received.map(({ hint }) => hint.data.booking_id))
    .toEqual([next.body.data.booking_id])
  expect(gone.received.map(({ hint }) => hint.data.booking_id)).toEqual([body.data.booking_id])
  expect((await actor.send('GET', `${path}/${id}`)).body.data).toMatchObject({ enabled: true, url: well.url })
})

test.concurrent('a webhook gets at most twenty attempts a second even if its hints come in small groups', async (context) => {
  const { expect } = context
  const times: number[] = []
  const { url } = startReceiver(context, () => {
    times.push(performance.now())
    return new Response()
  })
  const { actor, id } = await hookedPartner(silent, url, ['booking.changed'])
  const webhook = { owner_id: actor.hostId, id }
  const { db, clock } = silent.live
  const sender = new HintSender(silent.live, () => true)
  const startedAt = performance.now()
  for (let sent = 0; sent < 40; sent += 8) {
    const now = clock(actor.hostId)
    const group = Array.from({ length: 8 }, (_, index) => {
      const change = { booking_id: 1 + sent + index, listing_id: 1, version: '2026-11-20 12:00:05' }
      const payload = hintOf('booking.changed', change)
      return newDelivery({ webhook, payload, now, begins: false, trace: null })
    })
    await webhookDeliveryModel(db).insertMany(group)
    sender.lookAt(actor.hostId)
    await expect.poll(() => times.length).toBe(sent + 8)
    // Waits until the sender has no more work for the webhook, so that it starts over with the next group.
    await sender.drain()
  }
  // The last twenty attempts start at least a second after the first twenty, however long a post takes to arrive.
  expect((times.at(20) as number) - startedAt).toBeGreaterThanOrEqual(1000)
})

test.concurrent('a hint stored while its webhook is turned off is dropped too', async (context) => {
  const { expect } = context
  const { actor, id } = await hookedPartner(silent, startReceiver(context).url, ['booking.changed'])
  await storeHint(actor.hostId, id, { at: Date.now() + 1000, begins: false })
  await actor.send('PATCH', `${path}/${id}`, { body: { enabled: false } })
  expect(await deliveriesOf(actor, id)).toEqual([])
  // A process that dies at this point leaves a hint behind, which must not be sent once the webhook is on again.
  await storeHint(actor.hostId, id, { at: Date.now(), begins: false })
  await actor.send('PATCH', `${path}/${id}`, { body: { enabled: true } })
  expect(await deliveriesOf(actor, id)).toEqual([])
})

test.concurrent('a hint whose process died while its webhook was off can be resent', async (context) => {
  const { expect } = context
  const { actor, id } = await hookedPartner(silent, startReceiver(context).url, ['booking.changed'])
  // The attempt began half a minute ago, so it counts as lost.
  await storeHint(actor.hostId, id, { at: Date.now() - 30_000, begins: true })
  for (const enabled of [false, true]) await actor.send('PATCH', `${path}/${id}`, { body: { enabled } })
  const [dropped] = await deliveriesOf(actor, id)
  expect(dropped).toMatchObject({ status: 'failed', next_attempt_at: null })
  const resent = await actor.send('POST', `${path}/${id}/deliveries/${dropped.id}/resend`)
  expect({ status: resent.status, delivery: resent.body.data?.status }).toEqual({
    status: 200,
    delivery: 'waiting',
  })
})

/** Stores a hint as the leader does. */
async function storeHint(hostId: number, id: number, { at, begins }: { at: number; begins: boolean }) {
  const hint = newDelivery({
    webhook: { owner_id: hostId, id },
    payload: hintOf('booking.changed', { booking_id: 1, listing_id: 1, version: '2026-11-20 12:00:05' }),
    now: new Date(at),
    begins,
    trace: null,
  })
  await insertDelivery(silent.live.db, hint)
}
