import { BSON } from 'mongodb'
import { expect, test } from 'vitest'
import { addDays } from '../../../src/core/clock.ts'
import { daysAhead, decide } from '../../../src/inventory/calendars/decide.ts'
import { recognizeBookings } from '../../../src/stays/capacity/own-blocks.ts'
import { overbookedNights } from '../../../src/stays/capacity/units.ts'
import { root } from '../../support/processes.ts'

/** The loop is never held for longer (decisions §31). */
const maxMilliseconds = 20

test('four of the largest files at once, two of them with 10,000 daily rules, never hold the loop', async () => {
  const program = 'test/soak/calendars/pauses.program.ts'
  const { stdout } = await Bun.$`${process.execPath} ${program}`.cwd(root).quiet()
  const { most, turns } = JSON.parse(stdout.toString())
  console.log(`At most ${most.toFixed(1)} ms of computing in one of ${turns} turns of the loop`)
  expect(turns).toBeGreaterThan(100)
  expect(most).toBeLessThan(maxMilliseconds)
})

const today = '2026-12-01'
const at = new Date('2026-12-01T10:00:00Z')
const day = (offset: number) => addDays(today, offset)

/** Returns the least computing of several runs, in milliseconds; the first ones are not compiled yet. */
function computing(work: () => unknown): number {
  const samples = Array.from({ length: 15 }, () => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return Math.min(...samples)
}

test.each([
  ['short', (index: number) => [index % 1000, (index % 1000) + 1 + Math.floor(index / 1000)] as const],
  ['long', (index: number) => [index % 45, 1095 - Math.floor(index / 45)] as const],
  ['running, with one end', (index: number) => [-index, 1000] as const],
])('2,000 blocks and 2,000 bookings that are %s never hold the loop', (_, nightsOf) => {
  const blocks = Array.from({ length: 2000 }, (_, index) => {
    const [start, end] = nightsOf(index)
    return { start_date: day(start), end_date: day(end), seen_at: new Date(+at + index), is_gone: false }
  })
  const nights = Array.from({ length: daysAhead + 1 }, (_, index) => {
    return { from: day(index), to: day(index), sequence: index, at }
  })
  const stays = blocks.map(({ start_date, end_date }, index) => ({
    id: index + 1,
    checkin_at: index % 2 === 0 ? start_date : addDays(start_date, 1),
    checkout_at: end_date,
    created_at: new Date(+at + index),
    created_sequence: index,
    created_version: at,
  }))
  const strangers = stays.map((stay) => ({ ...stay, checkin_at: addDays(stay.checkout_at, -1) }))
  const calendars = [{ room_id: 1, hasBeenRead: true, blocks, blockedNights: nights }]
  const known = { read_at: at, hold_since: null, blocks, nights, missing: [] }
  const reading = { at: new Date(+at + 3_600_000), today, accepts: false }
  const sparse = nights
    .filter((_, index) => index % 3 !== 0)
    .map(({ from }) => ({ start_date: from, end_date: addDays(from, 1) }))
  const all = { from: today, to: day(daysAhead) }
  const document = { blocks, nights, missing: nights }
  const bytes = BSON.serialize(document)
  const times = {
    decideSame: computing(() => decide(known, { ...reading, blocks })),
    decideNone: computing(() => decide(known, { ...reading, blocks: [] })),
    decideSparse: computing(() => decide(known, { ...reading, blocks: sparse })),
    recognizeAll: computing(() => recognizeBookings(stays, calendars, today)),
    recognizeNone: computing(() => recognizeBookings(strangers, calendars, today)),
    count: computing(() => overbookedNights(all, { stays, calendars, rooms: 1, today })),
    countStrangers: computing(() => overbookedNights(all, { stays: strangers, calendars, rooms: 1, today })),
    write: computing(() => BSON.serialize(document)),
    read: computing(() => BSON.deserialize(bytes)),
  }
  console.log(
    Object.entries(times)
      .map(([name, time]) => `${name} ${time.toFixed(1)} ms`)
      .join(', '),
  )
  expect(Math.max(...Object.values(times))).toBeLessThan(maxMilliseconds)
})
