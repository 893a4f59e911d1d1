import { type TestContext, test } from 'vitest'
import { testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { startReceiver } from '../../support/receiver.ts'
import { deliveriesOf, hookedPartner } from '../../support/webhooks.ts'

const path = '/v1/webhooks'
const service = await testApp({ MONGODB_URL: await ownDatabase(), WEBHOOKS_ALLOW_PRIVATE: 'on' })

/** Creates a host with two webhooks: one holds ten attempts open, the other has received the hints of 14 bookings. */
async function withBacklog(context: TestContext) {
  const { expect } = context
  const gate = Promise.withResolvers<void>()
  const slow = startReceiver(context, async () => {
    await gate.promise
    return new Response()
  })
  const well = startReceiver(context)
  const { actor, id, book } = await hookedPartner(service, slow.url, ['booking.changed'])
  await actor.send('POST', path, { body: { url: well.url, events: ['booking.changed'] } })
  const made: number[] = []
  while (made.length < 14) made.push((await book()).body.data.booking_id)
  await expect.poll(() => well.received.length).toBe(14)
  await expect.poll(() => slow.received.length).toBe(10)
  const bookings = () => slow.received.map(({ hint }) => hint.data.booking_id)
  return { actor, id, book, made, gate, slow, bookings }
}

test.concurrent('changes for which no attempt can begin wait in the feed, and are sent as soon as an attempt may begin', async (context) => {
  const { expect } = context
  const { actor, id, made, gate, slow, bookings } = await withBacklog(context)
  // The healthy webhook got all 14 hints, so the service has read all changes, but it has stored only ten deliveries for the slow webhook.
  const inProgress = { status: 'waiting', attempts: 1, next_attempt_at: null }
  expect(await deliveriesOf(actor, id)).toMatchObject(Array(10).fill(inProgress))
  // A booking that changes while it waits gets one hint, with its newest version.
  await actor.send('POST', `/v1/bookings/${made[13]}/confirm`)
  const feed = await actor.send('GET', '/v1/integrations/provider_one/bookings')
  const { booking_id, version } = feed.body.data.Bookings.at(-1)
  expect(booking_id).toBe(made[13])
  gate.resolve()
  await expect.poll(() => bookings().length).toBe(14)
  expect(bookings()).toEqual(made)
  await expect
    .poll(async () => (await deliveriesOf(actor, id)).map(({ status }: { status: string }) => status))
    .toEqual(Array(14).fill('delivered'))
  expect(slow.received.filter(({ hint }) => hint.data.version === version)).toHaveLength(1)
})

test.concurrent('changes that wait in the feed are not sent to a new origin', async (context) => {
  const { expect } = context
  const { actor, id, book, gate } = await withBacklog(context)
  const next = startReceiver(context)
  const moved = await actor.send('PATCH', `${path}/${id}`, { body: { url: next.url } })
  expect(moved.body.meta.gap.bookings_after).toMatch(/^\d{4}-/)
  gate.resolve()
  const { booking_id } = (await book()).body.data
  await expect.poll(() => next.received.map(({ hint }) => hint.data.booking_id)).toEqual([booking_id])
})

test.concurrent('the attempts of a webhook that is turned off and on count until they end', async (context) => {
  const { expect } = context
  const { actor, id, book, made, gate, slow, bookings } = await withBacklog(context)
  await actor.send('PATCH', `${path}/${id}`, { body: { enabled: false } })
  await actor.send('PATCH', `${path}/${id}`, { body: { enabled: true } })
  await actor.send('POST', `/v1/bookings/${made[0]}/confirm`)
  const { booking_id } = (await book()).body.data
  const feed = await actor.send('GET', '/v1/integrations/provider_one/bookings')
  expect(feed.body.data.Bookings.at(-1).booking_id).toBe(booking_id)
  expect(slow.received).toHaveLength(10)
  gate.resolve()
  await expect.poll(() => bookings().slice(10).sort()).toEqual([made[0], booking_id].sort())
})
