import { expect, test } from 'vitest'
import { createApiKey } from '../../src/access/keys/secret.ts'
import { type Actor, type Sending, seedBooking, testApp } from '../support/app.ts'
import { fill, keyedRoutes, prefixes, triedRoutes } from '../support/routes.ts'
import { validBodies } from '../support/valid-bodies.ts'

const service = await testApp()
const actor = await service.actor()
const writer = await service.actor()
const { listing_id, room_type_id } = await seedBooking(actor)
const provider = '/v1/integrations/provider_one'
const strict = { prefer: 'handling=strict' }
const refusal = (path: string) => ({
  path,
  code: 'invalid',
  message: `"${path}" is unknown or read-only`,
})

const writes = Object.assign(
  {},
  ...(await Promise.all(prefixes.map((prefix) => validBodies(writer, prefix)))),
) as Awaited<ReturnType<typeof validBodies>>

test('every route that takes a body is tried below', () => {
  const taking = keyedRoutes(service).filter(({ takesBody }) => takesBody)
  expect(Object.keys(writes).sort()).toEqual(taking.map(({ method, path }) => `${method} ${path}`).sort())
})

const tried = triedRoutes(service).map(({ method, path }) => `${method} ${path}`)

test.each(tried.filter((name) => name in writes))(
  '%s names an unknown field, or refuses it if asked to',
  async (name) => {
    const { path, body } = writes[name] as (typeof writes)[string]
    const [method = '', pattern = ''] = name.split(' ')
    const sent = { ...body(), surprise: 1 }
    const refused = await writer.send(method, path, { body: sent, headers: strict })
    expect({ status: refused.status, errors: refused.body.error.errors }).toEqual({
      status: 422,
      errors: [refusal('surprise')],
    })
    expect(refused.headers.get('preference-applied')).toBe('handling=strict')
    const keyless = await service.send(method, fill(pattern), { body: sent, headers: strict })
    expect({ status: keyless.status, preferenceApplied: keyless.headers.get('preference-applied') }).toEqual({
      status: 401,
      preferenceApplied: 'handling=strict',
    })
    const accepted = await writer.send(method, path, { body: sent })
    expect(accepted.headers.has('preference-applied')).toBe(false)
    // A certification is already running.
    if (name === 'POST /sandbox/certifications') return expect(accepted.status).toBe(409)
    expect({ isAccepted: accepted.status < 300, ignored: accepted.body.meta.ignored }).toEqual({
      isAccepted: true,
      ignored: ['surprise'],
    })
  },
)

const create = (body: object, sending: Sending = {}, by: Actor = actor) =>
  by.send('POST', '/v1/listings', { ...sending, body: { name: 'House', ...body } })

test('meta.ignored is absent if nothing was ignored, and a strict request without such fields succeeds', async () => {
  const { status, body, headers } = await create({ location: { city: 'Girona' } }, { headers: strict })
  expect({ status, preferenceApplied: headers.get('preference-applied') }).toEqual({
    status: 201,
    preferenceApplied: 'handling=strict',
  })
  expect(Object.keys(body.meta)).toEqual(['request_id'])
})

test('paths are in the order of the body, depth first, and an unknown object is only named itself', async () => {
  const { body } = await create({
    zzz: { inner: { deep: 1 } },
    room_types: [
      { name: 'A', colour: 'red', rooms: [{ name: 'R', key: 1 }], prices: { base: 1 } },
      { name: 'B', size: 2 },
    ],
    aaa: null,
    location: { City: 'Y', city: 'X' },
  })
  expect(body.meta.ignored).toEqual([
    'zzz',
    'room_types.0.colour',
    'room_types.0.rooms.0.key',
    'room_types.0.prices.base',
    'room_types.1.size',
    'aaa',
    'location.City',
  ])
})

test('at most 20 paths are named, and a strict request is refused with at most 100 after its other problems', async () => {
  const fields = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`f${index}`, index]))
  const named = await create(fields)
  expect(named.body.meta.ignored).toEqual(Object.keys(fields).slice(0, 20))
  const refused = await create({ ...fields, name: 5, bedrooms: 'x' }, { headers: strict })
  const paths = refused.body.error.errors.map(({ path }: { path: string }) => path)
  expect(paths).toEqual(['name', 'bedrooms', ...Object.keys(fields).slice(0, 98)])
})

test('a path that is long, unusual or like a key is written as one … in responses and in the request log', async () => {
  const key = createApiKey()
  const own = await service.actor()
  // JSON.parse makes `__proto__` a field like any other.
  const body = JSON.parse(
    JSON.stringify({
      name: 'House',
      'a b': 1,
      '': 1,
      [key]: 1,
      ['x'.repeat(65)]: 1,
      é: 1,
      '<b>': 1,
      'a\u0000': 1,
      constructor: {},
      toString: 1,
      ['y'.repeat(64)]: 1,
      location: { [key]: 1 },
      proto: { polluted: true },
    }).replace('"proto"', '"__proto__"'),
  )
  const expected = ['…', 'constructor', 'toString', 'y'.repeat(64), '__proto__']
  const { text, body: accepted } = await own.send('POST', '/v1/listings', { body })
  expect(accepted.meta.ignored).toEqual(expected)
  const refused = await own.send('POST', '/v1/listings', { body, headers: strict })
  expect(refused.body.error.errors).toEqual(expected.map(refusal))
  await service.logged()
  const log = await own.send('GET', '/v1/requests?status=422')
  expect(log.body.data[0].error.errors).toEqual(expected.map(refusal))
  for (const shown of [text, refused.text, log.text]) expect(shown).not.toContain(key)
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})

test('a replay keeps the bytes of the first response, and a strict repeat of an accepted request is 422', async () => {
  const sending = { headers: { 'idempotency-key': crypto.randomUUID() } }
  const first = await create({ surprise: 1 }, sending)
  expect(first.body.meta.ignored).toEqual(['surprise'])
  const again = await create({ surprise: 1 }, sending)
  expect({ text: again.text, replayed: again.headers.get('idempotent-replayed') }).toEqual({
    text: first.text,
    replayed: 'true',
  })
  const repeated = await create({ surprise: 1 }, { headers: { ...sending.headers, ...strict } })
  expect({ status: repeated.status, errors: repeated.body.error.errors }).toEqual({
    status: 422,
    errors: [refusal('surprise')],
  })
  const key = { 'idempotency-key': crypto.randomUUID(), ...strict }
  await create({}, { headers: key })
  const replayed = await create({}, { headers: key })
  expect(replayed.headers.get('idempotent-replayed')).toBe('true')
  expect(replayed.headers.get('preference-applied')).toBe('handling=strict')
})

test('an unknown field at the path of a problem is not reported a second time', async () => {
  const { body } = await create({ 'location.lat': 1, location: { lat: 'x' } }, { headers: strict })
  expect(body.error.errors.map(({ path }: { path: string }) => path)).toEqual(['location.lat'])
})

/** Each resource that can be read and sent back, with the request that sends it back and a read-only field. */
const resources: [string, () => Promise<{ path: string; method: string; read: object; readOnly: string }>][] =
  [
    [
      'a listing by PATCH',
      async () => ({
        path: `/v1/listings/${listing_id}`,
        method: 'PATCH',
        readOnly: 'updated_at',
        read: await readListing(),
      }),
    ],
    [
      'a listing by POST',
      async () => ({
        path: '/v1/listings',
        method: 'POST',
        readOnly: 'listing_status',
        read: await readListing(),
      }),
    ],
    [
      'a consumer',
      async () => {
        const path = `${provider}/bookings/consumers/back`
        await actor.send('PUT', path, { body: { acknowledged: null } })
        return { path, method: 'PUT', readOnly: 'pending', read: (await actor.send('GET', path)).body.data }
      },
    ],
    [
      'a webhook',
      async () => {
        const body = { url: 'https://hooks.invalid/back?a=b', events: ['booking.changed'] }
        const path = `/v1/webhooks/${(await actor.send('POST', '/v1/webhooks', { body })).body.data.id}`
        return {
          path,
          method: 'PATCH',
          readOnly: 'created_by',
          read: (await actor.send('GET', path)).body.data,
        }
      },
    ],
  ]

async function readListing() {
  return (await actor.send('GET', `/v1/listings/${listing_id}`)).body.data
}

test.each(resources)(
  'what was read of %s can be sent back, and a changed read-only field is named',
  async (_, make) => {
    const { path, method, read, readOnly } = await make()
    const back = await actor.send(method, path, { body: read, headers: strict })
    expect({
      status: back.status,
      errors: back.body.error?.errors,
      ignored: back.body.meta?.ignored,
    }).toEqual({ status: 200, errors: undefined, ignored: undefined })
    const changed = { ...read, [readOnly]: 'another value' }
    const refused = await actor.send(method, path, { body: changed, headers: strict })
    // The first write changed `updated_at`, so the response may also name that field.
    expect(refused.body.error.errors).toContainEqual(refusal(readOnly))
    expect((await actor.send(method, path, { body: changed })).body.meta.ignored).toContain(readOnly)
  },
)

test("a room's own id is compared with that of the same room, wherever it is sent", async () => {
  const rooms = [{ id: 'r1' }, { id: 'r2' }]
  const { id } = (await create({ room_types: [{ id: 't1', rooms }, { id: 't2' }] })).body.data
  const path = `/v1/listings/${id}`
  const [first, second] = (await actor.send('GET', path)).body.data.room_types
  const patch = async (room_types: object[]) =>
    (await actor.send('PATCH', path, { body: { room_types } })).body.meta.ignored
  expect(await patch([second, { ...first, rooms: first.rooms.toReversed() }])).toBeUndefined()
  const [r1, r2] = first.rooms
  expect(
    await patch([
      { ...second, original_id: 't1' },
      { id: first.id, rooms: [{ ...r1, original_id: 'r2' }, r2] },
    ]),
  ).toEqual(['room_types.0.original_id', 'room_types.1.rooms.0.original_id'])
  expect(await patch([{ name: 'New', original_id: 't9' }])).toEqual(['room_types.0.original_id'])
})

test('a PATCH may send the ids that were read as strings', async () => {
  const { id } = (await create({ room_types: [{ id: 't1', rooms: [{ id: 'r1' }] }] })).body.data
  const [roomType] = (await actor.send('GET', `/v1/listings/${id}`)).body.data.room_types
  const rooms = roomType.rooms.map((room: { id: number }) => ({ ...room, id: String(room.id) }))
  const body = { room_types: [{ ...roomType, id: String(roomType.id), rooms }] }
  const { status } = await actor.send('PATCH', `/v1/listings/${id}`, { body, headers: strict })
  expect(status).toBe(200)
})

test('a strict request does not look into a list that is too long', async () => {
  const faq = Array.from({ length: 501 }, () => ({ question: 'q', surprise: 1 }))
  const { body } = await create({ faq }, { headers: strict })
  expect(body.error.errors).toMatchObject([{ path: 'faq', code: 'max' }])
})

test('rows of availability can be sent back as they were read', async () => {
  const item = { listing_id, room_type_id, available: 2, start_date: '2033-01-01', end_date: '2033-01-31' }
  const path = `${provider}/availability`
  await actor.send('POST', path, {
    body: { data: [item, { ...item, start_date: '2033-01-10', end_date: '2033-01-12', available: 0 }] },
  })
  const window = `?listing_id=${listing_id}&room_type_id=${room_type_id}&start_date=2033-01-01&end_date=2033-01-31`
  const { availabilities } = (await actor.send('GET', path + window)).body.data
  const data = availabilities[listing_id][room_type_id]
  expect(data).toHaveLength(3)
  const stranger = await service.actor()
  const foreign = await stranger.send('POST', path, { body: { data }, headers: strict })
  expect(foreign.body.error.errors.slice(0, 2)).toEqual([refusal('data.0.id'), refusal('data.0.updated_at')])
  const asText = data.map((row: object) => ({
    ...row,
    listing_id: `${listing_id}`,
    room_type_id: `${room_type_id}`,
  }))
  expect((await actor.send('POST', path, { body: { data: asText }, headers: strict })).status).toBe(200)
  const { body } = await actor.send('POST', path, { body: { data } })
  // The previous write replaced the rows, so the ids and times that were read are outdated.
  expect(body.meta.ignored.slice(0, 2)).toEqual(['data.0.id', 'data.0.updated_at'])
})

test('fault rules of the sandbox can be sent back as they were read', async () => {
  const own = await service.actor()
  await own.send('PUT', '/sandbox/faults', {
    body: { rules: [{ fault: 'slow', operation: 'createBooking' }, { fault: 'slow' }] },
  })
  const read = (await own.send('GET', '/sandbox/faults')).body.data
  expect((await own.send('PUT', '/sandbox/faults', { body: read, headers: strict })).status).toBe(200)
  read.rules[1].left.times = 7
  const { body } = await own.send('PUT', '/sandbox/faults', { body: read })
  expect(body.meta.ignored).toEqual(['rules.1.left'])
})

test("a strict PATCH of another host's listing is refused like one of an unknown listing", async () => {
  const stranger = await service.actor()
  const read = await readListing()
  const patch = async (id: number) => {
    const { status, body } = await stranger.send('PATCH', `/v1/listings/${id}`, {
      body: read,
      headers: strict,
    })
    return { status, errors: body.error.errors }
  }
  expect(await patch(listing_id)).toEqual(await patch(999_999_999))
  expect((await patch(listing_id)).status).toBe(422)
})

test.each([
  ['handling=strict', true],
  ['HANDLING = strict', true],
  ['handling="strict"', true],
  ['respond-async, wait=10; a="x,y;\\"z", handling=strict;reason=x', true],
  [',, handling=strict ,', true],
  ['wait=, handling=strict', true],
  ['a b, handling=strict', true],
  ['handling=lenient', false],
  ['handling=lenient, handling=strict', false],
  ['handling, handling=strict', false],
  ['handling=strict x', false],
  ['handling=Strict', false],
  ['x="handling=strict"', false],
  ['x="a, handling=strict, b"', false],
  ['x="a\\", handling=strict, b"', false],
  ['x="a\\\\", handling=strict, y="b"', true],
  ['handling="strict"; x=","', true],
  ['handling=strict=x', false],
  ['handling="strict,", handling=strict', false],
  ['handling="\\"strict", handling=strict', false],
  ['x="a, handling=strict', true],
  ['a; handling=strict', false],
  ['strict', false],
  ['', false],
  [`${'a; '.repeat(2000)}"`, false],
  [`a="${'\\"'.repeat(2000)}`, false],
])('Prefer: %s is strict: %s', async (prefer, isStrict) => {
  const { status, headers } = await create({ surprise: 1 }, { headers: { prefer } })
  expect({ status, preferenceApplied: headers.get('preference-applied') }).toEqual(
    isStrict
      ? { status: 422, preferenceApplied: 'handling=strict' }
      : { status: 201, preferenceApplied: null },
  )
})

test('several Prefer headers are one list, and a request without a body applies none', async () => {
  const headers = new Headers({ 'x-api-key': actor.key })
  for (const prefer of ['respond-async', 'handling=strict', 'handling=lenient'])
    headers.append('prefer', prefer)
  const body = JSON.stringify({ name: 'House', surprise: 1 })
  const response = await service.app.handle(
    new Request('http://localhost/v1/listings', { method: 'POST', headers, body }),
  )
  expect({ status: response.status, preferenceApplied: response.headers.get('preference-applied') }).toEqual({
    status: 422,
    preferenceApplied: 'handling=strict',
  })
  const read = await actor.send('GET', '/v1/me', { headers: strict })
  expect({ status: read.status, preferenceApplied: read.headers.get('preference-applied') }).toEqual({
    status: 200,
    preferenceApplied: null,
  })
})
