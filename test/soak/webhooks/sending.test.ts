import { test } from 'vitest'
import { webhookDeliveryModel, webhookModel } from '../../../src/changes/webhooks/model.ts'
import { postHint } from '../../../src/changes/webhooks/send/post.ts'
import { hostClockModel } from '../../../src/host-clock/model.ts'
import { bookingModel } from '../../../src/stays/bookings/model.ts'
import { sender, testApp, testEnvironment } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { partnerctl, startService } from '../../support/processes.ts'
import { startReceiver } from '../../support/receiver.ts'
import { soakFactor } from '../../support/soak.ts'
import { hookedPartner } from '../../support/webhooks.ts'

const path = '/v1/webhooks'
const settings = async () => ({
  MONGODB_URL: `${await ownDatabase()}&monitorCommands=true`,
  WEBHOOKS_ALLOW_PRIVATE: 'on',
})
const service = await testApp(await settings())
const environment = testEnvironment(await settings())
test.concurrent('a hint of a killed process is retried within 30 seconds by another process', async (context) => {
  const { expect } = context
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

test.concurrent('a post to a server that never responds is abandoned after 15 s, and nothing is sent after that', async (context) => {
  const { expect } = context
  const { url } = startReceiver(context, () => new Promise<Response>(() => {}))
  const late = startReceiver(context)
  const lookup = async () => {
    await Bun.sleep(15_500)
    return ['127.0.0.1']
  }
  const named = late.url.replace('127.0.0.1', 'late.example')
  const send = (to: string) =>
    postHint({ url: new URL(to), headers: {}, body: '{}', allowsPrivate: true, lookup })
  for (const sent of await Promise.all([send(url), send(named)])) {
    expect(sent).toMatchObject({ status: null, failure: 'timeout' })
    expect(sent.milliseconds).toBeGreaterThan(14_000)
    expect(sent.milliseconds).toBeLessThan(30_000)
  }
  await Bun.sleep(1500)
  expect(late.received).toEqual([])
})

test.concurrent("at most ten hints are in flight per webhook and one per booking, and other hosts' hints do not wait", async (context) => {
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
  const hanging = await hookedPartner(service, slow.url)
  const well = await hookedPartner(service, quick.url, ['booking.changed'])
  const { booking_id } = hanging
  await hanging.actor.send('POST', `/v1/bookings/${booking_id}/confirm`)
  for (let count = 0; count < 12; count += 1) await hanging.book()
  for (const text of ['one', 'two', 'three'])
    await hanging.actor.send('POST', `/v1/bookings/${booking_id}/messages`, { body: { message: { text } } })
  await expect.poll(() => slow.received.length).toBe(10)
  await well.book()
  await expect.poll(() => quick.received.length).toBe(1)
  expect(slow.received).toHaveLength(10)
  // While all ten posts hang, the sender does not keep querying the database.
  let looks = 0
  const note = ({ command }: { command: { find?: string; filter?: { owner_id?: { $in?: number[] } } } }) => {
    const hosts = command.find === 'webhooks' ? command.filter?.owner_id?.$in : undefined
    if (hosts?.includes(hanging.actor.hostId)) looks += 1
  }
  service.live.db.getClient().on('commandStarted', note)
  await Bun.sleep(3000)
  service.live.db.getClient().off('commandStarted', note)
  expect(looks).toBeLessThan(20)
  gate.resolve()
  // 13 bookings and 3 messages, because each message gets its own hint.
  await expect.poll(() => slow.received.length).toBe(16)
  expect(most).toEqual({ inFlight: 10, ofBooking: 1 })
  const ids = slow.received.map(({ hint }) => hint.data.message_id)
  expect(new Set(ids.filter((id) => id !== undefined)).size).toBe(3)
})

test('a webhook gets at most twenty attempts a second, however many hints wait', async (context) => {
  const { expect } = context
  const times: number[] = []
  const { url } = startReceiver(context, () => {
    times.push(performance.now())
    return new Response()
  })
  const { actor, id, book } = await hookedPartner(service, url, ['booking.changed'])
  await actor.send('PATCH', `${path}/${id}`, { body: { enabled: false } })
  await Promise.all(Array.from({ length: 99 }, book))
  // Makes all of these bookings new to the webhook.
  await actor.send('PATCH', `${path}/${id}`, { body: { enabled: true } })
  await webhookModel(service.live.db).updateOne({ id }, { bookings_seen: new Date(0) })
  await book()
  await expect.poll(() => times.length).toBe(101)
  // Posts that are sent over one second may arrive within a shorter time.
  for (const [index, time] of times.entries())
    expect((times[index + 30] ?? Number.POSITIVE_INFINITY) - time).toBeGreaterThan(1000)
})

test('one process with at most a thousand concurrent posts sends hints to thousands of webhooks', async (context) => {
  const { expect } = context
  const webhooks = 2000 * Math.min(5, soakFactor)
  const { db, liveDb } = service.live
  expect(liveDb).toBe(db)
  const hinted = new Map<string, number>()
  const { url } = startReceiver(context, ({ body }) => {
    const { listing_id } = JSON.parse(body).data
    hinted.set(listing_id, (hinted.get(listing_id) ?? 0) + 1)
    return new Response()
  })
  const { id, actor } = await hookedPartner(service, url, ['booking.changed'])
  const webhook = await webhookModel(db).findOne({ id }, { _id: 0 }).lean().orFail()
  const booking = await bookingModel(db).findOne({ owner_id: actor.hostId }, { _id: 0 }).lean().orFail()
  const now = Math.floor(Date.now() / 1000)
  const hosts = Array.from({ length: webhooks }, (_, index) => 5_000_000 + index)
  const idle = { bookings_seen: new Date(now * 1000) }
  await webhookModel(db).insertMany(
    hosts.map((owner_id) => ({ ...webhook, ...idle, owner_id, id: owner_id })),
  )
  await bookingModel(db).insertMany(
    hosts.map((owner_id) => ({
      ...booking,
      owner_id,
      id: owner_id,
      listing_id: owner_id,
      updated_at: new Date((now + 1) * 1000),
    })),
  )
  const clocks = hosts.map((_id) => ({ _id, last: now, messages_last: now, sequence: 1 }))
  await hostClockModel(db).insertMany(clocks)
  const start = performance.now()
  await hostClockModel(db).updateMany({ _id: { $gte: 5_000_000 } }, { $set: { last: now + 1 } })
  await expect.poll(() => hinted.size, { timeout: 1_200_000, interval: 200 }).toBe(webhooks)
  console.log(`${webhooks} webhooks hinted after ${((performance.now() - start) / 1000).toFixed(1)} s`)
  expect([...hinted.values()].every((count) => count === 1)).toBe(true)
  await expect.poll(() => webhookDeliveryModel(db).countDocuments({ status: 'waiting' })).toBe(0)
}, 1_500_000)

test.concurrent('a sandbox cannot flood an origin: five webhooks, scenarios and the clock cause ten posts a second', async (context) => {
  const { expect } = context
  const at: number[] = []
  const { url } = startReceiver(context, () => {
    at.push(performance.now())
    return new Response(null, { status: 500 })
  })
  const actor = await service.actor()
  for (let path = 0; path < 5; path += 1) {
    const webhook = { url: url.replace('/hooks', `/${path}`), events: ['message.created'] }
    expect((await actor.send('POST', '/sandbox/webhooks', { body: webhook })).status).toBe(201)
  }
  await actor.send('POST', '/sandbox/scenarios/guest-writes', { body: { count: 100 } })
  // Each advance makes all failed hints due, which would cause 500 posts within milliseconds if there were no limit.
  for (let times = 0; times < 5; times += 1) {
    await Bun.sleep(2000)
    await actor.send('POST', '/sandbox/clock', { body: { advance_seconds: 3600 } })
  }
  const [first = 0] = at
  const seconds = (performance.now() - first) / 1000
  expect(at.length).toBeGreaterThan(50)
  expect(at.length).toBeLessThanOrEqual(10 * (seconds + 1))
})
