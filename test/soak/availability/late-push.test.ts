import { expect, test } from 'vitest'
import { addDays } from '../../../src/core/clock.ts'
import { seedBooking, testApp } from '../../support/app.ts'
import { soakFactor } from '../../support/soak.ts'

const service = await testApp()
const path = '/v1/integrations/provider_one'
const rounds = 200 * soakFactor

/** Pushes a count of one unit late, after a guest has booked the night in between, and books the night again. */
async function sellLate(isInformed: boolean) {
  const actor = await service.actor()
  const { user_id, listing_id, room_type_id } = await seedBooking(actor)
  const unit = { listing_id, room_type_id }
  const outcomes = { soldTwice: 0, noticed: 0 }
  let as_of: string = (await actor.send('GET', `${path}/bookings`)).body.data.Bookings.at(-1).version
  for (let round = 0; round < rounds; round += 1) {
    const checkin_at = addDays('2030-01-01', round)
    const stay = { ...unit, user_id, checkin_at, checkout_at: addDays(checkin_at, 1) }
    const push = (more: object) => {
      const item = { ...unit, available: 1, start_date: checkin_at, end_date: checkin_at, ...more }
      return actor.send('POST', `${path}/availability`, { body: { data: [item] } })
    }
    await push({})
    const first = await actor.send('POST', '/v1/bookings', { body: stay })
    expect(first.status).toBe(201)
    const { status, body } = await push(isInformed ? { as_of } : {})
    expect(status).toBe(200)
    if (body.meta.newest_version > as_of) outcomes.noticed += 1
    const again = await actor.send('POST', '/v1/bookings', { body: stay })
    if (again.status === 201) outcomes.soldTwice += 1
    as_of = (await push({ available: 0 })).body.meta.newest_version
  }
  return outcomes
}

test(`in ${rounds} rounds, a late push sells no night twice if it has "as_of", and every one if not, of which the response tells`, async () => {
  expect(await sellLate(true)).toEqual({ soldTwice: 0, noticed: rounds })
  expect(await sellLate(false)).toEqual({ soldTwice: rounds, noticed: rounds })
})
