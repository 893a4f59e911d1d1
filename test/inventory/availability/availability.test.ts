import { beforeAll, expect, test } from 'vitest'
import { type Actor, testApp } from '../../support/app.ts'

const service = await testApp()
const path = '/v1/integrations/provider_one/availability'
let actor: Actor
let listing_id: number
let roomTypes: number[]

async function listingOf(owner: Actor, rooms = 2) {
  const room_types = Array.from({ length: rooms }, (_, index) => ({
    id: `t${index}`,
    name: `T${index}`,
    prices: { base_price: 300 },
  }))
  const { body } = await owner.send('POST', '/v1/listings', { body: { name: 'L', room_types } })
  const read = await owner.send('GET', `/v1/listings/${body.data.id}`)
  return {
    id: body.data.id as number,
    roomTypes: read.body.data.room_types.map(({ id }: { id: number }) => id) as number[],
  }
}

beforeAll(async () => {
  actor = await service.actor()
  const listing = await listingOf(actor)
  listing_id = listing.id
  roomTypes = listing.roomTypes
})

const write = (data: unknown, by = actor) => by.send('POST', path, { body: { data } })
const read = async (query = '', by = actor) => (await by.send('GET', path + query)).body
const item = (more: object = {}) => ({
  listing_id,
  room_type_id: roomTypes[0],
  available: 2,
  start_date: '2027-03-01',
  end_date: '2027-03-31',
  ...more,
})

test('POST availability accepts ids as strings, and GET shows its rows trimmed and split by later ones', async () => {
  const response = await write([
    item({ listing_id: String(listing_id), room_type_id: String(roomTypes[0]) }),
    item({ available: 0, start_date: '2027-03-10', end_date: '2027-03-12' }),
  ])
  expect({
    status: response.status,
    data: Object.keys(response.body.data),
    meta: Object.keys(response.body.meta),
  }).toEqual({ status: 200, data: ['message'], meta: ['request_id', 'newest_version'] })
  const rows = (await read()).data.availabilities[listing_id][roomTypes[0] as number]
  expect(rows).toMatchObject([
    { start_date: '2027-03-01', end_date: '2027-03-09', available: 2 },
    { start_date: '2027-03-10', end_date: '2027-03-12', available: 0 },
    { start_date: '2027-03-13', end_date: '2027-03-31', available: 2 },
  ])
  expect(rows[0]).toEqual({
    id: expect.any(Number),
    listing_id,
    room_type_id: roomTypes[0],
    available: 2,
    start_date: '2027-03-01',
    end_date: '2027-03-09',
    as_of: null,
    updated_at: expect.stringMatching(/\.\d{6}Z$/),
  })
})

test('GET availability filters rows and listings, and its pages count listings', async () => {
  const owner = await service.actor()
  const bare = await listingOf(owner, 0)
  const first = await listingOf(owner)
  const second = await listingOf(owner, 1)
  const at = (start_date: string, end_date: string) => ({
    listing_id: first.id,
    room_type_id: first.roomTypes[0],
    available: 1,
    start_date,
    end_date,
  })
  await write([at('2027-01-01', '2027-01-31'), at('2027-03-01', '2027-03-31')], owner)
  const shape = async (query: string) => {
    const { data, meta } = await read(query, owner)
    const starts = Object.entries(data.availabilities).map(([id, types]) => [
      Number(id),
      Object.entries(types as object).map(([type, rows]) => [
        Number(type),
        rows.map(({ start_date }: { start_date: string }) => start_date),
      ]),
    ])
    return { starts, pagination: meta.pagination }
  }
  const [t0, t1] = first.roomTypes
  const all = [
    [bare.id, []],
    [
      first.id,
      [
        [t0, ['2027-01-01', '2027-03-01']],
        [t1, []],
      ],
    ],
    [second.id, [[second.roomTypes[0], []]]],
  ]
  expect(await shape('')).toEqual({
    starts: all,
    pagination: { current_page: 1, per_page: 100, total: 3, last_page: 1 },
  })
  expect(await shape('?per_page=2&page=2')).toEqual({
    starts: [all[2]],
    pagination: { current_page: 2, per_page: 2, total: 3, last_page: 2 },
  })
  expect((await shape(`?listing_id=${first.id}&start_date=2027-02-01`)).starts).toEqual([
    [
      first.id,
      [
        [t0, ['2027-03-01']],
        [t1, []],
      ],
    ],
  ])
  expect((await shape(`?room_type_id=${t0}&end_date=2027-01-01`)).starts).toEqual([
    [first.id, [[t0, ['2027-01-01']]]],
  ])
  expect((await shape(`?room_type_id=${t0}&start_date=2027-02-01&end_date=2027-02-28`)).starts).toEqual([
    [first.id, [[t0, []]]],
  ])
  expect((await read('', await service.actor())).data.availabilities).toEqual({})
  for (const query of [
    `?listing_id=${listing_id}`,
    `?room_type_id=${roomTypes[0]}`,
    `?listing_id=${first.id}&room_type_id=${second.roomTypes[0]}`,
  ]) {
    expect((await owner.send('GET', path + query)).status).toBe(404)
  }
})

test.each([
  ['?per_page=501', 'per_page', 'max'],
  ['?start_date=2027-02-30', 'start_date', 'invalid'],
  ['?start_date=', 'start_date', 'invalid'],
  ['?start_date=2027-02-02&end_date=2027-02-01', 'end_date', 'invalid'],
  ['?listing_id=x', 'listing_id', 'invalid'],
])('GET availability with %s responds 422 at %s, %s', async (query, field, code) => {
  const { status, body } = await actor.send('GET', path + query)
  expect({ status, errors: body.error.errors }).toMatchObject({
    status: 422,
    errors: [{ path: field, code }],
  })
})

test.each([
  [{}, 'data', 'required'],
  [{ data: {} }, 'data', 'invalid'],
  [{ data: [] }, 'data', 'min'],
  [{ data: [null] }, 'data.0', 'required'],
  [{ data: [{}] }, 'data.0.listing_id', 'required'],
  [
    {
      data: Array.from({ length: 1001 }, () => ({
        listing_id: 1,
        room_type_id: 1,
        available: 1,
        start_date: '2027-01-01',
        end_date: '2027-01-01',
      })),
    },
    'data',
    'max',
  ],
])('POST availability with %.60j responds 422 at %s, %s', async (body, field, code) => {
  const response = await actor.send('POST', path, { body })
  expect(response.status).toBe(422)
  expect(response.body.error.errors[0]).toMatchObject({ path: field, code })
})

test.each([
  [{ available: -1 }, 'available', 'min'],
  [{ available: 1.5 }, 'available', 'invalid'],
  [{ available: '1' }, 'available', 'invalid'],
  [{ start_date: '2027-02-30' }, 'start_date', 'invalid'],
  [{ end_date: null }, 'end_date', 'required'],
  [{ end_date: '2027-02-28' }, 'end_date', 'invalid'],
  [{ room_type_id: true }, 'room_type_id', 'invalid'],
])(
  'POST availability with %j in its second item responds 422 at that item and writes nothing',
  async (change, field, code) => {
    const before = await read()
    const response = await write([item({ available: 7 }), item(change)])
    expect(response.status).toBe(422)
    expect(response.body.error.errors).toMatchObject([{ path: `data.1.${field}`, code }])
    expect((await read()).data).toEqual(before.data)
  },
)

test("POST availability for other hosts' listings responds 403, with one problem each in order of appearance", async () => {
  const stranger = await listingOf(await service.actor())
  const before = await read()
  const ids = [999_999_999, stranger.id, 999_999_999]
  const response = await write([item({ available: 7 }), ...ids.map((id) => item({ listing_id: id }))])
  expect(response.status).toBe(403)
  expect(response.body.error).toMatchObject({
    type: 'forbidden',
    errors: [
      { path: 'unauthorized_listing_ids.0', message: '999999999' },
      { path: 'unauthorized_listing_ids.1', message: String(stranger.id) },
    ],
  })
  expect((await read()).data).toEqual(before.data)
})

test("POST availability for another listing's room types responds 400, with the list of them as JSON", async () => {
  const other = await listingOf(actor)
  const response = await write([item(), item({ room_type_id: other.roomTypes[0] })])
  expect({ status: response.status, type: response.body.error.type }).toEqual({
    status: 400,
    type: 'validation_error',
  })
  const [problem, ...rest] = response.body.error.errors
  expect({ path: problem.path, code: problem.code }).toEqual({ path: 'invalid_room_types', code: 'invalid' })
  const message = '"data.1.room_type_id" is not a room type of the listing'
  expect(rest).toEqual([{ path: 'data.1.room_type_id', code: 'invalid', message }])
  expect(JSON.parse(problem.message)).toEqual([
    {
      listing_id,
      room_type_id: other.roomTypes[0],
      reason: 'Room type not found or does not belong to listing',
    },
  ])
})

test('POST availability names at most 99 items whose room types are not those of their listings', async () => {
  const foreign = Array.from({ length: 120 }, (_, index) => item({ room_type_id: 999_999_000 + index }))
  const { status, body } = await write([item(), ...foreign])
  expect({ status, errors: body.error.errors.length }).toEqual({ status: 400, errors: 100 })
  expect(body.error.errors.at(-1).path).toBe('data.99.room_type_id')
})

test('POST availability names each wrong pair of listing and room type once, at the first item that has it', async () => {
  const many = Array.from({ length: 150 }, () => item({ room_type_id: 999_999_999 }))
  const { body } = await write([item(), ...many, item({ room_type_id: 999_999_998 })])
  const [list, ...rest] = body.error.errors
  const pairs = JSON.parse(list.message).map(({ room_type_id }: { room_type_id: number }) => room_type_id)
  expect({ pairs, paths: rest.map(({ path }: { path: string }) => path) }).toEqual({
    pairs: [999_999_999, 999_999_998],
    paths: ['data.1.room_type_id', 'data.151.room_type_id'],
  })
})

test('POST availability reads a body of 2 MiB, and responds 413 to a body of more than 10 MiB', async () => {
  const padding = 'x'.repeat(2 * 1024 * 1024)
  expect((await actor.send('POST', path, { body: { data: [item()], padding } })).status).toBe(200)
  expect(
    (await actor.send('POST', path, { body: { data: [item()], padding: padding.repeat(5) } })).status,
  ).toBe(413)
})

test('POST /v1/bookings takes units from the row in force, and a new row starts the count again', async () => {
  const owner = await service.actor()
  const listing = await listingOf(owner, 1)
  const user = await owner.send('POST', '/v1/users', {
    body: { email: 'u@example.com', first_name: 'A', last_name: 'B' },
  })
  const book = async (checkin_at: string, checkout_at: string) => {
    const body = { user_id: user.body.data.user_id, listing_id: listing.id, checkin_at, checkout_at }
    const response = await owner.send('POST', '/v1/bookings', { body })
    return response.status === 201 ? 201 : response.body.error.errors[0].code
  }
  const set = (available: number, start_date: string, end_date: string) =>
    write(
      [{ listing_id: listing.id, room_type_id: listing.roomTypes[0], available, start_date, end_date }],
      owner,
    )
  expect(await book('2027-05-01', '2027-05-10')).toBe(201)
  await set(1, '2027-05-01', '2027-05-31')
  expect(await book('2027-05-01', '2027-05-10')).toBe(201)
  expect(await book('2027-05-09', '2027-05-12')).toBe('unavailable')
  expect(await book('2027-05-10', '2027-05-12')).toBe(201)
  expect(await book('2027-06-01', '2027-06-12')).toBe(201)
  await set(0, '2027-06-05', '2027-06-05')
  expect(await book('2027-06-01', '2027-06-05')).toBe(201)
  expect(await book('2027-06-01', '2027-06-06')).toBe('unavailable')
  await set(1, '2027-05-01', '2027-05-31')
  expect(await book('2027-05-01', '2027-05-10')).toBe(201)
  expect(await book('2027-05-01', '2027-05-02')).toBe('unavailable')
})
