import { expect } from 'vitest'
import { type Actor, seedBooking, type TestApp } from './app.ts'

const path = '/v1/webhooks'

/** Both types of event. */
export const bothEvents = ['booking.changed', 'message.created']

/** Creates a partner with a booking and a webhook. */
export async function hookedPartner(service: Pick<TestApp, 'actor'>, url: string, events = bothEvents) {
  const actor = await service.actor()
  const { booking_id, user_id, listing_id, room_type_id } = await seedBooking(actor)
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const created = await actor.send('POST', path, { body: { url, events } })
  expect(created.status).toBe(201)
  const { id, secret } = created.body.data
  return {
    actor,
    booking_id,
    stay,
    id,
    secret,
    book: () => actor.send('POST', '/v1/bookings', { body: stay }),
  }
}

/** Returns the deliveries of a webhook, newest first. */
export async function deliveriesOf(actor: Actor, id: number) {
  return (await actor.send('GET', `${path}/${id}/deliveries`)).body.data
}
