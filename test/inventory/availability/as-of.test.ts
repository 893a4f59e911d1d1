import { expect, test } from 'vitest'
import { compactRoomTypes } from '../../../src/inventory/availability/compaction.ts'
import { skipPast } from '../../../src/operations/after-restore.ts'
import { type Actor, seedBooking, testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { seededRandom } from '../../support/history.ts'

const service = await testApp()
const range = { start_date: '2031-05-01', end_date: '2031-05-31' }

/** A partner with one room type and one booking, which none of its counts cover. */
async function partner(app = service) {
  const actor = await app.actor()
  const { user_id, listing_id, room_type_id } = await seedBooking(actor)
  return partnerOf(actor, { user_id, unit: { listing_id, room_type_id } })
}

function partnerOf(
  actor: Pick<Actor, 'send'>,
  { user_id, unit }: { user_id: number; unit: { listing_id: number; room_type_id: number } },
  root = '/v1',
) {
  const provider = `${root}/integrations/provider_one`
  return {
    unit,
    push: (...items: object[]) =>
      actor.send('POST', `${provider}/availability`, {
        body: { data: items.map((item) => ({ ...unit, ...range, ...item })) },
      }),
    book: (checkin_at = '2031-05-01', checkout_at = '2031-05-03') =>
      actor.send('POST', `${root}/bookings`, { body: { ...unit, user_id, checkin_at, checkout_at } }),
    cancel: (id: number) => actor.send('POST', `${root}/bookings/${id}/cancel`),
    confirm: (id: number) => actor.send('POST', `${root}/bookings/${id}/confirm`),
    /** Reads the booking feed to its end and returns the last version. */
    async feedEnd(): Promise<string> {
      const { body } = await actor.send('GET', `${provider}/bookings`)
      return body.data.Bookings.at(-1).version
    },
    async rows() {
      const { body } = await actor.send('GET', `${provider}/availability`)
      return (body.data.availabilities[unit.listing_id][unit.room_type_id] as Record<string, unknown>[]).map(
        ({ start_date, end_date, available, as_of }) => ({ start_date, end_date, available, as_of }),
      )
    },
    async night(date = range.start_date) {
      const query = `listing_id=${unit.listing_id}&room_type_id=${unit.room_type_id}&start_date=${date}&end_date=${date}`
      const { body } = await actor.send('GET', `${provider}/availability/nights?${query}`)
      const [{ available, booked, left }] = body.data.nights[unit.listing_id][unit.room_type_id]
      return { available, booked, left }
    },
  }
}

const later = (version: string, seconds: number) =>
  new Date(Date.parse(`${version.replace(' ', 'T')}Z`) + seconds * 1000)
    .toISOString()
    .slice(0, 19)
    .replace('T', ' ')

test('a booking between the count and its push counts against a push with "as_of", and not against one without', async () => {
  const { push, book, feedEnd, night } = await partner()
  await push({ available: 1 })
  const as_of = await feedEnd()
  expect((await book()).status).toBe(201)
  expect((await push({ available: 1, as_of })).status).toBe(200)
  expect(await night()).toEqual({ available: 1, booked: 1, left: 0 })
  expect((await book()).body.error.errors).toMatchObject([{ path: 'checkin_at', code: 'unavailable' }])
  await push({ available: 1 })
  expect(await night()).toEqual({ available: 1, booked: 0, left: 1 })
  expect((await book()).status).toBe(201)
})

test('a booking counts by its version at its creation, however often it changes later', async () => {
  const { push, book, confirm, feedEnd, night } = await partner()
  const known = (await book()).body.data.booking_id
  const as_of = await feedEnd()
  await book()
  expect((await confirm(known)).status).toBe(200)
  await push({ available: 3, as_of })
  expect(await night()).toEqual({ available: 3, booked: 1, left: 2 })
  await push({ available: 2, as_of: await feedEnd() })
  expect(await night()).toEqual({ available: 2, booked: 0, left: 2 })
})

test('a cancelled booking gives back what was subtracted for it, and nothing if the count knew it', async () => {
  const { push, book, cancel, feedEnd, night } = await partner()
  const known = (await book()).body.data.booking_id
  const as_of = await feedEnd()
  const unknown = (await book()).body.data.booking_id
  await push({ available: 1, as_of })
  expect(await night()).toEqual({ available: 1, booked: 1, left: 0 })
  await cancel(known)
  expect(await night()).toEqual({ available: 1, booked: 1, left: 0 })
  await cancel(unknown)
  expect(await night()).toEqual({ available: 1, booked: 0, left: 1 })
})

test('of two pushes out of order the older one is refused as a whole, and names the later version', async () => {
  const { push, book, feedEnd, rows } = await partner()
  const older = await feedEnd()
  await book()
  const newer = await feedEnd()
  await push({ available: 2, as_of: newer, start_date: '2031-05-10', end_date: '2031-05-12' })
  const { status, headers, body } = await push(
    { available: 5, as_of: newer },
    { available: 3, as_of: older, end_date: '2031-05-10' },
    { available: 3, as_of: older, end_date: '2031-05-09' },
  )
  expect({ status, retry: headers.get('retry-after'), type: body.error.type }).toEqual({
    status: 409,
    retry: null,
    type: 'conflict',
  })
  expect(body.error.errors).toEqual([
    { path: 'data.1.as_of', code: 'conflict', message: expect.stringContaining(newer) },
  ])
  expect(await rows()).toEqual([
    { start_date: '2031-05-10', end_date: '2031-05-12', available: 2, as_of: newer },
  ])
  expect((await push({ available: 3, as_of: older, end_date: '2031-05-09' })).status).toBe(200)
  expect(
    (await push({ available: 4, as_of: newer, start_date: '2031-05-11', end_date: '2031-05-11' })).status,
  ).toBe(200)
  expect(await rows()).toEqual([
    { start_date: '2031-05-01', end_date: '2031-05-09', available: 3, as_of: older },
    { start_date: '2031-05-10', end_date: '2031-05-10', available: 2, as_of: newer },
    { start_date: '2031-05-11', end_date: '2031-05-11', available: 4, as_of: newer },
    { start_date: '2031-05-12', end_date: '2031-05-12', available: 2, as_of: newer },
  ])
})

test('a push without "as_of" always applies, and an older count may then replace it', async () => {
  const { push, book, feedEnd, rows } = await partner()
  const older = await feedEnd()
  await book()
  await push({ available: 2, as_of: await feedEnd() })
  expect((await push({ available: 1 })).status).toBe(200)
  expect(await rows()).toEqual([{ ...range, available: 1, as_of: null }])
  expect((await push({ available: 3, as_of: older })).status).toBe(200)
})

test('within a request the later item wins, even if its "as_of" is older', async () => {
  const { push, book, feedEnd, rows } = await partner()
  const older = await feedEnd()
  await book()
  const newer = await feedEnd()
  expect((await push({ available: 1, as_of: newer }, { available: 2, as_of: older })).status).toBe(200)
  expect(await rows()).toEqual([{ ...range, available: 2, as_of: older }])
})

test('an "as_of" after the newest booking, and any without bookings, is refused at the first 20 items', async () => {
  const { push, feedEnd } = await partner()
  const newest = await feedEnd()
  const ahead = await push(
    { available: 1, as_of: newest },
    ...Array(25).fill({ available: 1, as_of: later(newest, 1) }),
  )
  expect({ status: ahead.status, problems: ahead.body.error.errors }).toEqual({
    status: 422,
    problems: Array.from({ length: 20 }, (_, index) => ({
      path: `data.${index + 1}.as_of`,
      code: 'invalid',
      message: `"data.${index + 1}.as_of" must be at most ${newest}, the newest version of the booking feed`,
    })),
  })
  const actor = await service.actor()
  const { body } = await actor.send('POST', '/v1/listings', {
    body: { name: 'L', room_types: [{ name: 'T' }] },
  })
  const [{ id: room_type_id }] = (await actor.send('GET', `/v1/listings/${body.data.id}`)).body.data
    .room_types
  const without = partnerOf(actor, { user_id: 0, unit: { listing_id: body.data.id, room_type_id } })
  const early = await without.push({ available: 1, as_of: '2001-01-01 00:00:00' })
  expect({ status: early.status, errors: early.body.error.errors }).toMatchObject({
    status: 422,
    errors: [{ path: 'data.0.as_of', code: 'invalid' }],
  })
})

test('an older count is reported at the first 20 items', async () => {
  const { push, book, feedEnd } = await partner()
  const older = await feedEnd()
  await book()
  await push({ available: 1, as_of: await feedEnd() })
  const { status, body } = await push(...Array(120).fill({ available: 1, as_of: older }))
  expect({ status, paths: body.error.errors.map(({ path }: { path: string }) => path) }).toEqual({
    status: 409,
    paths: Array.from({ length: 20 }, (_, index) => `data.${index}.as_of`),
  })
})

test('the checks run in order: shape, listings, room types, ahead, older', async () => {
  const { push, book, feedEnd } = await partner()
  const older = await feedEnd()
  await book()
  const newest = await feedEnd()
  await push({ available: 1, as_of: newest })
  const shape = { available: -1 }
  const foreign = { listing_id: 999_999_999 }
  const wrong = { room_type_id: 999_999_999 }
  const ahead = { as_of: later(newest, 60) }
  const old = { as_of: older }
  const wrongs = [shape, foreign, wrong, ahead, old]
  const statuses: number[] = []
  for (let first = 0; first < wrongs.length; first += 1) {
    const items = wrongs.slice(first).toReversed()
    statuses.push((await push(...items.map((item) => ({ available: 1, ...item })))).status)
  }
  expect(statuses).toEqual([422, 403, 400, 422, 409])
})

test.each([
  ['2027-01-01'],
  ['2027-01-01T00:00:00Z'],
  ['2027-02-30 00:00:00'],
  ['2027-01-01 24:00:00'],
  [' '],
  [1_800_000_000],
])('the "as_of" %j is invalid', async (as_of) => {
  const { push } = await partner()
  const { status, body } = await push({ available: 1, as_of })
  expect({ status, errors: body.error.errors }).toMatchObject({
    status: 422,
    errors: [{ path: 'data.0.as_of', code: 'invalid' }],
  })
})

test('a version that is nobody’s is fine, and null means none', async () => {
  const { push, feedEnd, rows } = await partner()
  const as_of = later(await feedEnd(), -3600)
  expect((await push({ available: 1, as_of, end_date: '2031-05-02' })).status).toBe(200)
  expect((await push({ available: 1, as_of: null, start_date: '2031-05-03' })).status).toBe(200)
  expect((await rows()).map((row) => row.as_of)).toEqual([as_of, null])
})

test('the response names the newest booking version, also when it is replayed, and null without bookings', async () => {
  const actor = await service.actor()
  const { user_id, listing_id, room_type_id } = await seedBooking(actor)
  const { push, book, cancel, feedEnd } = partnerOf(actor, { user_id, unit: { listing_id, room_type_id } })
  const first = await feedEnd()
  const body = { data: [{ listing_id, room_type_id, ...range, available: 1 }] }
  const send = () =>
    actor.send('POST', '/v1/integrations/provider_one/availability', {
      body,
      headers: { 'Idempotency-Key': 'one' },
    })
  expect((await send()).body.meta.newest_version).toBe(first)
  const { booking_id } = (await book()).body.data
  expect((await push({ available: 1 })).body.meta.newest_version).toBe(await feedEnd())
  await cancel(booking_id)
  expect((await push({ available: 1 })).body.meta.newest_version).toBe(await feedEnd())
  expect((await send()).body.meta.newest_version).toBe(first)
  const other = await service.actor()
  const listing = await other.send('POST', '/v1/listings', {
    body: { name: 'L', room_types: [{ name: 'T' }] },
  })
  const { room_types } = (await other.send('GET', `/v1/listings/${listing.body.data.id}`)).body.data
  const empty = await other.send('POST', '/v1/integrations/provider_one/availability', {
    body: { data: [{ ...body.data[0], listing_id: listing.body.data.id, room_type_id: room_types[0].id }] },
  })
  expect(empty.body.meta.newest_version).toBeNull()
})

test('the parts of a split row keep their "as_of", also when they are compacted', async () => {
  const { push, feedEnd, rows, unit } = await partner()
  const as_of = await feedEnd()
  await push({ available: 2, as_of }, { available: 0, start_date: '2031-05-10', end_date: '2031-05-12' })
  const parts = [
    { start_date: '2031-05-01', end_date: '2031-05-09', available: 2, as_of },
    { start_date: '2031-05-10', end_date: '2031-05-12', available: 0, as_of: null },
    { start_date: '2031-05-13', end_date: '2031-05-31', available: 2, as_of },
  ]
  expect(await rows()).toEqual(parts)
  const owner = await service.live.db.collection('listings').findOne({ id: unit.listing_id })
  await compactRoomTypes(service.live.db, owner?.owner_id, [unit.room_type_id])
  expect(await rows()).toEqual(parts)
})

test("a sandbox compares with its own versions, and refuses those of the host's bookings", async () => {
  const actor = await service.actor()
  await seedBooking(actor)
  const unit = { listing_id: 2001, room_type_id: 3001 }
  const sandbox = partnerOf(actor, { user_id: 1001, unit }, '/sandbox')
  const as_of = await sandbox.feedEnd()
  expect((await sandbox.book()).status).toBe(201)
  expect((await sandbox.push({ available: 1, as_of })).body.meta.newest_version).toBe(await sandbox.feedEnd())
  expect(await sandbox.night()).toEqual({ available: 1, booked: 1, left: 0 })
  expect((await sandbox.push({ available: 1, as_of: later(await sandbox.feedEnd(), 1) })).status).toBe(422)
})

test('after a restore no count has an "as_of", and partners may send the versions that were lost', async () => {
  const MONGODB_URL = await ownDatabase()
  const app = await testApp({ MONGODB_URL })
  const { push, book, feedEnd, rows, night } = await partner(app)
  const older = await feedEnd()
  await book()
  const newest = await feedEnd()
  await push({ available: 2, as_of: newest })
  await skipPast(app.live.db, () => new Date(), { seconds: 3600, ids: 100 })
  await skipPast(app.live.db, () => new Date(), { seconds: 3600, ids: 100 })
  expect(await rows()).toEqual([{ ...range, available: 2, as_of: null }])
  const pushed = await push({ available: 1, as_of: older })
  expect({ status: pushed.status, newest: pushed.body.meta.newest_version }).toEqual({ status: 200, newest })
  const lost = later(newest, 60)
  expect((await push({ available: 1, as_of: lost })).status).toBe(200)
  expect((await push({ available: 1, as_of: later(newest, 3 * 3600) })).status).toBe(422)
  await book()
  expect(await night()).toEqual({ available: 1, booked: 1, left: 0 })
})

const days = 20
const operations = 150

test(`nights agree with sets of known bookings over ${operations} pushes, bookings and cancellations, late or not`, async () => {
  const random = seededRandom(65)
  const below = (limit: number) => Math.floor(random() * limit)
  const day = (offset: number) => new Date(Date.UTC(2031, 4, 1 + offset)).toISOString().slice(0, 10)
  const { push, book, cancel, feedEnd, night } = await partner()
  /** The feed's ends, each with the bookings that a partner knew then. */
  const looks: { version: string; known: Set<number> }[] = []
  const active = new Map<number, { from: number; to: number }>()
  const made: number[] = []
  const table = Array.from(
    { length: days },
    () => null as { available: number; known: Set<number>; version: string | null } | null,
  )
  const leftOn = (date: number) => {
    const row = table[date]
    if (!row) return null
    const booked = [...active].filter(
      ([id, { from, to }]) => from <= date && date < to && !row.known.has(id),
    ).length
    return { available: row.available, booked, left: Math.max(0, row.available - booked) }
  }
  const look = async () => looks.push({ version: await feedEnd(), known: new Set(made) })
  await look()
  const conflicts: boolean[] = []
  for (let operation = 0; operation < operations; operation += 1) {
    const kind = random()
    if (kind < 0.4) {
      const from = below(days)
      const to = Math.min(days - 1, from + below(8))
      const available = below(4)
      const seen = random() < 0.7 ? looks[Math.max(0, looks.length - 1 - below(4))] : undefined
      const dates = { start_date: day(from), end_date: day(to) }
      const { status } = await push({ available, ...dates, ...(seen ? { as_of: seen.version } : {}) })
      const isOlder = table
        .slice(from, to + 1)
        .some((row) => seen && row?.version && row.version > seen.version)
      conflicts.push(isOlder)
      expect(status).toBe(isOlder ? 409 : 200)
      if (isOlder) continue
      for (let date = from; date <= to; date += 1)
        table[date] = { available, known: seen?.known ?? new Set(made), version: seen?.version ?? null }
    } else if (kind < 0.55 && active.size > 0) {
      const id = [...active.keys()][below(active.size)] as number
      expect((await cancel(id)).status).toBe(200)
      active.delete(id)
    } else {
      const from = below(days - 1)
      const to = Math.min(days, from + 1 + below(4))
      const isFull = Array.from({ length: to - from }, (_, index) => leftOn(from + index)).some(
        (one) => one?.left === 0,
      )
      const { status, body } = await book(day(from), day(to))
      expect(status).toBe(isFull ? 422 : 201)
      if (status === 201) {
        made.push(body.data.booking_id)
        active.set(body.data.booking_id, { from, to })
      }
    }
    if (random() < 0.4) await look()
    const probe = below(days)
    const expected = leftOn(probe)
    if (expected) expect(await night(day(probe))).toEqual(expected)
  }
  expect(new Set(conflicts)).toEqual(new Set([true, false]))
})
