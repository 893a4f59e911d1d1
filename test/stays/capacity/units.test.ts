import { expect, test } from 'vitest'
import {
  type CountedRow,
  type CountedStay,
  firstFullNight,
  nightsToCompare,
  overbookedNights,
  type RoomCalendar,
  unitsByNight,
} from '../../../src/stays/capacity/units.ts'

const today = '2027-03-10'
const at = (second: number) => new Date(Date.UTC(2027, 2, 1, 0, 0, second))

/** Stays and rows take place one after another: `second` is both the position and the version. */
const row = (available: number, second: number, as_of: number | null = null): CountedRow => ({
  start_date: '2027-03-12',
  end_date: '2027-03-14',
  available,
  sequence: second,
  as_of: as_of === null ? null : at(as_of),
})

const stay = (second: number, checkin_at = '2027-03-12', checkout_at = '2027-03-14'): CountedStay => ({
  id: second,
  checkin_at,
  checkout_at,
  created_at: at(second),
  created_sequence: second,
  created_version: at(second),
})

const blocked = (
  room_id: number,
  second: number,
  start = '2027-03-12',
  end = '2027-03-13',
): RoomCalendar => ({
  room_id,
  hasBeenRead: true,
  blocks: [{ start_date: start, end_date: end, seen_at: at(second) }],
  blockedNights: [{ from: start, to: '9999-12-31', sequence: second, at: at(second) }],
})

const free = (room_id: number, hasBeenRead = true): RoomCalendar => ({
  room_id,
  hasBeenRead,
  blocks: [],
  blockedNights: [],
})

interface Case {
  rows?: CountedRow[]
  stays?: CountedStay[]
  calendars?: RoomCalendar[]
  rooms?: number
}

const night = (one: Case, date = '2027-03-12') => {
  const capacity = { rows: [], stays: [], calendars: [], rooms: 3, today, ...one }
  const [{ available, booked, blocked: taken, left } = {}] = unitsByNight({ from: date, to: date }, capacity)
  return `${available} - ${booked} - ${taken} = ${left}`
}

test.each<[string, Case, string]>([
  ['is open without a row and a calendar', { stays: [stay(1)] }, 'null - 1 - 0 = null'],
  ['is open while no calendar has been read', { calendars: [free(1, false)] }, 'null - 0 - 0 = null'],
  ['has as many units as rooms once a calendar was read', { calendars: [free(1)] }, '3 - 0 - 0 = 3'],
  [
    'has as many units as rooms if one of several calendars was read',
    { calendars: [free(1, false), free(2)] },
    '3 - 0 - 0 = 3',
  ],
  [
    'counts bookings and blocks of any time if no row covers it',
    { calendars: [blocked(1, 2)], stays: [stay(1)] },
    '3 - 1 - 1 = 1',
  ],
  ['counts a booking after the write', { rows: [row(2, 5)], stays: [stay(6)] }, '2 - 1 - 0 = 1'],
  ['knows a booking before the write', { rows: [row(2, 5)], stays: [stay(4)] }, '2 - 0 - 0 = 2'],
  [
    'counts a booking after "as_of", however late the write',
    { rows: [row(2, 9, 5)], stays: [stay(6)] },
    '2 - 1 - 0 = 1',
  ],
  ['knows a booking with the version "as_of"', { rows: [row(2, 9, 5)], stays: [stay(5)] }, '2 - 0 - 0 = 2'],
  ['counts a block after the write', { rows: [row(2, 5)], calendars: [blocked(1, 6)] }, '2 - 0 - 1 = 1'],
  ['knows a block before the write', { rows: [row(2, 5)], calendars: [blocked(1, 4)] }, '2 - 0 - 0 = 2'],
  [
    'counts a block after "as_of", however late the write',
    { rows: [row(2, 9, 5)], calendars: [blocked(1, 6)] },
    '2 - 0 - 1 = 1',
  ],
  [
    'knows a block with the time "as_of"',
    { rows: [row(2, 9, 5)], calendars: [blocked(1, 5)] },
    '2 - 0 - 0 = 2',
  ],
  [
    'counts a block of which nobody knows when it began',
    { rows: [row(2, 5)], calendars: [{ ...blocked(1, 4), blockedNights: [] }] },
    '2 - 0 - 1 = 1',
  ],
  [
    'is never below 0',
    { rows: [row(1, 1)], stays: [stay(2), stay(3)], calendars: [blocked(1, 4)] },
    '1 - 2 - 1 = 0',
  ],
  ['has a row of 0 units', { rows: [row(0, 1)] }, '0 - 0 - 0 = 0'],
  [
    'counts two blocks of one room once',
    {
      calendars: [
        {
          ...blocked(1, 1),
          blocks: [...blocked(1, 1).blocks, ...blocked(1, 2, '2027-03-11', '2027-03-14').blocks],
        },
      ],
    },
    '3 - 0 - 1 = 2',
  ],
  ['counts the blocks of two rooms', { calendars: [blocked(1, 1), blocked(2, 1)] }, '3 - 0 - 2 = 1'],
  [
    'counts a booking that comes back once',
    { calendars: [blocked(1, 2)], stays: [stay(1, '2027-03-12', '2027-03-13')] },
    '3 - 1 - 0 = 2',
  ],
  [
    'counts another stay in a room whose calendar also has our booking',
    {
      calendars: [
        {
          ...blocked(1, 2),
          blocks: [...blocked(1, 2).blocks, ...blocked(1, 2, '2027-03-11', '2027-03-14').blocks],
        },
      ],
      stays: [stay(1, '2027-03-12', '2027-03-13')],
    },
    '3 - 1 - 1 = 1',
  ],
  [
    'does not count the known booking that comes back later',
    { rows: [row(2, 5)], calendars: [blocked(1, 6)], stays: [stay(4, '2027-03-12', '2027-03-13')] },
    '2 - 0 - 0 = 2',
  ],
])('a night %s', (_, one, expected) => {
  expect(night(one)).toBe(expected)
})

test('a stay takes its nights, a block those before its end, and a row those up to its last day', () => {
  const found = unitsByNight(
    { from: '2027-03-11', to: '2027-03-15' },
    {
      rows: [row(2, 1)],
      stays: [stay(2, '2027-03-13', '2027-03-15')],
      calendars: [blocked(1, 3, '2027-03-14', '2027-03-16')],
      rooms: 4,
      today,
    },
  )
  expect(found).toEqual([
    { date: '2027-03-11', available: 4, booked: 0, blocked: 0, left: 4 },
    { date: '2027-03-12', available: 2, booked: 0, blocked: 0, left: 2 },
    { date: '2027-03-13', available: 2, booked: 1, blocked: 0, left: 1 },
    { date: '2027-03-14', available: 2, booked: 1, blocked: 1, left: 0 },
    { date: '2027-03-15', available: 4, booked: 0, blocked: 1, left: 3 },
  ])
})

test('a block counts from today to the 1,095th day ahead', () => {
  const calendars = [blocked(1, 1, '2027-03-08', '2031-01-01')]
  const nights = ['2027-03-09', '2027-03-10', '2030-03-09', '2030-03-10'].map((date) =>
    night({ calendars }, date),
  )
  expect(nights).toEqual(['3 - 0 - 0 = 3', '3 - 0 - 1 = 2', '3 - 0 - 1 = 2', '3 - 0 - 0 = 3'])
})

test('the first full night is the first with nothing left, and an open night is never full', () => {
  const capacity = { rows: [row(1, 1)], stays: [stay(2)], calendars: [], rooms: 1, today }
  expect(firstFullNight({ from: '2027-03-10', to: '2027-03-14' }, capacity)).toBe('2027-03-12')
  expect(firstFullNight({ from: '2027-03-14', to: '2027-03-18' }, capacity)).toBeNull()
})

test('a night is overbooked if it has more bookings and blocks than rooms, whatever the rows say', () => {
  const capacity = { stays: [stay(1), stay(2)], calendars: [blocked(1, 3)], today }
  const nights = { from: '2027-03-10', to: '2027-03-14' }
  expect(overbookedNights(nights, { ...capacity, rooms: 3 })).toEqual([])
  expect(overbookedNights(nights, { ...capacity, rooms: 2 })).toEqual(['2027-03-12'])
  expect(overbookedNights(nights, { ...capacity, rooms: 1 })).toEqual(['2027-03-12', '2027-03-13'])
})

test('stays are read as far as the blocks reach that overlap the nights', () => {
  const calendars = [
    blocked(1, 1, '2027-03-01', '2027-03-05'),
    blocked(2, 1, '2027-03-04', '2027-03-20'),
    blocked(3, 1, '2027-03-08', '2027-04-01'),
  ]
  expect(nightsToCompare({ from: '2027-03-05', to: '2027-03-07' }, calendars)).toEqual({
    from: '2027-03-05',
    to: '2027-03-19',
  })
})
