import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addDays } from '../../../src/core/clock.ts'
import { type AvailabilityRow, overlay } from '../../../src/inventory/availability/overlay.ts'
import { runs } from '../../support/soak.ts'

const origin = '2027-01-01'
const day = (offset: number) => addDays(origin, offset)
const horizon = 60

/** Ranges as a partner sends them, in write order. */
const ranges = fc.array(
  fc.record({
    start: fc.integer({ min: 0, max: horizon - 1 }),
    length: fc.integer({ min: 1, max: 20 }),
    available: fc.integer({ min: 0, max: 9 }),
  }),
  { minLength: 1, maxLength: 30 },
)

function play(sent: { start: number; length: number; available: number }[]): AvailabilityRow[] {
  let id = 0
  return sent.reduce<AvailabilityRow[]>((rows, { start, length, available }, index) => {
    const row = {
      id: ++id,
      available,
      start_date: day(start),
      end_date: day(start + length - 1),
      updated_at: new Date(index),
      sequence: index,
      as_of: null,
    }
    return overlay(rows, row, () => ++id)
  }, [])
}

test('overlay() agrees with a plain table of days for any ranges in any order', () => {
  fc.assert(
    fc.property(ranges, (sent) => {
      const table = new Map<string, { available: number; sequence: number }>()
      for (const [sequence, { start, length, available }] of sent.entries()) {
        for (let offset = start; offset < start + length; offset += 1)
          table.set(day(offset), { available, sequence })
      }
      const rows = play(sent)
      for (let offset = 0; offset < horizon + 20; offset += 1) {
        const covering = rows.filter(
          ({ start_date, end_date }) => start_date <= day(offset) && day(offset) <= end_date,
        )
        const expected = table.get(day(offset))
        expect(covering.map(({ available, sequence }) => ({ available, sequence }))).toEqual(
          expected ? [expected] : [],
        )
      }
    }),
    runs(200),
  )
})

test('overlay() keeps rows ordered and disjoint, each with its own id and write time', () => {
  fc.assert(
    fc.property(ranges, (sent) => {
      const rows = play(sent)
      expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
      for (const row of rows) {
        expect(row.start_date <= row.end_date).toBe(true)
        expect(row.updated_at.getTime()).toBe(row.sequence)
      }
      const overlapping = rows
        .slice(1)
        .filter((next, index) => next.start_date <= (rows[index]?.end_date ?? ''))
      expect(overlapping).toEqual([])
    }),
    runs(200),
  )
})
