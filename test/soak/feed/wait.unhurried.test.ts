import { expect, test } from 'vitest'
import { seedBooking, sender, testApp, testEnvironment } from '../../support/app.ts'
import { startService } from '../../support/processes.ts'
import { controlOf, millisecondsOf } from '../../support/soak.ts'

const service = await testApp()

test('a poll waits its full time and at most a second longer without sending a byte, and ends immediately if its process shuts down', async () => {
  const process = await startService(testEnvironment())
  const actor = await service.actor()
  await seedBooking(actor)
  const feed = '/v1/integrations/provider_one/bookings'
  const { body } = await actor.send('GET', feed)
  const after = encodeURIComponent(body.data.Bookings.at(-1).version)
  const poll = async (wait: number) => {
    const path = `${feed}?updated_after=${after}&wait=${wait}`
    expect((await sender(fetch, process.url)('GET', path, { key: actor.key })).status).toBe(200)
  }
  const control = await controlOf(() => poll(0))
  for (const seconds of [1, 2, 14]) {
    const taken = await millisecondsOf(() => poll(seconds))
    expect(taken).toBeGreaterThan(seconds * 1000 - 50)
    expect(taken).toBeLessThan((seconds + 1) * 1000 + 20 * control)
  }
  const held = poll(25)
  await Bun.sleep(500)
  const ended = process.end('SIGTERM')
  expect(await millisecondsOf(() => held)).toBeLessThan(1000 + 50 * control)
  expect(await ended).toBe(0)
})
