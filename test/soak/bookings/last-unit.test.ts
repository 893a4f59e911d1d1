import { afterAll, expect, test } from 'vitest'
import { seedBooking, sender, testApp, testEnvironment } from '../../support/app.ts'
import { startService } from '../../support/processes.ts'
import { soakFactor } from '../../support/soak.ts'

const service = await testApp()
const processes = await Promise.all([startService(testEnvironment()), startService(testEnvironment())])
afterAll(() => Promise.all(processes.map((process) => process.stop())))

/** Number of rounds, multiplied by the soak factor. */
const rounds = 12 * soakFactor

test(`cancellations that race bookings for the last unit never oversell or lose it in ${rounds} rounds`, async () => {
  const actor = await service.actor()
  const { user_id, listing_id, room_type_id } = await seedBooking(actor)
  const unit = { listing_id, room_type_id }
  const range = { ...unit, available: 1, start_date: '2032-01-01', end_date: '2032-12-31' }
  await actor.send('POST', '/v1/integrations/provider_one/availability', { body: { data: [range] } })
  const stay = { ...unit, user_id, checkin_at: '2032-03-01', checkout_at: '2032-03-10' }
  const senders = processes.map(({ url }) => sender(fetch, url))
  const ask = (index: number, path: string, body: object) =>
    (senders[index % 2] as (typeof senders)[0])('POST', path, { key: actor.key, body })
  let holder = (await actor.send('POST', '/v1/bookings', { body: stay })).body.data.booking_id as number
  for (let round = 0; round < rounds; round += 1) {
    const [cancelled, ...created] = await Promise.all([
      ask(round, `/v1/bookings/${holder}/cancel`, {}),
      ...Array.from({ length: 4 }, (_, index) => ask(index, '/v1/bookings', stay)),
    ])
    expect(cancelled.status).toBe(200)
    const made = created.filter(({ status }) => status === 201)
    expect(made.length).toBeLessThanOrEqual(1)
    // If the service handled all creates before the cancel, the unit is free now.
    const [next = await actor.send('POST', '/v1/bookings', { body: stay })] = made
    expect(next.status).toBe(201)
    expect((await actor.send('POST', '/v1/bookings', { body: stay })).status).toBe(422)
    holder = next.body.data.booking_id
  }
})
