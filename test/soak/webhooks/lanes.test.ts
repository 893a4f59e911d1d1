import { test } from 'vitest'
import { setKeyActive } from '../../../src/keys/store.ts'
import { sendHint } from '../../../src/webhooks/send.ts'
import { mongodbUrlOf, sender, testApp, testEnvironment } from '../../support/app.ts'
import { partnerctl, startService } from '../../support/processes.ts'
import { startReceiver } from '../../support/receiver.ts'
import { hookedPartner } from '../../support/webhooks.ts'

const path = '/v1/webhooks'
const settings = () => ({
  MONGODB_URL: mongodbUrlOf(`lanes_${crypto.randomUUID().slice(0, 8)}`),
  WEBHOOKS_ALLOW_PRIVATE: 'on',
})
const service = await testApp(settings())
/** Cancels a booking as an administrator does: without a key. */
const cancel = (id: number) =>
  partnerctl(['bookings', 'cancel', String(id)], { MONGODB_URL: service.live.config.mongodbUrl as string })

test.concurrent('nothing is sent while no usable key of the host may read bookings, and what waits is sent once one may', async (context) => {
  const { expect } = context
  const { url, received } = startReceiver(context)
  const { actor, booking_id, book } = await hookedPartner(service, url, ['booking.changed'])
  const booked = await book()
  await expect.poll(() => received.length).toBe(1)
  const { db } = service.live
  await setKeyActive(db, String(actor.keyId), false)
  // What a process knows of keys is up to 5 s old.
  await Bun.sleep(5200)
  await cancel(booking_id)
  await Bun.sleep(1000)
  expect(received).toHaveLength(1)
  await setKeyActive(db, String(actor.keyId), true)
  await expect
    .poll(() => received.map(({ hint }) => hint.data.booking_id))
    .toEqual([booked.body.data.booking_id, booking_id])
})

test.concurrent('the hint of a process that is killed is tried again within 30 seconds, by another one', async (context) => {
  const { expect } = context
  const environment = testEnvironment(settings())
  const { url, received } = startReceiver(context, (_, count) =>
    count === 1 ? new Promise<Response>(() => {}) : new Response(),
  )
  const victim = await startService(environment)
  const seeded = await partnerctl(['seed', '--json'], environment)
  expect(seeded.code, seeded.stderr).toBe(0)
  const { key, user_id, listing_id } = JSON.parse(seeded.stdout)
  const post = async (to: string, body: object) => {
    const { status, text } = await sender(fetch, victim.url)('POST', to, { key, body })
    expect(status, text + victim.output()).toBe(201)
  }
  await post(path, { url, events: ['booking.changed'] })
  await post('/v1/bookings', { user_id, listing_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' })
  await expect.poll(() => received.length).toBe(1)
  const other = await startService(environment)
  await victim.end('SIGKILL')
  await expect.poll(() => received.length).toBe(2)
  expect(received[1]?.headers['webhook-id']).toBe(received[0]?.headers['webhook-id'])
  await other.stop()
})

test.concurrent('a server that never responds is given up after 15 s, and nothing is sent after that', async (context) => {
  const { expect } = context
  const { url } = startReceiver(context, () => new Promise<Response>(() => {}))
  const late = startReceiver(context)
  const lookup = async () => {
    await Bun.sleep(15_500)
    return ['127.0.0.1']
  }
  const named = late.url.replace('127.0.0.1', 'late.example')
  const send = (to: string) =>
    sendHint({ url: new URL(to), headers: {}, body: '{}', allowsPrivate: true, lookup })
  for (const sent of await Promise.all([send(url), send(named)])) {
    expect(sent).toMatchObject({ status: null, failure: 'timeout' })
    expect(sent.milliseconds).toBeGreaterThan(14_000)
    expect(sent.milliseconds).toBeLessThan(30_000)
  }
  await Bun.sleep(1500)
  expect(late.received).toEqual([])
})

test.concurrent('at most ten are in flight to an endpoint and one of each booking, and nothing of another host waits for them', async (context) => {
  const { expect } = context
  let open = 0
  const most = { inFlight: 0, ofBooking: 0 }
  const perBooking = new Map<number, number>()
  const gate = Promise.withResolvers<void>()
  const slow = startReceiver(context, async ({ hint }) => {
    const { booking_id } = hint.data
    const count = (perBooking.get(booking_id) ?? 0) + 1
    perBooking.set(booking_id, count)
    open += 1
    most.inFlight = Math.max(most.inFlight, open)
    most.ofBooking = Math.max(most.ofBooking, count)
    await gate.promise
    open -= 1
    perBooking.set(booking_id, count - 1)
    return new Response()
  })
  const quick = startReceiver(context)
  const [hanging, well] = [
    await hookedPartner(service, slow.url),
    await hookedPartner(service, quick.url, ['booking.changed']),
  ]
  const { booking_id } = hanging
  await hanging.actor.send('POST', `/v1/bookings/${booking_id}/confirm`)
  for (let count = 0; count < 12; count += 1) await hanging.book()
  for (const text of ['one', 'two', 'three'])
    await hanging.actor.send('POST', `/v1/bookings/${booking_id}/messages`, { body: { message: { text } } })
  await expect.poll(() => slow.received.length).toBe(10)
  await well.book()
  await expect.poll(() => quick.received.length).toBe(1)
  expect(slow.received).toHaveLength(10)
  gate.resolve()
  // 13 changes of bookings and 3 messages: messages never merge.
  await expect.poll(() => slow.received.length).toBe(16)
  expect(most).toEqual({ inFlight: 10, ofBooking: 1 })
  const ids = slow.received.flatMap(({ hint }) => hint.data.message_id ?? [])
  expect(new Set(ids).size).toBe(3)
})
