import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createHost } from '../../../src/access/hosts/store.ts'
import { addDays } from '../../../src/core/clock.ts'
import { carryOut, prepareWrite } from '../../../src/http/write.ts'
import { sentAvailability } from '../../../src/inventory/availability/availability-write.ts'
import { compactRoomTypes } from '../../../src/inventory/availability/compaction.ts'
import { availabilityBlockModel } from '../../../src/inventory/availability/model.ts'
import { findCounts, findRows, findRowsCovering } from '../../../src/inventory/availability/store.ts'
import { inSnapshot, inTransaction } from '../../../src/platform/mongo/turns/transactions.ts'
import { testApp } from '../../support/app.ts'
import { storedRows } from '../../support/availability.ts'
import { fillPortfolio } from '../../support/portfolio.ts'
import { runs } from '../../support/soak.ts'

let now = Date.parse('2026-11-20T12:00:00Z')
const { live } = await testApp({}, () => new Date(now))
const { db } = live
const day = (offset: number) => addDays('2027-01-01', offset)
const horizon = 45
/** The first of the listing ids that only this test file uses. */
let nextListing = 7_000_000

async function hostWithRoomType() {
  const email = `${crypto.randomUUID()}@example.com`
  const { id: hostId } = await createHost(db, live.clock, { name: 'Rows', email })
  const listing_id = nextListing++
  await fillPortfolio(db, hostId, 1, listing_id)
  return { hostId, pair: { listing_id, room_type_id: listing_id * 10 } }
}

type Owner = Awaited<ReturnType<typeof hostWithRoomType>>

interface Range {
  start: number
  length: number
  available: number
}

/** The units and the time of the last write that covered a night. */
type Night = { available: number; updated_at: number }

async function write({ hostId, pair }: Owner, ranges: Range[]) {
  now += 1000
  const items = ranges.map(({ start, length, available }) => {
    return { ...pair, available, start_date: day(start), end_date: day(start + length - 1) }
  })
  await carryOut(live, sentAvailability, hostId, items)
}

/** Returns the rows as a partner sees them. */
async function read({ hostId, pair }: Owner, window: { from?: string; to?: string } = {}) {
  const { room_type_id } = pair
  const rows = await inSnapshot(db, (session) =>
    findRows(db, session, hostId, { roomTypeIds: [room_type_id], window }),
  )
  return (rows.get(room_type_id) ?? []).map(
    ({ id, available, start_date, end_date, updated_at, sequence }) => {
      return { id, available, start_date, end_date, updated_at: updated_at.getTime(), sequence }
    },
  )
}

const range = fc.record({
  start: fc.integer({ min: 0, max: horizon - 1 }),
  length: fc.integer({ min: 1, max: 15 }),
  available: fc.integer({ min: 0, max: 9 }),
})
const step = fc.oneof(
  { weight: 3, arbitrary: fc.array(range, { minLength: 1, maxLength: 6 }) },
  { weight: 1, arbitrary: fc.constant('compact' as const) },
)
const window = fc.record({
  from: fc.option(fc.integer({ min: 0, max: horizon + 15 }), { nil: undefined }),
  days: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
})
const stay = fc.record({
  from: fc.integer({ min: 0, max: horizon + 15 }),
  days: fc.integer({ min: 0, max: 20 }),
})

test('after writes and compactions in any order, every night agrees with a plain table of nights', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 8 }),
      fc.array(window, { minLength: 1, maxLength: 4 }),
      fc.array(stay, { minLength: 1, maxLength: 2 }),
      async (steps, windows, stays) => {
        const owner = await hostWithRoomType()
        const nights = new Map<string, Night>()
        for (const one of steps) {
          const before = await read(owner)
          const ranges = one === 'compact' ? [] : one
          if (one === 'compact') await compactRoomTypes(db, owner.hostId, [owner.pair.room_type_id])
          else await write(owner, ranges)
          const touched = new Set<string>()
          for (const { start, length, available } of ranges) {
            for (let offset = start; offset < start + length; offset += 1) {
              nights.set(day(offset), { available, updated_at: now })
              touched.add(day(offset))
            }
          }
          const isUntouched = ({ start_date, end_date }: (typeof before)[number]) =>
            ![...touched].some((night) => start_date <= night && night <= end_date)
          const untouched = before.filter(isUntouched)
          expect(await read(owner)).toEqual(one === 'compact' ? before : expect.arrayContaining(untouched))
        }
        const rows = await read(owner)
        expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
        const shown = rows.flatMap(({ start_date, end_date, available, updated_at }) => {
          const covered: [string, Night][] = []
          for (let night = start_date; night <= end_date; night = addDays(night, 1))
            covered.push([night, { available, updated_at }])
          return covered
        })
        expect(shown).toEqual([...nights].sort(([one], [other]) => (one < other ? -1 : 1)))
        for (const { from, days } of windows) {
          const start = from === undefined ? undefined : day(from)
          const end = days === undefined ? undefined : day((from ?? 10) + days)
          const bounds = { ...(start ? { from: start } : {}), ...(end ? { to: end } : {}) }
          const inside = rows.filter(
            (row) => (!start || row.end_date >= start) && (!end || row.start_date <= end),
          )
          expect(await read(owner, bounds)).toEqual(inside)
        }
        const { room_type_id } = owner.pair
        const wanted = stays.map(({ from, days }) => ({
          roomTypeIds: [room_type_id],
          days: { from: day(from), to: day(from + days) },
        }))
        const byRoomType = await inSnapshot(db, (session) =>
          findRowsCovering(db, session, owner.hostId, wanted),
        )
        const covering = byRoomType.get(room_type_id) ?? []
        for (const { days } of wanted) {
          const { from: start, to: end } = days
          for (let night = start; night <= end; night = addDays(night, 1)) {
            const row = covering.find(({ start_date, end_date }) => start_date <= night && night <= end_date)
            const known = row && { available: row.available, updated_at: row.updated_at.getTime() }
            expect(known).toEqual(nights.get(night))
          }
        }
      },
    ),
    runs(10, 100),
  )
})

const stored = ({ hostId, pair }: Owner) =>
  storedRows(db, { owner_id: hostId, room_type_id: pair.room_type_id })

test('compactRoomTypes() keeps only the rows in force, and changes nothing when it runs again', async () => {
  const owner = await hostWithRoomType()
  await write(owner, [{ start: 0, length: 30, available: 1 }])
  await write(owner, [{ start: 5, length: 5, available: 2 }])
  await write(owner, [{ start: 4, length: 7, available: 3 }])
  const before = await read(owner)
  expect((await stored(owner)).length).toBe(3)
  await compactRoomTypes(db, owner.hostId, [owner.pair.room_type_id])
  const compacted = await stored(owner)
  expect(compacted.length).toBe(before.length)
  expect(await read(owner)).toEqual(before)
  await compactRoomTypes(db, owner.hostId, [owner.pair.room_type_id])
  expect(await stored(owner)).toEqual(compacted)
  const { room_type_id } = owner.pair
  const counts = await inSnapshot(db, (session) => findCounts(db, session, owner.hostId, [room_type_id]))
  expect(counts.get(room_type_id)).toMatchObject({ compactedRows: 3, looseRows: 0 })
})

test('concurrent compactions and writes of a room type lose no row', async () => {
  const owner = await hostWithRoomType()
  for (let round = 0; round < 10; round += 1) {
    const start = round * 3
    await Promise.all([
      write(owner, [{ start, length: 10, available: round }]),
      compactRoomTypes(db, owner.hostId, [owner.pair.room_type_id]),
      compactRoomTypes(live.db, owner.hostId, [owner.pair.room_type_id]),
    ])
  }
  const rows = await read(owner)
  expect(rows).toMatchObject(
    Array.from({ length: 10 }, (_, round) => ({ start_date: day(round * 3), available: round })),
  )
})

test('writes that were prepared before others and before a compaction count every row', async () => {
  const owner = await hostWithRoomType()
  const { hostId, pair } = owner
  const listing_id = nextListing++
  await fillPortfolio(db, hostId, 1, listing_id)
  const elsewhere = { listing_id, room_type_id: listing_id * 10 }
  const itemAt = (where: typeof pair, start: number) => ({
    ...where,
    available: start,
    start_date: day(start),
    end_date: day(start),
  })
  await write(owner, [{ start: 0, length: 1, available: 0 }])
  const alone = await prepareWrite(live, sentAvailability, hostId, [itemAt(pair, 1), itemAt(pair, 2)])
  const both = await prepareWrite(live, sentAvailability, hostId, [itemAt(pair, 3), itemAt(elsewhere, 9)])
  await write(owner, [{ start: 4, length: 1, available: 4 }])
  await compactRoomTypes(db, hostId, [pair.room_type_id])
  for (const { queue, write } of [alone, both]) await inTransaction(db, queue, write)
  const ids = [pair.room_type_id, elsewhere.room_type_id]
  const counts = await inSnapshot(db, (session) => findCounts(db, session, hostId, ids))
  expect(counts.get(pair.room_type_id)).toMatchObject({
    compactedRows: 2,
    looseRows: 3,
    written: { rows: 5, last_day: day(4) },
  })
  expect(counts.get(elsewhere.room_type_id)).toMatchObject({
    compactedRows: 0,
    looseRows: 1,
    written: { rows: 1, asked_at: 0, newest_as_of: null, last_day: day(9) },
  })
  expect((await read(owner)).map(({ available }) => available)).toEqual([0, 1, 2, 3, 4])
})

test('a write commits while its room type is being compacted', async () => {
  const owner = await hostWithRoomType()
  await write(owner, [{ start: 0, length: 30, available: 1 }])
  await write(owner, [{ start: 5, length: 5, available: 2 }])
  const place = { owner_id: owner.hostId, room_type_id: owner.pair.room_type_id }
  await inTransaction(db, 'other process', async (session) => {
    await availabilityBlockModel(db).deleteMany(place, { session })
    await write(owner, [{ start: 8, length: 1, available: 7 }])
    await session.abortTransaction()
  }).catch(() => {})
  expect((await read(owner)).map(({ available }) => available)).toEqual([1, 2, 7, 2, 1])
})

test('a room type holds 10,000 rows, however often they are rewritten, and a write that may exceed 12,000 is refused', async () => {
  const owner = await hostWithRoomType()
  const daily = (from: number, count: number, available: number) =>
    Array.from({ length: count }, (_, at) => ({ start: from + at, length: 1, available }))
  for (let from = 0; from < 10_000; from += 1000) await write(owner, daily(from, 1000, 1))
  for (let from = 0; from < 5000; from += 1000) await write(owner, daily(from, 1000, 2))
  expect(await read(owner)).toHaveLength(10_000)
  await write(owner, daily(10_000, 1000, 3))
  const refused = write(owner, daily(11_000, 501, 3))
  await expect(refused).rejects.toMatchObject({ problems: [{ path: 'data', code: 'max' }] })
  await write(owner, daily(11_000, 500, 3))
  const rows = await read(owner)
  expect({ rows: rows.length, lastDay: rows.at(-1)?.end_date }).toEqual({
    rows: 11_500,
    lastDay: day(11_499),
  })
})
