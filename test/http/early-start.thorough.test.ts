import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rateLimitName } from '../../src/access/keys/authorizer.ts'
import { updateKey } from '../../src/access/keys/store.ts'
import { permissions } from '../../src/http/permissions.ts'
import { type Actor, seedBooking, type TestApp, testApp } from '../support/app.ts'
import { ownDatabase } from '../support/databases.ts'
import { acquaint, HeldLimiter, SentCommands } from '../support/held-limiter.ts'
import { runs } from '../support/soak.ts'

/*
 * Whatever comes first, the limiter's decision, the database, the body or a change of the key, a request that is begun
 * early has the answer and the effect that it has if its steps are taken one after the other.
 */
const MONGODB_URL = `${await ownDatabase()}&monitorCommands=true`
const early = await testApp({ MONGODB_URL })
const sequential = await testApp({ MONGODB_URL })
const provider = '/v1/integrations/provider_one'

/** Lets a service begin nothing early. */
function takeStepsInOrder({ live }: TestApp): void {
  const { authorizer } = live
  const authorize = authorizer.authorize.bind(authorizer)
  authorizer.authorize = (key, now, mayLookUp, { window } = {}) => authorize(key, now, mayLookUp, { window })
}
takeStepsInOrder(sequential)

/** A service, and what a test does to its requests. */
interface Side {
  service: TestApp
  limiter: HeldLimiter
  commands: SentCommands
}

const sideOf = (service: TestApp): Side => ({
  service,
  limiter: new HeldLimiter(service.live.rateLimiter),
  commands: new SentCommands(service.live),
})
const sides = [sideOf(early), sideOf(sequential)]

type Ids = Omit<Awaited<ReturnType<typeof seedBooking>>, 'listing' | 'booking'>

/** A request, with the ids of its host. */
interface Sent {
  method: string
  path: string
  headers?: Record<string, string>
  body?: object | string
}

const stayOf = ({ user_id, listing_id, room_type_id }: Ids) => ({
  user_id,
  listing_id,
  room_type_id,
  checkin_at: '2041-01-01',
  checkout_at: '2041-02-01',
})
const used = { 'idempotency-key': 'used' }

const requests: Record<string, (ids: Ids) => Sent> = {
  'a feed page': () => ({ method: 'GET', path: `${provider}/bookings` }),
  'a page that has a next one': () => ({ method: 'GET', path: `${provider}/bookings?per_page=1` }),
  'a poll that waits': () => ({
    method: 'GET',
    path: `${provider}/messages?wait=1&updated_after=2040-01-01 00:00:00`,
  }),
  'a poll of an unknown consumer': () => ({ method: 'GET', path: `${provider}/bookings?consumer=none` }),
  'a malformed query': () => ({ method: 'GET', path: `${provider}/bookings?per_page=x` }),
  'an unknown provider': () => ({ method: 'GET', path: '/v1/integrations/none/bookings' }),
  'the head of a page': () => ({ method: 'HEAD', path: `${provider}/bookings` }),
  'a page of listings': () => ({ method: 'GET', path: '/v1/listings' }),
  'a listing': ({ listing_id }) => ({ method: 'GET', path: `/v1/listings/${listing_id}` }),
  'an unknown booking': () => ({ method: 'GET', path: `${provider}/bookings/999999999` }),
  'the host': () => ({ method: 'GET', path: '/v1/me' }),
  'a booking': (ids) => ({ method: 'POST', path: '/v1/bookings', body: stayOf(ids) }),
  'a keyed booking': (ids) => ({
    method: 'POST',
    path: '/v1/bookings',
    body: stayOf(ids),
    headers: { 'idempotency-key': crypto.randomUUID() },
  }),
  'a replay': (ids) => ({ method: 'POST', path: '/v1/bookings', body: stayOf(ids), headers: used }),
  'a key with another body': (ids) => ({
    method: 'POST',
    path: '/v1/bookings',
    body: { ...stayOf(ids), checkout_at: '2041-03-01' },
    headers: used,
  }),
  'a booking of an unknown guest': (ids) => ({
    method: 'POST',
    path: '/v1/bookings',
    body: { ...stayOf(ids), user_id: 999_999_999 },
    headers: { 'idempotency-key': crypto.randomUUID() },
  }),
  'a malformed key': (ids) => ({
    method: 'POST',
    path: '/v1/bookings',
    body: stayOf(ids),
    headers: { 'idempotency-key': ' ' },
  }),
  'a malformed body': () => ({ method: 'POST', path: '/v1/bookings', body: '{' }),
  'a message': ({ booking_id }) => ({
    method: 'POST',
    path: `/v1/bookings/${booking_id}/messages`,
    body: { message: { text: 'New' } },
  }),
  'a repeated message': ({ booking_id }) => ({
    method: 'POST',
    path: `/v1/bookings/${booking_id}/messages`,
    body: { message: { text: 'Hello' } },
  }),
  'a message to nobody': () => ({
    method: 'POST',
    path: '/v1/bookings/999999999/messages',
    body: { message: { text: 'New' } },
  }),
  'a change of a name': ({ listing_id }) => ({
    method: 'PATCH',
    path: `/v1/listings/${listing_id}`,
    body: { title: 'Other', unknown: 1 },
  }),
  'a confirmation': ({ booking_id }) => ({ method: 'POST', path: `/v1/bookings/${booking_id}/confirm` }),
}

const changes: Record<string, Parameters<typeof updateKey>[2] | null> = {
  nothing: null,
  'its name': { name: 'Renamed' },
  'its permissions': { permissions: ['users.read'] },
  'its networks': { allowed_from: ['203.0.113.0/24'] },
  'that it is revoked': { active: false },
}

const interleavings = fc.record({
  request: fc.constantFrom(...Object.keys(requests)),
  change: fc.constantFrom(...Object.keys(changes), 'nothing', 'nothing'),
  isRefused: fc.boolean(),
  /** The database answers before the limiter decides; otherwise at about the same time. */
  isLimiterLast: fc.boolean(),
  /** When the body arrives. */
  body: fc.constantFrom('at once', 'before the decision', 'after the decision'),
})

type Interleaving = typeof interleavings extends fc.Arbitrary<infer T> ? T : never

/** Sends a request as an interleaving says, and returns everything that the client and the host can see of it. */
async function outcomeOf({ service, limiter, commands }: Side, interleaving: Interleaving) {
  const actor = await service.actor()
  const { listing: _, booking: __, ...ids } = await seedBooking(actor)
  await actor.send('POST', '/v1/bookings', { body: stayOf(ids), headers: used })
  await actor.send('POST', `/v1/bookings/${ids.booking_id}/messages`, {
    body: { message: { text: 'Hello' } },
  })
  if (service === early) await acquaint(service.live, actor.key)
  const sent = (requests[interleaving.request] as (ids: Ids) => Sent)(ids)
  const late = Promise.withResolvers<void>()
  const decision = limiter.hold()
  const answer = service.app.handle(
    toRequest(actor, sent, interleaving.body === 'at once' ? undefined : late),
  )
  await decision.asked
  if (interleaving.body === 'before the decision') late.resolve()
  if (interleaving.isLimiterLast) await commands.settle()
  const change = changes[interleaving.change]
  if (change) {
    await updateKey(service.live.db, String(actor.keyId), change)
    await service.live.rateLimiter.invalidate(rateLimitName(actor.keyId))
  }
  if (interleaving.isRefused) decision.refuse()
  else decision.decide()
  // A refusal waits for no body, so the body may arrive afterwards.
  if (interleaving.isRefused) await answer
  late.resolve()
  const response = await answer
  const text = await response.text()
  await commands.settle()
  await service.logged()
  return {
    status: response.status,
    headers: visible(response.headers),
    body: masked(text),
    effects: await effectsOf(service, actor, ids),
  }
}

/** Returns a request with a body that is there at once or arrives late. */
function toRequest(
  { key }: Actor,
  { method, path, headers = {}, body }: Sent,
  late: PromiseWithResolvers<void> | undefined,
): Request {
  const url = `http://localhost${path}`
  const withKey = { 'x-api-key': key, ...headers }
  if (body === undefined) return new Request(url, { method, headers: withKey })
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  if (!late) return new Request(url, { method, headers: withKey, body: text })
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await late.promise
      controller.enqueue(new TextEncoder().encode(text))
      controller.close()
    },
  })
  const length = { 'content-length': String(Buffer.byteLength(text)) }
  const init = { method, headers: { ...withKey, ...length }, body: stream, duplex: 'half' }
  return new Request(url, init)
}

const compared = ['content-type', 'retry-after', 'idempotent-replayed', 'cache-control', 'ratelimit-policy']

function visible(headers: Headers): Record<string, string | null> {
  return Object.fromEntries(compared.map((name) => [name, headers.get(name)]))
}

/** Returns a body without what differs between hosts and from one second to the next. */
function masked(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'uuid')
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+Z)?/g, 'time')
    .replaceAll(/"next_cursor":"[^"]*"/g, 'cursor')
    .replaceAll(/\d+/g, '#')
}

/** Returns what the request has changed, what is noted of it, and what the key's log says. */
async function effectsOf({ live }: TestApp, actor: Actor, { booking_id }: Ids) {
  const usable = { active: true, allowed_from: [], permissions: [...permissions] }
  await updateKey(live.db, String(actor.keyId), usable)
  await live.rateLimiter.invalidate(rateLimitName(actor.keyId))
  const { feeds } = (await actor.send('GET', '/v1/health')).body.data
  const log = (await actor.send('GET', '/v1/requests?per_page=1')).body.data
  const feed = await actor.send('GET', `${provider}/bookings`)
  const messages = await actor.send('GET', `/v1/bookings/${booking_id}/messages`)
  const listings = await actor.send('GET', '/v1/listings')
  return {
    hasReadBookings: feeds.bookings.read_at !== null,
    hasReadMessages: feeds.messages.read_at !== null,
    logged: log.map(({ method, status, replayed }: Record<string, unknown>) => ({
      method,
      status,
      replayed,
    })),
    statuses: feed.body.data.Bookings.map(({ status }: { status: unknown }) => status),
    messages: messages.body.data.messages.map(({ text }: { text: string }) => text),
    titles: listings.body.data.map(({ title }: { title: string }) => title),
    held: live.heldRequests.size,
  }
}

test('a request that is begun early has the answer and the effect of one whose steps follow one another', async () => {
  await fc.assert(
    fc.asyncProperty(interleavings, async (interleaving) => {
      const [first, second] = await Promise.all(sides.map((side) => outcomeOf(side, interleaving)))
      expect(first).toEqual(second)
    }),
    runs(10, 100),
  )
})
