import { expect, test } from 'vitest'
import type { WebhookWorker } from '../../../src/changes/webhooks/send/worker.ts'
import { sender, testApp } from '../../support/app.ts'
import { hookSettings } from '../../support/hook-services.ts'
import { startReceiver } from '../../support/receiver.ts'
import { deliveriesOf, hookedPartner } from '../../support/webhooks.ts'

test("a process that takes over waits for the previous leader's attempts, so that a booking never has two hints in flight", async (context) => {
  const apart = await hookSettings()
  const first = await testApp(apart)
  const answer = Promise.withResolvers<void>()
  const { url, received } = startReceiver(context, async (_, count) => {
    if (count === 2) await answer.promise
    return new Response()
  })
  const { actor, id, book, stay } = await hookedPartner(first, url, ['booking.changed'])
  const before = (await book()).body.data.booking_id
  await expect.poll(() => received.length).toBe(1)
  // The first service leads now, so the second can start, which may take long, before the attempt's 15 s begin.
  const second = await testApp(apart)
  const booking = (await book()).body.data.booking_id
  await expect.poll(() => received.length).toBe(2)
  const stopping = (first.live.webhooks as WebhookWorker).stop()
  const send = sender((request) => second.app.handle(request))
  await send('POST', `/v1/bookings/${booking}/confirm`, { key: actor.key })
  await stopping
  const other = (await send('POST', '/v1/bookings', { key: actor.key, body: stay })).body.data.booking_id
  const hinted = () => received.map(({ hint }) => hint.data.booking_id)
  await expect.poll(() => received.length).toBe(3)
  expect(hinted()).toEqual([before, booking, other])
  answer.resolve()
  await expect.poll(hinted).toEqual([before, booking, other, booking])
  await expect
    .poll(async () => (await deliveriesOf(actor, id)).map(({ status }: { status: string }) => status))
    .toEqual(['delivered', 'delivered', 'delivered', 'delivered'])
})
