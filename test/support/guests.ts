import { expect } from 'vitest'
import { adminJson } from './admin.ts'
import type { Actor, TestApp } from './app.ts'
import { readFixture } from './fixtures.ts'

let canaries = 0
/** Returns text that occurs nowhere else. */
export const canary = (what: string) => {
  canaries += 1
  return `Canary${what}${canaries}${crypto.randomUUID().replaceAll('-', '')}`
}

/**
 * Creates a guest with a canary in every stored personal field. The guest has written a message and got a reply.
 *
 * @param administer runs an administrator's command on the same database
 */
export async function makeGuest(
  actor: Pick<Actor, 'send'>,
  stay = { checkin_at: '2031-01-01', checkout_at: '2031-02-01' },
  administer: (...args: string[]) => Promise<unknown> = adminJson,
) {
  const made: string[] = []
  const fresh = (what: string) => {
    made.push(canary(what))
    return made.at(-1) as string
  }
  const keyed = (name: string) => ({ headers: { 'idempotency-key': fresh(name) } })
  const email = `${fresh('Mail').toLowerCase()}@example.com`
  made[0] = email
  const person = {
    email,
    first_name: fresh('First'),
    last_name: fresh('Last'),
    city: fresh('City'),
    country: fresh('Country'),
    gender: fresh('Gender'),
    phone: '+34612345678',
    date_of_birth: '1990-05-17',
    password: fresh('Password'),
  }
  const created = { body: person, ...keyed('KeyOfUser') }
  const user = await actor.send('POST', '/v1/users', created)
  expect(user.status).toBe(201)
  const { user_id } = user.body.data
  const listing = await actor.send('POST', '/v1/listings', {
    body: { ...(await readFixture('listings/barcelona-house')), name: `House ${crypto.randomUUID()}` },
  })
  const full = await actor.send('GET', `/v1/listings/${listing.body.data.id}`)
  const place = { listing_id: listing.body.data.id, room_type_id: full.body.data.room_types[0].id }
  const booked = { body: { user_id, ...place, ...stay, message: fresh('Request') }, ...keyed('KeyOfBooking') }
  const booking = await actor.send('POST', '/v1/bookings', booked)
  const { booking_id } = booking.body.data
  const path = `/v1/bookings/${booking_id}`
  await actor.send('POST', `${path}/messages`, { body: { message: { text: fresh('Letter') } } })
  await administer('conversations', 'reply', String(booking_id), '--text', fresh('Reply'))
  const confirmed = { body: {}, ...keyed('KeyOfConfirm') }
  await actor.send('POST', `${path}/confirm`, confirmed)
  const cancelled = { body: { reason: fresh('Reason') }, ...keyed('KeyOfCancel') }
  return { made, user_id, booking_id, place, email, created, booked, confirmed, cancelled, path }
}

/** Returns the collections of both databases that contain any of the texts. */
export async function findEverywhere(
  { live, sandbox }: { live: Pick<TestApp['live'], 'db'>; sandbox: Pick<TestApp['sandbox'], 'db'> },
  texts: string[],
): Promise<string[]> {
  const found: string[] = []
  for (const each of [live.db, sandbox.db])
    for (const { name } of await each.listCollections())
      for await (const document of each.collection(name).find()) {
        const json = JSON.stringify(document).toLowerCase()
        for (const text of texts) if (json.includes(text.toLowerCase())) found.push(`${name}: ${text}`)
      }
  return found
}
