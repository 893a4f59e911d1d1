import { expect, test } from 'vitest'
import { readHostClock } from '../../../src/host-clock/store.ts'
import { findBookingOfAnyHost } from '../../../src/stays/bookings/store.ts'
import { transitionBooking } from '../../../src/stays/bookings/transitions.ts'
import { seedBooking, testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'

let offset = 0
const service = await testApp({ MONGODB_URL: await ownDatabase() }, () => new Date(Date.now() + offset))
const { db, clock } = service.live
const path = '/v1/integrations/provider_one/bookings'

async function hostWith(count: number) {
  const actor = await service.actor()
  const { user_id, listing_id, room_type_id, booking_id } = await seedBooking(actor)
  const ids = [booking_id]
  for (let index = 1; index < count; index += 1) {
    const body = { user_id, listing_id, room_type_id, checkin_at: '2030-01-01', checkout_at: '2030-01-05' }
    ids.push((await actor.send('POST', '/v1/bookings', { body })).body.data.booking_id)
  }
  const page = async (query: string) => {
    const { body } = await actor.send('GET', `${path}?per_page=3${query}`)
    return {
      items: body.data.Bookings,
      ids: body.data.Bookings.map(({ booking_id }: { booking_id: number }) => booking_id),
      pagination: body.meta.pagination,
    }
  }
  const confirm = (id: number) =>
    findBookingOfAnyHost(db, id).then((booking) =>
      transitionBooking({ db, clock }, booking, { to: 'confirmed' }),
    )
  return { actor, ids, page, confirm }
}

test('the pages of an unchanged feed are numbered and counted like those of any list', async () => {
  const { ids, page } = await hostWith(8)
  const pages = [await page('&page=1'), await page('&page=2'), await page('&page=3'), await page('&page=4')]
  expect(pages.map((one) => one.ids)).toEqual([ids.slice(0, 3), ids.slice(3, 6), ids.slice(6), []])
  expect(pages.map(({ pagination: { next_cursor: _, ...rest } }) => rest)).toEqual([
    { current_page: 1, per_page: 3, total: 8, last_page: 3, from: 1, to: 3 },
    { current_page: 2, per_page: 3, total: 8, last_page: 3, from: 4, to: 6 },
    { current_page: 3, per_page: 3, total: 8, last_page: 3, from: 7, to: 8 },
    { current_page: 4, per_page: 3, total: 8, last_page: 3, from: null, to: null },
  ])
})

test('a reader by page number may pause for almost a day between two pages', async () => {
  const { ids, page, confirm } = await hostWith(5)
  const [a, b, , d, e] = ids as number[]
  await page('&page=1')
  await confirm(a as number)
  await confirm(b as number)
  offset = 86_390_000
  expect((await page('&page=2')).ids).toEqual([d, e, a])
  offset = 0
})

test('a page whose predecessor was never read is found by counting', async () => {
  const { ids, page } = await hostWith(11)
  for (const number of [5, 4, 3, 2])
    expect((await page(`&page=${number}`)).ids).toEqual(ids.slice(3 * (number - 1), 3 * number))
})

test('a page past the end is empty, also if nothing follows updated_after', async () => {
  const { ids, page } = await hostWith(4)
  const { version } = (await page('&page=2')).items.at(-1)
  const later = `&updated_after=${encodeURIComponent(version)}`
  const pages = { far: await page('&page=99'), later: await page(`${later}&page=2`) }
  expect(pages.far).toMatchObject({ ids: [], pagination: { total: ids.length, last_page: 2, from: null } })
  expect(pages.later).toMatchObject({ ids: [], pagination: { total: 0, last_page: 1, from: null } })
})

test('bookings that change between two pages appear again later, and no other booking is skipped', async () => {
  const { ids, page, confirm } = await hostWith(7)
  const [a, b, c, d, e, f, g] = ids as number[]
  expect((await page('&page=1')).ids).toEqual([a, b, c])
  await confirm(a as number)
  await confirm(b as number)
  const second = await page('&page=2')
  expect(second.ids).toEqual([d, e, f])
  expect(second.pagination.last_page).toBe(3)
  await confirm(d as number)
  const third = await page('&page=3')
  expect(third.ids).toEqual([g, a, b])
  expect(third.pagination.last_page).toBe(4)
  expect((await page('&page=4')).ids).toEqual([d])
})

test('two concurrent readers by page number may see a booking twice but never skip one', async () => {
  const { ids, page, confirm } = await hostWith(6)
  const [a, b, c, d, e, f] = ids as number[]
  expect((await page('&page=1')).ids).toEqual([a, b, c])
  await confirm(a as number)
  await confirm(b as number)
  expect((await page('&page=1')).ids).toEqual([c, d, e])
  // The first reader should continue after c and the second after e, so both continue after c.
  expect((await page('&page=2')).ids).toEqual([d, e, f])
})

test('a reader by cursor sees every booking once, and the last cursor is null', async () => {
  const { ids, page } = await hostWith(7)
  const seen: number[] = []
  let cursor = ''
  for (let count = 0; count < 3; count += 1) {
    const response = await page(cursor && `&cursor=${cursor}`)
    seen.push(...response.ids)
    cursor = response.pagination.next_cursor
  }
  expect({ seen, cursor }).toEqual({ seen: ids, cursor: null })
})

test('a cursor carries the query of its walk, which may be left out or repeated', async () => {
  const { actor, ids } = await hostWith(8)
  const read = async (query: string) => (await actor.send('GET', `${path}?${query}`)).body
  const [second] = (await read('per_page=2')).data.Bookings.slice(1)
  const { listing_id } = second
  const since = `updated_after=${encodeURIComponent(second.version)}`
  const walk = `per_page=3&${since}&listing_id=${listing_id}&checkout_after=2026-01-01`
  const first = await read(walk)
  const cursor = `cursor=${first.meta.pagination.next_cursor}`
  for (const query of [cursor, `${walk}&${cursor}`, `${cursor}&${since}`, `${cursor}&per_page=3`]) {
    const { data, meta } = await read(query)
    const { next_cursor, ...pagination } = meta.pagination
    expect({
      query,
      ids: data.Bookings.map((one: { booking_id: number }) => one.booking_id),
      pagination,
    }).toEqual({
      query,
      ids: ids.slice(5, 8),
      pagination: { current_page: 2, per_page: 3, total: 6, last_page: 2, from: 4, to: 6 },
    })
    expect(next_cursor).toBeNull()
  }
  const midnight = await read('per_page=7&updated_after=2020-01-01')
  const after = `per_page=7&cursor=${midnight.meta.pagination.next_cursor}&updated_after=2020-01-01`
  expect((await read(`${after}%2000:00:00`)).meta.pagination).toMatchObject({ total: 8, from: 8, to: 8 })
})

test('a cursor beside a page, or beside a filter, per_page or updated_after of another walk, is 422 at it', async () => {
  const { actor } = await hostWith(4)
  const read = (query: string) => actor.send('GET', `${path}?${query}`)
  const [{ listing_id, version }] = (await read('per_page=1')).body.data.Bookings
  const cursorOf = async (query: string) => (await read(query)).body.meta.pagination.next_cursor
  const plain = await cursorOf('per_page=1')
  const filtered = await cursorOf(
    `per_page=1&listing_id=${listing_id}&checkout_after=2026-01-01&updated_after=2020-01-01`,
  )
  const later = `updated_after=${encodeURIComponent(version)}`
  for (const [query, paths] of [
    [`cursor=${plain}&per_page=2`, ['per_page']],
    [`cursor=${plain}&page=1`, ['page']],
    [`cursor=${plain}&page=2&per_page=1`, ['page']],
    [`cursor=${plain}&${later}`, ['updated_after']],
    [`cursor=${plain}&listing_id=${listing_id}`, ['listing_id']],
    [`cursor=${plain}&checkout_after=2026-01-01`, ['checkout_after']],
    [`cursor=${filtered}&listing_id=999999999`, ['listing_id']],
    [`cursor=${filtered}&checkout_after=2026-01-02`, ['checkout_after']],
    [`cursor=${filtered}&updated_after=2020-01-02`, ['updated_after']],
    [`cursor=${filtered}&${later}&per_page=50&page=1`, ['page', 'per_page', 'updated_after']],
    [`cursor=${filtered}&consumer=nobody`, ['cursor']],
    [`cursor=${plain}&per_page=0&listing_id=x`, ['per_page', 'listing_id']],
  ] as const) {
    const { status, body } = await read(query)
    const problems: { path: string }[] = body.error?.errors ?? []
    expect({ query, status, paths: problems.map((problem) => problem.path) }).toEqual({
      query,
      status: 422,
      paths,
    })
  }
  expect((await read(`cursor=${plain}&wait=0&include=detail&sender=guest`)).status).toBe(200)
})

test('a cursor continues its walk after its consumer has moved on', async () => {
  const { actor, ids } = await hostWith(5)
  const consumer = `${path}/consumers/walker`
  const acknowledge = (acknowledged: string | null) => actor.send('PUT', consumer, { body: { acknowledged } })
  await acknowledge(null)
  let cursor: string | null = ''
  const seen: number[] = []
  for (let count = 0; cursor !== null; count += 1) {
    const query: string = `consumer=walker&${cursor === '' ? 'per_page=2' : `cursor=${cursor}`}`
    const { body } = await actor.send('GET', `${path}?${query}`)
    const { data, meta } = body
    expect(meta.pagination).toMatchObject({ total: 5, from: 1 + 2 * count })
    seen.push(...data.Bookings.map((one: { booking_id: number }) => one.booking_id))
    await acknowledge(data.Bookings.at(-1).version)
    cursor = meta.pagination.next_cursor
  }
  expect(seen).toEqual(ids)
})

const forged = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url')
const start = { after: 0, page: 1 }

test.each([
  'x',
  '',
  '!!!',
  'MTIz',
  Buffer.from('1.0').toString('base64url'),
  'x'.repeat(513),
  forged('bookings', { after: 0, page: 0 }, { per_page: 50 }),
  forged('bookings', start, { per_page: 101 }),
  forged('messages', start, { per_page: 50 }),
  forged('bookings', start, { per_page: 50, host_id: 1 }),
  forged('bookings', start, {}),
  forged('bookings', start, { per_page: 50, listing_id: { $ne: 1 } }),
  forged('bookings', start, { per_page: 50, updated_after: '2026-02-30 00:00:00' }),
  forged(),
  'bnVsbA',
])('GET bookings with the cursor %j responds 422', async (cursor) => {
  const actor = await service.actor()
  const { status, body } = await actor.send('GET', `${path}?cursor=${cursor}`)
  expect({ status, path: body.error.errors[0].path }).toEqual({ status: 422, path: 'cursor' })
})

/** Returns the reads of `work` as the database's profiler saw them, because what a read costs is not in any response. */
async function profiled(work: () => Promise<unknown>) {
  const begun = new Date()
  await db.db?.command({ profile: 2 })
  await work()
  await db.db?.command({ profile: 0 })
  return (
    db
      .collection('system.profile')
      // Change streams keep sending `getMore` even if nobody polls.
      .find({ ns: /host_clocks|bookings|listings|page_ends/, op: { $ne: 'getmore' }, ts: { $gte: begun } })
      .toArray()
  )
}

const sumOf = (counts: number[]) => counts.reduce((sum, count) => sum + count, 0)

test('a jump to the last page reads only that page', async () => {
  const { ids, page } = await hostWith(40)
  let last: number[] = []
  const operations = await profiled(async () => {
    last = (await page('&page=14')).ids
  })
  expect(last).toEqual(ids.slice(39))
  // The total is counted, but no page before the last one is read.
  const reads = operations.filter(({ op }) => op === 'query')
  expect(sumOf(reads.map(({ keysExamined }) => keysExamined))).toBeLessThan(12)
})

test('an idle poll examines no index entry and no document', async () => {
  const { actor, page } = await hostWith(3)
  const last = (await readHostClock(db, actor.hostId)).toISOString()
  const query = `&updated_after=${encodeURIComponent(last.slice(0, 19).replace('T', ' '))}`
  expect((await page(query)).pagination).toMatchObject({ total: 0, last_page: 1, next_cursor: null })
  const operations = await profiled(async () => {
    for (let count = 0; count < 5; count += 1) await page(query)
  })
  expect(operations).not.toEqual([])
  expect({
    keys: sumOf(operations.map(({ keysExamined }) => keysExamined)),
    documents: sumOf(operations.map(({ docsExamined }) => docsExamined)),
  }).toEqual({ keys: 0, documents: 0 })
})
