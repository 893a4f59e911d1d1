import { type Actor, seedBooking } from './app.ts'
import { storeCertification } from './certification.ts'
import { readFixture } from './fixtures.ts'

/** Returns, for each route with a body, its path for an actor and a function that returns a body it accepts. */
export async function validBodies(
  actor: Actor,
  prefix: '/v1' | '/sandbox' = '/v1',
): Promise<Record<string, { path: string; body: () => object }>> {
  const { user_id, listing_id, room_type_id, booking_id } = await seedBooking(actor, prefix)
  const [user, listing] = [await readFixture('users/maria'), await readFixture('listings/barcelona-house')]
  const unit = { listing_id, room_type_id }
  const webhook = { url: 'https://hooks.invalid/', events: ['booking.changed', 'message.created'] }
  const { body: made } = await actor.send('POST', `${prefix}/webhooks`, { body: webhook })
  const webhookPath = `${prefix}/webhooks/${made.data.id}`
  // The example webhook must not receive any hints.
  await actor.send('PATCH', webhookPath, { body: { enabled: false } })
  // A running certification prevents the start of another one, which would clear the sandbox.
  const running = prefix === '/sandbox' ? await storeCertification(actor.db, actor, 'asked') : null
  let count = 0
  return {
    [`POST ${prefix}/users`]: {
      path: `${prefix}/users`,
      body: () => ({ ...user, email: `v${count++}@example.com` }),
    },
    [`POST ${prefix}/listings`]: { path: `${prefix}/listings`, body: () => listing },
    [`PATCH ${prefix}/listings/:id`]: {
      path: `${prefix}/listings/${listing_id}`,
      body: () => ({ ...listing, room_types: [{ id: room_type_id, name: 'N' }] }),
    },
    [`POST ${prefix}/bookings`]: {
      path: `${prefix}/bookings`,
      body: () => ({ ...unit, user_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01', message: 'Hi' }),
    },
    [`POST ${prefix}/bookings/:booking_id/confirm`]: {
      path: `${prefix}/bookings/${booking_id}/confirm`,
      body: () => ({}),
    },
    [`POST ${prefix}/bookings/:booking_id/cancel`]: {
      path: `${prefix}/bookings/${booking_id}/cancel`,
      body: () => ({ reason: 'Guest fell ill' }),
    },
    [`POST ${prefix}/bookings/:booking_id/messages`]: {
      path: `${prefix}/bookings/${booking_id}/messages`,
      body: () => ({ message: { text: 'Hi' } }),
    },
    ...(prefix === '/sandbox'
      ? {
          [`POST ${prefix}/bookings/:booking_id/messages/guest`]: {
            path: `${prefix}/bookings/${booking_id}/messages/guest`,
            body: () => ({ message: { text: 'Hi' } }),
          },
          [`POST ${prefix}/scenarios/:name`]: {
            path: `${prefix}/scenarios/guest-books`,
            body: () => ({ listing_id: 2002, count: 1, checkin_at: '2033-01-01' }),
          },
          [`POST ${prefix}/clock`]: { path: `${prefix}/clock`, body: () => ({ advance_seconds: 1 }) },
          [`POST ${prefix}/certifications`]: {
            path: `${prefix}/certifications`,
            body: () => ({ profiles: ['webhooks'], seed: 'valid' }),
          },
          [`PUT ${prefix}/certifications/:id/state`]: {
            path: `${prefix}/certifications/${running}/state`,
            body: () => ({ bookings: [] }),
          },
          [`PUT ${prefix}/faults`]: { path: `${prefix}/faults`, body: () => ({ rules: [] }) },
        }
      : {}),
    ...Object.fromEntries(
      ['bookings', 'messages'].map((feed) => [
        `PUT ${prefix}/integrations/:provider/${feed}/consumers/:name`,
        {
          path: `${prefix}/integrations/provider_one/${feed}/consumers/sync`,
          body: () => ({ acknowledged: null, seek: false }),
        },
      ]),
    ),
    [`POST ${prefix}/integrations/:provider/provider-key`]: {
      path: `${prefix}/integrations/provider_one/provider-key`,
      body: () => ({ provider_api_key: `key-of-${actor.hostId}` }),
    },
    [`POST ${prefix}/integrations/:provider/availability`]: {
      path: `${prefix}/integrations/provider_one/availability`,
      body: () => ({ data: [{ ...unit, available: 5, start_date: '2032-01-01', end_date: '2032-01-31' }] }),
    },
    [`POST ${prefix}/integrations/:provider/rates`]: {
      path: `${prefix}/integrations/provider_one/rates`,
      body: () => ({ data: [{ ...unit, base_price: 5, currency: 'EUR', price_jan: 6 }] }),
    },
    [`POST ${prefix}/webhooks`]: { path: `${prefix}/webhooks`, body: () => webhook },
    [`PATCH ${prefix}/webhooks/:id`]: { path: webhookPath, body: () => ({ ...webhook, enabled: false }) },
  }
}
