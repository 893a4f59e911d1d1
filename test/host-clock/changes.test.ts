import { expect, onTestFinished, test } from 'vitest'
import { seedBooking, testApp } from '../support/app.ts'

const service = await testApp()

test('a watch is told of each change, however many come', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  const watch = service.live.changes.watch(actor.hostId, 'messages_last')
  onTestFinished(() => watch.end())
  // The first watch of a process opens its change stream, after which whatever is watched counts as moved once.
  for (const text of ['One', 'Two', 'Three']) {
    await actor.send('POST', `/v1/bookings/${booking_id}/messages`, { body: { message: { text } } })
    expect(await watch.next()).toBe('moved')
  }
})
