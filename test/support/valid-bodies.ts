import type { Actor } from './app.ts'
import { storeCertification } from './certification.ts'
import { readFixture } from './fixtures.ts'
import { fillOwn, makeOwnIds, type OwnIds, type Prefix, withOwnIds } from './routes.ts'

/** The documentation of one operation, as far as its body is concerned. */
interface Documented {
  requestBody?: { content: { 'application/json': { example?: object } } }
}

/**
 * The writes after which a booking no longer takes all of the others, in an order in which one booking takes them all. In
 * the shared tests, each of them has a booking of its own, so that the order of the routes does not matter, and none is
 * repeated; the examples of the documentation are recorded in this order, after all that shows a booking.
 */
export const endingWrites: string[] = [
  'POST /bookings/{booking_id}/confirm',
  'POST /bookings/{booking_id}/cancel',
]

/**
 * Returns, for each route with a body, its path for an actor and a function that returns a body it accepts: the example
 * of the documentation with the actor's own ids, changed by {@link changes} if a test could not send the example itself.
 *
 * @param ids the actor's ids for all routes; by default, the ids of new resources, and a booking for each of the
 * {@link endingWrites}
 */
export async function validBodies(
  actor: Actor,
  prefix: Prefix = '/v1',
  ids?: OwnIds,
): Promise<Record<string, { path: string; body: () => object }>> {
  const common = ids ?? (await ownIdsForWrites(actor, prefix))
  const changesOf = await changes(actor, common)
  const bookings = ids ? {} : await bookingsToEnd(actor, prefix, common)
  const { paths } = (await actor.send('GET', '/openapi.json')).body
  const bodies: Awaited<ReturnType<typeof validBodies>> = {}
  for (const [path, methods] of Object.entries<Record<string, Documented>>(paths)) {
    if (!path.startsWith(`${prefix}/`)) continue
    for (const [method, { requestBody }] of Object.entries(methods)) {
      if (!requestBody) continue
      const name = `${method.toUpperCase()} ${path.slice(prefix.length)}`
      const example = requestBody.content['application/json'].example
      if (!example)
        throw new Error(
          `${name} has no example body: add one to \`requests\` in test/scripts/record-examples.ts`,
        )
      const own = { ...common, ...bookings[name] }
      const route = path.replace(/\{(\w+)\}/g, ':$1')
      bodies[`${method.toUpperCase()} ${route}`] = {
        path: fillOwn(route, own),
        body: () => ({ ...withOwnIds(example, own), ...changesOf[name]?.() }),
      }
    }
  }
  return bodies
}

/** Makes a booking for each of the {@link endingWrites}. */
async function bookingsToEnd(actor: Actor, prefix: Prefix, own: OwnIds): Promise<Record<string, OwnIds>> {
  const { users: user_id, listings: listing_id, room_types: room_type_id } = own
  const stay = { checkin_at: '2034-01-01', checkout_at: '2034-02-01' }
  const bookings: Record<string, OwnIds> = {}
  for (const name of endingWrites) {
    const body = { ...stay, user_id, listing_id, room_type_id }
    const booking = await actor.send('POST', `${prefix}/bookings`, { body })
    bookings[name] = { bookings: booking.body.data.booking_id }
  }
  return bookings
}

async function ownIdsForWrites(actor: Actor, prefix: Prefix): Promise<OwnIds> {
  const own = await makeOwnIds(actor, prefix)
  // The webhook must not receive any hints.
  await actor.send('PATCH', `${prefix}/webhooks/${own.webhooks}`, { body: { enabled: false } })
  if (prefix === '/v1') return own
  // A running certification prevents the start of another one, which would clear the sandbox.
  return { ...own, certifications: await storeCertification(actor.db, actor, 'asked') }
}

let count = 0

/**
 * The fields in which a body must differ from its example: because they must be unique, because a write would change the
 * outcome of the others, or because the example lacks fields that the tests attack.
 */
async function changes({ hostId }: Actor, own: OwnIds): Promise<Record<string, () => object>> {
  const listing = await readFixture('listings/barcelona-house')
  const url = 'https://hooks.invalid/'
  const anyStay = { checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const range = { available: 5, start_date: '2032-01-01', end_date: '2032-01-31' }
  const unit = { listing_id: own.listings, room_type_id: own.room_types }
  const consumer = () => ({ seek: false })
  return {
    'POST /users': () => {
      count += 1
      return { email: `v${count}@example.com` }
    },
    'POST /listings': () => listing,
    'PATCH /listings/{id}': () => ({ ...listing, room_types: [{ id: own.room_types, name: 'N' }] }),
    'POST /bookings': () => anyStay,
    'POST /integrations/{provider}/provider-key': () => ({ provider_api_key: `key-of-${hostId}` }),
    'POST /integrations/{provider}/availability': () => ({ data: [{ ...unit, ...range }] }),
    // Without it, a calendar may be read once a minute.
    'POST /integrations/{provider}/calendars/{room_id}/read': () => ({ accept: true }),
    'POST /integrations/{provider}/calendars/check': () => ({ room_id: own.calendars }),
    'PUT /integrations/{provider}/bookings/consumers/{name}': consumer,
    'PUT /integrations/{provider}/messages/consumers/{name}': consumer,
    'POST /webhooks': () => ({ url }),
    'PATCH /webhooks/{id}': () => ({ url, enabled: false }),
    'POST /scenarios/{name}': () => ({ listing_id: 2002, checkin_at: '2033-01-01' }),
    'POST /clock': () => ({ advance_seconds: 1 }),
    'PUT /faults': () => ({ rules: [] }),
    'PUT /certifications/{id}/state': () => ({ bookings: [] }),
  }
}
