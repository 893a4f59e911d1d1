import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { StoredRow } from '../../../src/inventory/availability/model.ts'
import { findRowsCovering, insertRows } from '../../../src/inventory/availability/store.ts'
import { inTransaction } from '../../../src/platform/mongo/turns/transactions.ts'
import { bookingModel, type StoredBooking } from '../../../src/stays/bookings/model.ts'
import { findActiveStays, findRowsAndStays } from '../../../src/stays/bookings/store.ts'
import { unitsByNight } from '../../../src/stays/capacity/units.ts'
import { testApp } from '../../support/app.ts'
import { runs } from '../../support/soak.ts'

const { db } = (await testApp()).live
const from = Date.parse('2031-01-01')
const dayAt = (offset: number) => new Date(from + offset * 86_400_000).toISOString().slice(0, 10)
const momentAt = (offset: number) => new Date(from + offset * 1000)

/** Owners and bookings that no other test has. */
let lastOwner = 910_000_000
let lastId = 910_000_000
const roomTypes = [1, 2]

interface WrittenRow {
  roomTypeId: number
  start: number
  length: number
  available: number
  sequence: number
  asOf: number | null
}
const row: fc.Arbitrary<WrittenRow> = fc.record({
  roomTypeId: fc.constantFrom(...roomTypes),
  start: fc.nat(8),
  length: fc.integer({ min: 1, max: 6 }),
  available: fc.integer({ min: 0, max: 5 }),
  sequence: fc.nat(8),
  asOf: fc.option(fc.nat(8)),
})

interface Stay {
  roomTypeId: number
  start: number
  length: number
  sequence: number
  version: number
  isCancelled: boolean
}
const stay: fc.Arbitrary<Stay> = fc.record({
  roomTypeId: fc.constantFrom(...roomTypes),
  start: fc.nat(8),
  length: fc.integer({ min: 1, max: 6 }),
  sequence: fc.nat(8),
  version: fc.nat(8),
  isCancelled: fc.boolean(),
})

async function store(owner_id: number, { rows, stays }: { rows: WrittenRow[]; stays: Stay[] }) {
  for (const [order, { roomTypeId, start, length, available, sequence, asOf }] of rows.entries()) {
    const written: StoredRow = {
      id: order + 1,
      split_id: 0,
      listing_id: 1,
      room_type_id: roomTypeId,
      available,
      start_date: dayAt(start),
      end_date: dayAt(start + length - 1),
      updated_at: momentAt(0),
      as_of: asOf === null ? null : momentAt(asOf),
      sequence,
      order,
    }
    await inTransaction(db, `host/${owner_id}`, (session) => insertRows(db, session, owner_id, [written]))
  }
  const bookings = stays.map(({ roomTypeId, start, length, sequence, version, isCancelled }) => {
    lastId += 1
    const booking: Partial<StoredBooking> = {
      id: lastId,
      owner_id,
      room_type_id: roomTypeId,
      checkin_at: dayAt(start),
      checkout_at: dayAt(start + length),
      status: isCancelled ? 3 : 1,
      created_at: momentAt(version),
      created_sequence: sequence,
      created_version: momentAt(version),
      updated_at: momentAt(lastId % 1_000_000),
    }
    return booking
  })
  if (bookings.length > 0) await bookingModel(db).collection.insertMany(bookings)
}

test('rows and stays read together count as many units as those read one after the other', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 5 }),
      fc.array(stay, { maxLength: 8 }),
      fc.nat(8),
      async (rows, stays, start) => {
        lastOwner += 1
        const ownerId = lastOwner
        await store(ownerId, { rows, stays })
        const days = { from: dayAt(start), to: dayAt(start + 3) }
        const nights = roomTypes.map((id) => ({ roomTypeIds: [id], days }))
        const [together, apart] = await inTransaction(db, `host/${ownerId}`, async (session) => [
          await findRowsAndStays(db, session, ownerId, { nights }),
          {
            rows: await findRowsCovering(db, session, ownerId, nights),
            stays: await findActiveStays(db, session, ownerId, nights),
          },
        ])
        expect(together.rows).toEqual(apart.rows)
        const all = new Set(apart.stays.map(({ id }) => id))
        expect(together.stays.filter(({ id }) => !all.has(id))).toEqual([])
        for (const id of roomTypes) {
          const unitsOf = (read: typeof apart) =>
            unitsByNight(days, {
              rows: read.rows.get(id) ?? [],
              stays: read.stays.filter(({ room_type_id }) => room_type_id === id),
              calendars: [],
              rooms: 0,
              today: dayAt(0),
            }).filter(({ available }) => available !== null)
          expect(unitsOf(together)).toEqual(unitsOf(apart))
        }
      },
    ),
    runs(60),
  )
})

test('stays that every row knows, and stays without a row, are not read', async () => {
  lastOwner += 1
  const known = { roomTypeId: 1, start: 0, length: 2, isCancelled: false }
  await store(lastOwner, {
    rows: [
      { roomTypeId: 1, start: 0, length: 1, available: 5, sequence: 4, asOf: null },
      { roomTypeId: 1, start: 1, length: 1, available: 5, sequence: 5, asOf: 6 },
    ],
    stays: [
      { ...known, sequence: 4, version: 6 },
      { ...known, sequence: 5, version: 6 },
      { ...known, sequence: 4, version: 7 },
    ],
  })
  const read = (roomTypeId: number) =>
    inTransaction(db, `host/${lastOwner}`, (session) => {
      const days = { from: dayAt(0), to: dayAt(1) }
      return findRowsAndStays(db, session, lastOwner, { nights: [{ roomTypeIds: [roomTypeId], days }] })
    })
  const { stays } = await read(1)
  expect(stays.map(({ created_sequence }) => created_sequence).sort()).toEqual([4, 5])
  const withoutRow = { ...known, roomTypeId: 2, sequence: 9, version: 9 }
  await store(lastOwner, { rows: [], stays: [withoutRow] })
  expect(await read(2)).toEqual({ rows: new Map(), stays: [] })
})
