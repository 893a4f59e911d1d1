import { expect, test } from 'vitest'
import { jobModel } from '../../src/platform/outbox/outbox.ts'
import { type Actor, testApp } from '../support/app.ts'
import {
  fillOwn,
  type GuardedRoute,
  guardedRoutes,
  type IdPlace,
  idPlaces,
  makeOwnIds,
  type OwnIds,
  withOwnIds,
  withValueAt,
} from '../support/routes.ts'
import { validBodies } from '../support/valid-bodies.ts'

const service = await testApp()
const { db } = service.live
const owner = await service.actor()
const thief = await service.actor()
const ownersIds = await makeOwnIds(owner, '/v1')
await quietWebhook(owner)
const thiefsIds = await makeOwnIds(thief, '/v1')
const bodies = await validBodies(thief, '/v1', thiefsIds)

/** Turns the owner's webhook off after its first delivery, so that no later attempt changes what is compared. */
async function quietWebhook({ send }: Actor) {
  const path = `/v1/webhooks/${ownersIds.webhooks}`
  const first = async () => (await send('GET', `${path}/deliveries`)).body.data[0]
  while ((await first()).error === null) await Bun.sleep(20)
  await send('PATCH', path, { body: { enabled: false } })
}

/**
 * Returns everything stored about a host except jobs, the request log and calendars, which change in the background. The
 * address of a calendar is in its listing.
 */
async function stateOf(hostId: number): Promise<string> {
  const names = (await db.listCollections())
    .map(({ name }) => name)
    .filter((name) => !['outbox', 'requests', 'request_counts', 'calendars'].includes(name))
    .sort()
  const documents = await Promise.all(
    names.map((name) => db.collection(name).find({ owner_id: hostId }).sort({ _id: 1 }).toArray()),
  )
  return JSON.stringify(documents, (key, value) =>
    ['usage_count', 'last_used_at', 'addresses', 'due_at'].includes(key) ? undefined : value,
  )
}

const nobody: OwnIds = {
  bookings: 999_999_999,
  calendars: 999_999_999,
  jobs: 999_999_999,
  listings: 999_999_999,
  room_types: 999_999_999,
  users: 999_999_999,
  webhooks: 999_999_999,
  deliveries: `msg_${'f'.repeat(24)}`,
}
const provider = '/v1/integrations/provider_one'

/** A request of the thief, and where it contains the id that is replaced with the owner's. */
interface Place {
  route: GuardedRoute
  kind: string
  in: 'path' | 'query' | 'body'
  path: IdPlace['path']
}

const bodyOf = ({ method, path }: GuardedRoute) => bodies[`${method} ${path}`]?.body()
const queryOf = ({ requiredQuery }: GuardedRoute) => withOwnIds(requiredQuery, thiefsIds)

/** Every place in a path, a query or a body that takes an id. */
const places = guardedRoutes(service, '/v1').flatMap((route): Place[] => {
  const kindsInPath = [...route.path.matchAll(/(\w+)\/:\w+/g)].map(([, kind = '']) => kind)
  // A consumer's name is no id, because every host may use every name.
  const ids = kindsInPath.filter((kind) => kind !== 'integrations' && kind !== 'consumers')
  const queries = Object.fromEntries(route.queries.map((name) => [name, 1]))
  return [
    ...ids.map((kind): Place => ({ route, kind, in: 'path', path: [] })),
    ...idPlaces(queries, thiefsIds).map((place): Place => ({ route, in: 'query', ...place })),
    ...idPlaces(bodyOf(route), thiefsIds).map((place): Place => ({ route, in: 'body', ...place })),
  ]
})

/** Returns the thief's request with an id from `ids` at a place, and otherwise with the thief's own. */
function requestAt(place: Place, ids: OwnIds) {
  const { route, kind } = place
  const id = ids[kind]
  if (id === undefined) throw new Error(`test/security/access.test.ts has no id for "${kind}"`)
  const body = bodyOf(route)
  const query = queryOf(route)
  const search = new URLSearchParams(place.in === 'query' ? withValueAt(query, place.path, id) : query)
  return {
    method: route.method,
    path: `${fillOwn(route.path, place.in === 'path' ? { ...thiefsIds, [kind]: id } : thiefsIds)}?${search}`,
    body: place.in === 'body' ? withValueAt(body, place.path, id) : body,
  }
}

const cases = places.map((place) => {
  const { method, path } = place.route
  return { place, method, pattern: path, where: [place.in, ...place.path].join('.') }
})

test.each(cases)(
  "$method $pattern gives another host's id in $where the response of an unknown id, and changes nothing",
  async ({ place }) => {
    const before = await stateOf(owner.hostId)
    const ask = async (ids: OwnIds) => {
      const { method, path, body } = requestAt(place, ids)
      const response = await thief.send(method, path, { body })
      const { request_id: _id, ...error } = response.body.error ?? {}
      const known = new RegExp(
        `\\b(${[...Object.values(ids), ...Object.values(thiefsIds)].filter(Number.isInteger).join('|')})\\b`,
        'g',
      )
      return `${response.status} ${JSON.stringify(error).replace(known, 'ID')}`
    }
    const foreign = await ask(ownersIds)
    const expected = await ask(nobody)
    expect(foreign).toBe(expected)
    expect(foreign).toMatch(/^(400|403|404|422) /)
    expect(await stateOf(owner.hostId)).toBe(before)
  },
)

test('lists never show data of another host', async () => {
  const nothing = await service.actor()
  for (const path of ['/v1/users', '/v1/listings', `${provider}/bookings`, `${provider}/availability`]) {
    const { text, body } = await nothing.send('GET', path)
    expect(body.meta.pagination.total).toBe(0)
    expect(text).not.toMatch(/BCN-0042|maria\.jose/)
  }
})

test('bookings and listings ignore fields that a partner may not set', async () => {
  const extra = {
    host_id: owner.hostId,
    id: ownersIds.listings,
    status: 2,
    listing_status: 'published',
    status_rank: 2,
    api_created: false,
    price: 1,
    price_total: 1,
    price_minor: 1,
    updated_at: '2000-01-01',
    booking_id: ownersIds.bookings,
    user_id: thiefsIds.users,
  }
  const before = await stateOf(owner.hostId)
  const unit = { listing_id: thiefsIds.listings, room_type_id: thiefsIds.room_types }
  const stay = { checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const booking = await thief.send('POST', '/v1/bookings', {
    body: { ...extra, ...unit, ...stay, user_id: thiefsIds.users },
  })
  expect(booking.body.data).toMatchObject({ host_id: thief.hostId, status: 1, api_created: true })
  expect(booking.body.data.price).toBeGreaterThan(1)
  const listing = await thief.send('POST', '/v1/listings', { body: { ...extra, name: 'Mass' } })
  const read = await thief.send('GET', `/v1/listings/${listing.body.data.id}`)
  expect(read.body.data).toMatchObject({ listing_status: 'draft', name: 'Mass' })
  await thief.send('PATCH', `/v1/listings/${listing.body.data.id}`, { body: extra })
  expect((await thief.send('GET', `/v1/listings/${listing.body.data.id}`)).body.data.listing_status).toBe(
    'draft',
  )
  expect(await stateOf(owner.hostId)).toBe(before)
})

test('URL fields of a listing never cause a connection, except the addresses of calendars', async () => {
  let connections = 0
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { open: () => void connections++, data: () => {} },
  })
  const url = `http://127.0.0.1:${listener.port}/`
  const room = { name: 'R' }
  const body = {
    name: 'Lure',
    original_url: url,
    bookings: { application_url: url },
    community: { community_manager: { photo: url } },
    media: {
      '3d_tour': url,
      video_tour: { type: 'x', url },
      photos: { property: [{ url }], community: [{ url }] },
    },
    room_types: [{ name: 'T', application_url: url, photos: [{ url }], rooms: [room] }],
  }
  const created = await thief.send('POST', '/v1/listings', { body })
  expect(created.status).toBe(201)
  await thief.send('GET', `/v1/listings/${created.body.data.id}`)
  // No job is left that could connect later.
  await expect.poll(() => jobModel(service.live.db).exists({ owner_id: thief.hostId })).toBeNull()
  listener.stop(true)
  expect(connections).toBe(0)
})
