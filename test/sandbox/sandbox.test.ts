import { expect, test } from 'vitest'
import { models } from '../../src/operations/release.ts'
import { readSequences } from '../../src/platform/ids/sequences.ts'
import { jobModel } from '../../src/platform/outbox/outbox.ts'
import { sandboxFilters } from '../../src/sandbox/lifecycle/documents-store.ts'
import { sweepSandboxes } from '../../src/sandbox/lifecycle/end.ts'
import { seedSandbox } from '../../src/sandbox/lifecycle/seed.ts'
import { sandboxKeyModel, sandboxModel } from '../../src/sandbox/model.ts'
import { partnerctlHere } from '../support/admin.ts'
import { type Actor, testApp } from '../support/app.ts'
import { ownDatabase } from '../support/databases.ts'
import { readFixture } from '../support/fixtures.ts'
import { keyedRoutes, type Prefix } from '../support/routes.ts'

let offset = 0
const url = await ownDatabase()
const service = await testApp({ MONGODB_URL: url }, () => new Date(Date.now() + offset))
const feed = async (actor: Actor) =>
  (await actor.send('GET', '/sandbox/integrations/provider_one/bookings')).body

test('the sandbox has every route of /v1 and some of its own', () => {
  const of = (prefix: Prefix) =>
    keyedRoutes(service, prefix).map(
      ({ method, path, permission }) => `${method} ${path.slice(prefix.length)} ${permission}`,
    )
  expect(of('/sandbox').sort()).toEqual(
    [
      ...of('/v1'),
      'DELETE  any',
      'POST /bookings/:booking_id/messages/guest bookings.write',
      'GET /clock any',
      'POST /clock any',
      'GET /scenarios any',
      'POST /scenarios/:name any',
      'GET /certifications any',
      'POST /certifications any',
      'GET /certifications/:id any',
      'DELETE /certifications/:id any',
      'PUT /certifications/:id/state any',
      'GET /certifications/:id/report any',
      'GET /faults any',
      'PUT /faults any',
      'DELETE /faults any',
    ].sort(),
  )
})

test("a new sandbox holds the contract's ids and bookings in each status", async () => {
  const actor = await service.actor()
  const listings = await actor.send('GET', '/sandbox/listings?sort=id')
  expect(listings.body.data).toMatchObject([
    { id: 2001, room_types: [{ id: 3001 }, { id: 3002 }] },
    { id: 2002, room_types: [{ id: 3003 }] },
  ])
  const { data, meta } = await feed(actor)
  expect(meta.sandbox).toBe(true)
  expect(new Set(data.Bookings.map(({ status }: { status: string }) => status))).toEqual(
    new Set(['confirmed', 'pending', 'cancelled']),
  )
  for (const user_id of [1001, 1002]) {
    const body = { user_id, listing_id: 2002, checkin_at: '2030-01-01', checkout_at: '2030-02-01' }
    const booking = await actor.send('POST', '/sandbox/bookings', { body })
    expect({
      status: booking.status,
      sandbox: booking.body.meta.sandbox,
      room_type_id: booking.body.data.room_type_id,
    }).toEqual({ status: 201, sandbox: true, room_type_id: 3003 })
  }
})

test('bookings created, confirmed and cancelled in the sandbox appear in its feed', async () => {
  const actor = await service.actor()
  const user = await actor.send('POST', '/sandbox/users', { body: await readFixture('users/maria') })
  const body = {
    user_id: user.body.data.user_id,
    listing_id: 2001,
    room_type_id: 3001,
    checkin_at: '2030-01-01',
    checkout_at: '2030-02-01',
  }
  const { booking_id } = (await actor.send('POST', '/sandbox/bookings', { body })).body.data
  const last = (await feed(actor)).data.Bookings.at(-1)
  expect(last).toMatchObject({ booking_id, status: 'pending' })
  const confirmed = await actor.send('POST', `/sandbox/bookings/${booking_id}/confirm`)
  expect({
    status: confirmed.status,
    bookingStatus: confirmed.body.data.Booking.status,
    sandbox: confirmed.body.meta.sandbox,
  }).toEqual({ status: 200, bookingStatus: 'confirmed', sandbox: true })
  expect((await feed(actor)).data.Bookings.at(-1)).toMatchObject({ booking_id, status: 'confirmed' })
  const illegal = await actor.send('POST', `/sandbox/bookings/${booking_id}/confirm`)
  expect({ status: illegal.status, type: illegal.body.error.type }).toEqual({ status: 409, type: 'conflict' })
  expect((await actor.send('POST', `/sandbox/bookings/${booking_id}/cancel`)).body.data.Booking.status).toBe(
    'cancelled',
  )
  expect((await actor.send('POST', '/sandbox/bookings/999/cancel')).status).toBe(404)
})

test('a sandbox shows no data of other sandboxes or of /v1, and /v1 shows none of a sandbox', async () => {
  const one = await service.actor()
  const two = await service.actor()
  await one.send('POST', '/sandbox/listings', { body: { name: 'Only mine' } })
  expect((await two.send('GET', '/sandbox/listings?q=only')).body.data).toEqual([])
  expect((await one.send('GET', '/v1/listings')).body.data).toEqual([])
  expect((await one.send('GET', '/v1/listings/2001')).status).toBe(404)
  const live = await one.send('POST', '/v1/listings', { body: { name: 'Live' } })
  expect((await one.send('GET', `/sandbox/listings/${live.body.data.id}`)).status).toBe(404)
})

test('users created in the sandbox send no event, and one rate limit counts requests in both environments', async () => {
  const limited = await service.actor({ rateLimit: 3 })
  await service.live.outbox.stop()
  await limited.send('POST', '/sandbox/users', { body: await readFixture('users/maria') })
  expect(
    await jobModel(service.live.db).countDocuments({
      topic: 'UserCreated',
      'payload.host_id': limited.hostId,
    }),
  ).toBe(0)
  const statuses = [
    await limited.send('GET', '/v1/me'),
    await limited.send('GET', '/sandbox/me'),
    await limited.send('GET', '/v1/me'),
  ].map(({ status }) => status)
  expect(statuses).toEqual([200, 200, 429])
})

test('DELETE /sandbox clears only the sandbox of its key, including stored responses', async () => {
  const actor = await service.actor()
  const other = await service.actor()
  const create = (by: Actor) =>
    by.send('POST', '/sandbox/listings', { body: { name: 'Gone' }, headers: { 'idempotency-key': 'k' } })
  const first = await create(actor)
  await create(other)
  const cleared = await actor.send('DELETE', '/sandbox')
  expect({
    status: cleared.status,
    typeOfMessage: typeof cleared.body.data.message,
    sandbox: cleared.body.meta.sandbox,
  }).toEqual({ status: 200, typeOfMessage: 'string', sandbox: true })
  expect((await actor.send('GET', '/sandbox/listings')).body.meta.pagination.total).toBe(2)
  expect((await other.send('GET', '/sandbox/listings')).body.meta.pagination.total).toBe(3)
  const again = await create(actor)
  expect({
    status: again.status,
    isReplayed: again.headers.has('idempotent-replayed'),
    isSame: again.body.data.id === first.body.data.id,
  }).toEqual({ status: 201, isReplayed: false, isSame: false })
})

test('twenty concurrent first requests get the same sandbox', async () => {
  const actor = await service.actor()
  const path = '/sandbox/integrations/provider_one/bookings'
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => actor.send('GET', path, { repeatWhileBusy: true })),
  )
  expect(new Set(responses.map(({ body }) => JSON.stringify(body.data))).size).toBe(1)
})

const sandboxIdOf = async (actor: Actor) =>
  (await sandboxModel(service.sandbox.db).findOne({ key_id: actor.keyId, state: 'open' }).orFail())._id

/** Returns the sandbox collections with a document of the sandbox, checking each field that may name a sandbox. */
async function remainsOf(sandboxId: number): Promise<string[]> {
  const names = (await service.sandbox.db.listCollections()).map(({ name }) => name)
  const found = await Promise.all(
    names.map(async (name) => {
      const documents = await service.sandbox.db.collection(name).find().toArray()
      const places = documents.map((one) =>
        [one._id, one.owner_id, one.host_id, one.key_id, one.payload?.host_id, one.payload?.owner_id].map(
          String,
        ),
      )
      return places.some((values) =>
        values.some((value) => value === String(sandboxId) || value.endsWith(`/${sandboxId}`)),
      )
        ? [name]
        : []
    }),
  )
  return found.flat()
}

/** Writes to every sandbox collection that a partner can reach. */
async function useEverything(actor: Actor) {
  const keyed = { headers: { 'idempotency-key': 'once' } }
  const stay = { user_id: 1001, listing_id: 2002, checkin_at: '2030-01-01', checkout_at: '2030-02-01' }
  const range = { available: 1, start_date: '2031-01-01', end_date: '2031-01-31' }
  const unit = { listing_id: 2002, room_type_id: 3003 }
  const at = '/sandbox/integrations/provider_one'
  const responses = [
    await actor.send('POST', '/sandbox/bookings', { body: stay, ...keyed }),
    await actor.send('POST', '/sandbox/bookings/5002/messages', { body: { message: { text: 'Hi' } } }),
    await actor.send('POST', `${at}/provider-key`, { body: { provider_api_key: 'mine' } }),
    await actor.send('POST', `${at}/availability`, { body: { data: [{ ...unit, ...range }] } }),
    await actor.send('POST', `${at}/rates`, { body: { data: [{ ...unit, base_price: 7 }] } }),
    await actor.send('GET', `${at}/bookings?per_page=1`),
  ]
  expect(responses.map(({ status }) => status)).toEqual([201, 201, 200, 200, 200, 200])
}

test('an hour after its last write a sandbox is replaced by a new one, and the old one is deleted', async () => {
  const actor = await service.actor()
  await useEverything(actor)
  const sandboxId = await sandboxIdOf(actor)
  expect(await remainsOf(sandboxId)).toContain('page_ends')
  offset = 3_600_001
  expect((await actor.send('GET', '/sandbox/listings')).body.meta.pagination.total).toBe(2)
  expect(await sandboxIdOf(actor)).not.toBe(sandboxId)
  await sweepSandboxes({ ...service.sandbox, models })
  expect(await remainsOf(sandboxId)).toEqual(['sandboxes'])
  offset += 31_000
  await sweepSandboxes({ ...service.sandbox, models })
  expect(await remainsOf(sandboxId)).toEqual([])
  offset = 0
})

test('a sandbox lives for an hour after its last write, whatever its age, and reads do not prolong it', async () => {
  const actor = await service.actor()
  const count = async () =>
    (await actor.send('GET', '/sandbox/listings?q=late')).body.meta.pagination.total as number
  await count()
  offset = 59 * 60_000
  await actor.send('POST', '/sandbox/listings', { body: { name: 'Late' } })
  offset = 118 * 60_000
  await sweepSandboxes({ ...service.sandbox, models })
  expect(await count()).toBe(1)
  offset = 119 * 60_000 + 1000
  expect(await count()).toBe(0)
  offset = 0
})

test('a write that commits after its sandbox was cleared leaves nothing behind', async () => {
  const actor = await service.actor()
  await actor.send('GET', '/sandbox/listings')
  const sandboxId = await sandboxIdOf(actor)
  await actor.send('DELETE', '/sandbox')
  await service.sandbox.db.collection('listings').insertOne({ owner_id: sandboxId, id: 1 })
  offset = 31_000
  await sweepSandboxes({ ...service.sandbox, models })
  offset = 0
  expect(await remainsOf(sandboxId)).toEqual([])
})

test('sweepSandboxes() deletes the remains of a process that died while it was filling a sandbox', async () => {
  const { db, clock, ids } = service.sandbox
  const sandboxId = await ids('host')
  await sandboxModel(db).create([
    { _id: sandboxId, key_id: 999, state: 'filling', due_at: clock(), documents: 0, bytes: 0 },
  ])
  await seedSandbox({ ...service.sandbox, sandboxId, keyId: 999 }, { last: 0, messages_last: 0 })
  expect((await remainsOf(sandboxId)).length).toBeGreaterThan(3)
  await sweepSandboxes({ ...service.sandbox, models })
  offset = 31_000
  await sweepSandboxes({ ...service.sandbox, models })
  offset = 0
  expect(await remainsOf(sandboxId)).toEqual([])
})

test('DELETE /sandbox without a sandbox does not create one', async () => {
  const actor = await service.actor()
  expect((await actor.send('DELETE', '/sandbox')).status).toBe(200)
  expect(await sandboxModel(service.sandbox.db).countDocuments({ key_id: actor.keyId })).toBe(0)
})

test('a sandbox is cleared from every collection through an index', async () => {
  const filters = sandboxFilters(service.sandbox.db, models, 1)
  const plans = await Promise.all(
    filters.map(async ({ collection, filter }) => {
      const plan = await service.sandbox.db.collection(collection).find(filter).explain()
      return { collection, plan: JSON.stringify(plan) }
    }),
  )
  expect(plans.length).toBeGreaterThan(0)
  expect(plans.filter(({ plan }) => plan.includes('COLLSCAN'))).toEqual([])
})

test('two keys can store the same provider key, each in its own sandbox', async () => {
  const body = { provider_api_key: 'the-same-in-both' }
  for (const actor of [await service.actor(), await service.actor()]) {
    const response = await actor.send('POST', '/sandbox/integrations/provider_one/provider-key', { body })
    expect({ status: response.status, keyStatus: response.body.data?.status }).toEqual({
      status: 200,
      keyStatus: 'created',
    })
  }
})

test('rates in the sandbox are applied, and partnerctl sandbox clear clears all sandboxes', async () => {
  const actor = await service.actor()
  const body = { data: [{ listing_id: 2002, room_type_id: 3003, base_price: 77 }] }
  expect((await actor.send('POST', '/sandbox/integrations/provider_one/rates', { body })).status).toBe(200)
  const price = async () =>
    (await actor.send('GET', '/sandbox/listings/2002')).body.data.room_types[0].prices.base_price
  while ((await price()) !== 77) await Bun.sleep(20)
  const { stdout } = await partnerctlHere(['sandbox', 'clear', '--json'], { MONGODB_URL: url })
  expect(JSON.parse(stdout).cleared).toBeGreaterThan(0)
  expect(await price()).toBe(1150)
})

test("after DELETE /sandbox the feed's versions continue upwards, so a poller misses nothing", async () => {
  const actor = await service.actor()
  const feed = '/sandbox/integrations/provider_one/bookings'
  const stay = { user_id: 1001, listing_id: 2002, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  for (let count = 0; count < 5; count += 1) await actor.send('POST', '/sandbox/bookings', { body: stay })
  const before = (await actor.send('GET', feed)).body.data.Bookings.at(-1).version
  await actor.send('DELETE', '/sandbox')
  const after = (await actor.send('GET', `${feed}?updated_after=${encodeURIComponent(before)}`)).body
  const all = (await actor.send('GET', feed)).body
  expect(after.data.Bookings).toEqual(all.data.Bookings)
  expect(all.data.Bookings.length).toBeGreaterThan(2)
})

test('a sandbox is filled once, however many requests find it empty', async () => {
  const actor = await service.actor()
  const before = await readSequences(service.sandbox.db)
  const responses = await Promise.all(
    Array.from({ length: 59 }, () => actor.send('GET', '/sandbox/integrations/provider_one/bookings')),
  )
  expect(responses.every(({ status }) => status === 200)).toBe(true)
  expect(new Set(responses.map(({ text }) => JSON.stringify(JSON.parse(text).data))).size).toBe(1)
  const after = await readSequences(service.sandbox.db)
  expect((after.host ?? 0) - (before.host ?? 0)).toBeLessThanOrEqual(32)
  expect(await sandboxModel(service.sandbox.db).countDocuments({ key_id: actor.keyId })).toBe(1)
})

test('a sandbox is filled at most sixty times in ten minutes, and clearing it leaves only two numbers', async () => {
  const actor = await service.actor()
  const fillAndClear = async () => {
    expect((await actor.send('GET', '/sandbox/listings')).status).toBe(200)
    expect((await actor.send('DELETE', '/sandbox')).status).toBe(200)
  }
  await fillAndClear()
  const key = { _id: actor.keyId }
  const [filled] = (await sandboxKeyModel(service.sandbox.db).findOne(key).lean())?.fills ?? []
  await sandboxKeyModel(service.sandbox.db).updateOne(key, { $set: { fills: Array(58).fill(filled) } })
  await fillAndClear()
  await fillAndClear()
  const refused = await actor.send('GET', '/sandbox/listings')
  expect({
    status: refused.status,
    type: refused.body.error.type,
    retryAfter: Number(refused.headers.get('retry-after')),
  }).toEqual({ status: 409, type: 'conflict', retryAfter: expect.any(Number) })
  const { paths } = (await actor.send('GET', '/openapi.json')).body
  for (const [path, methods] of Object.entries<Record<string, { responses: Record<string, object> }>>(paths))
    for (const [method, { responses }] of Object.entries(methods)) {
      if (!path.startsWith('/sandbox/') || /^\/sandbox\/(certifications|key|requests)\b/.test(path)) continue
      expect({ method, path, response: responses['409'] }).toMatchObject({
        method,
        path,
        response: { headers: { 'Retry-After': expect.any(Object) } },
      })
      if (method !== 'get' || path.includes('{id}') || path.includes('nights')) continue
      const target = path.replace('{provider}', 'provider_one').replace(/\{\w+\}/g, '1')
      expect({ target, status: (await actor.send('GET', target)).status }).toEqual({
        target,
        status: 409,
      })
    }
  offset += 601_000
  await sweepSandboxes({ ...service.sandbox, models })
  expect(await sandboxModel(service.sandbox.db).countDocuments({ key_id: actor.keyId })).toBe(0)
  expect((await actor.send('GET', '/sandbox/listings')).status).toBe(200)
  await actor.send('DELETE', '/sandbox')
  offset += 3_600_000
  await sweepSandboxes({ ...service.sandbox, models })
  expect(await sandboxKeyModel(service.sandbox.db).countDocuments({ _id: actor.keyId })).toBe(0)
})

test('a refused or replayed write does not prolong the life of a sandbox', async () => {
  const actor = await service.actor()
  await actor.send('GET', '/sandbox/listings')
  const endOf = async () =>
    (await sandboxModel(service.sandbox.db).findOne({ key_id: actor.keyId, state: 'open' }).lean())?.due_at
  const create = () =>
    actor.send('POST', '/sandbox/users', {
      body: { email: 'life@example.com', first_name: 'A', last_name: 'B' },
      headers: { 'idempotency-key': 'life' },
    })
  const first = await endOf()
  offset += 60_000
  expect((await actor.send('POST', '/sandbox/users', { body: {} })).status).toBe(422)
  expect((await actor.send('POST', '/sandbox/bookings/999999/confirm')).status).toBe(404)
  expect(await endOf()).toEqual(first)
  expect((await create()).status).toBe(201)
  const longer = await endOf()
  expect(longer).not.toEqual(first)
  offset += 60_000
  expect((await create()).headers.get('idempotent-replayed')).toBe('true')
  expect(await endOf()).toEqual(longer)
})

test('a full sandbox refuses writes, explains how to clear it, and remains readable', async () => {
  const actor = await service.actor()
  await actor.send('GET', '/sandbox/listings')
  const open = { key_id: actor.keyId, state: 'open' }
  const user = (email: string) =>
    actor.send('POST', '/sandbox/users', { body: { email, first_name: 'A', last_name: 'B' } })
  await sandboxModel(service.sandbox.db).updateOne(open, { bytes: 64 * 1024 * 1024 })
  const full = await user('full@example.com')
  expect({ status: full.status, message: full.body.error.message }).toEqual({
    status: 409,
    message: expect.stringContaining('DELETE /sandbox'),
  })
  expect((await user('not an address')).status).toBe(422)
  // The estimate exceeds the actual size, so the service counts the documents and corrects the estimate.
  await sandboxModel(service.sandbox.db).updateOne(open, { bytes: 0, documents: 9999 })
  expect((await user('counted@example.com')).status).toBe(201)
  const { _id, documents } = await sandboxModel(service.sandbox.db).findOne(open).lean().orFail()
  expect(documents).toBeLessThan(200)
  const rows = Array.from({ length: 5000 }, (_, id) => ({ owner_id: _id, room_type_id: id, rows: [] }))
  await service.sandbox.db.collection('availability_blocks').insertMany(rows)
  await sandboxModel(service.sandbox.db).updateOne(open, { documents: 5000 })
  expect((await user('many@example.com')).status).toBe(409)
  expect((await actor.send('GET', '/sandbox/listings')).status).toBe(200)
  await actor.send('DELETE', '/sandbox')
  expect((await user('many@example.com')).status).toBe(201)
})

test('the bodies of a sandbox are counted in bytes, not in characters', async () => {
  const actor = await service.actor()
  const body = { email: 'bytes@example.com', first_name: '界'.repeat(200), last_name: 'B' }
  expect((await actor.send('POST', '/sandbox/users', { body })).status).toBe(201)
  const open = { key_id: actor.keyId, state: 'open' }
  const { bytes } = await sandboxModel(service.sandbox.db).findOne(open).lean().orFail()
  expect(bytes).toBe(Buffer.byteLength(JSON.stringify(body)))
})

test('a process with a wrong clock reads a sandbox as usual, but never fills, clears or expires one', async () => {
  const actor = await service.actor()
  const right = await actor.send('GET', '/sandbox/listings')
  const hours = 3 * 3_600_000
  const wrong = await testApp({ MONGODB_URL: url }, () => new Date(Date.now() + hours), {
    wall: () => Date.now() + hours,
  })
  const before = await sandboxModel(service.sandbox.db).find({ key_id: actor.keyId }).lean()
  const read = await wrong.send('GET', '/sandbox/listings', { key: actor.key })
  const idsOf = ({ body }: typeof read) => body.data.map(({ id }: { id: number }) => id)
  expect({ status: read.status, ids: idsOf(read) }).toEqual({ status: 200, ids: idsOf(right) })
  const cleared = await wrong.send('DELETE', '/sandbox', { key: actor.key })
  expect({ status: cleared.status, retryAfter: cleared.headers.get('retry-after') }).toEqual({
    status: 500,
    retryAfter: '5',
  })
  const fresh = await service.actor()
  const refused = await wrong.send('GET', '/sandbox/listings', { key: fresh.key })
  expect({ status: refused.status, retryAfter: refused.headers.get('retry-after') }).toEqual({
    status: 500,
    retryAfter: '5',
  })
  expect(await sandboxModel(service.sandbox.db).find({ key_id: actor.keyId }).lean()).toEqual(before)
  expect(await sandboxModel(service.sandbox.db).countDocuments({ key_id: fresh.keyId })).toBe(0)
})
