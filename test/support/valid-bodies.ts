import { type Actor, seedBooking } from './app.ts'
import { readFixture } from './fixtures.ts'

/** A body that each route accepts, and a path to send it to, for one actor. */
export async function validBodies(
  actor: Actor,
): Promise<Record<string, { path: string; body: () => object }>> {
  const { user_id, listing_id, room_type_id, booking_id } = await seedBooking(actor)
  const [user, listing] = [await readFixture('users/maria'), await readFixture('listings/barcelona-house')]
  const unit = { listing_id, room_type_id }
  let count = 0
  return {
    'POST /v1/users': { path: '/v1/users', body: () => ({ ...user, email: `v${count++}@example.com` }) },
    'POST /v1/listings': { path: '/v1/listings', body: () => listing },
    'PATCH /v1/listings/:id': {
      path: `/v1/listings/${listing_id}`,
      body: () => ({ ...listing, room_types: [{ id: room_type_id, name: 'N' }] }),
    },
    'POST /v1/bookings': {
      path: '/v1/bookings',
      body: () => ({ ...unit, user_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01', message: 'Hi' }),
    },
    'POST /v1/bookings/:booking_id/messages': {
      path: `/v1/bookings/${booking_id}/messages`,
      body: () => ({ message: { text: 'Hi' } }),
    },
    'POST /v1/integrations/:provider/provider-key': {
      path: '/v1/integrations/provider_one/provider-key',
      body: () => ({ provider_api_key: `key-of-${actor.hostId}` }),
    },
    'POST /v1/integrations/:provider/availability': {
      path: '/v1/integrations/provider_one/availability',
      body: () => ({ data: [{ ...unit, available: 5, start_date: '2032-01-01', end_date: '2032-01-31' }] }),
    },
    'POST /v1/integrations/:provider/rates': {
      path: '/v1/integrations/provider_one/rates',
      body: () => ({ data: [{ ...unit, base_price: 5, currency: 'EUR', price_jan: 6 }] }),
    },
  }
}
