import { expect, test } from 'vitest'
import { addDays } from '../../../../src/core/clock.ts'
import { calendarOf, eventOf, readText } from '../../../support/calendar-files.ts'

const compact = (day: string) => day.replaceAll('-', '')
const dayAfter = (days: number) => compact(addDays('2026-12-01', days))

/** Events with as many different ranges, all within the nights that count. */
function eventsWithRanges(count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const start = index % 1000
    const nights = 1 + Math.floor(index / 1000)
    return eventOf(`DTSTART:${dayAfter(start)}`, `DTEND:${dayAfter(start + nights)}`)
  })
}

test('2,000 blocks are read, and one more is too large', async () => {
  expect((await readText(calendarOf(...eventsWithRanges(2000)))).blocks.length).toBe(2000)
  expect((await readText(calendarOf(...eventsWithRanges(2001)))).kind).toBe('too_large')
})

test('10,000 events with equal ranges are read, and one more is too large', async () => {
  const events = Array.from({ length: 10_000 }, (_, index) => eventOf(`DTSTART:${dayAfter(index % 500)}`))
  const outcome = await readText(calendarOf(...events))
  expect({ blocks: outcome.blocks.length, events: outcome.events }).toEqual({
    blocks: 500,
    events: { read: 10_000, blocking: 10_000, skipped: 0 },
  })
  const more = await readText(calendarOf(...events, eventOf('SUMMARY:nothing')))
  expect(more.kind).toBe('too_large')
})

test('8 MiB are read, and a byte more is too large', async () => {
  const empty = calendarOf('')
  const filled = (bytes: number) => calendarOf('X'.repeat(bytes - empty.length))
  expect((await readText(filled(8 * 1024 * 1024))).kind).toBe('calendar')
  expect((await readText(filled(8 * 1024 * 1024 + 1))).kind).toBe('too_large')
})

test('an event with more than 5,000 occurrences in the window is skipped, and the others count', async () => {
  const long = eventOf(`DTSTART:${dayAfter(-5500)}`, `DTEND:${dayAfter(500)}`, 'RRULE:FREQ=DAILY;COUNT=6000')
  const outcome = await readText(calendarOf(long, eventOf('DTSTART:20261204')))
  expect(outcome).toMatchObject({
    kind: 'calendar',
    blocks: ['2026-12-04/2026-12-05'],
    skipped: [{ line: 3, reason: 'too_many' }],
  })
})

test('an event that lists more than 5,000 dates in the window is skipped', async () => {
  const listed = Array.from({ length: 5001 }, (_, index) => dayAfter(10 + (index % 1000)))
  const outcome = await readText(calendarOf(eventOf('DTSTART:20261204', `RDATE:${listed.join(',')}`)))
  expect(outcome.skipped).toEqual([{ line: 3, reason: 'too_many' }])
})

test('a daily rule without an end that began long ago blocks every night of the window', async () => {
  const outcome = await readText(calendarOf(eventOf('DTSTART:19900101', 'RRULE:FREQ=DAILY')))
  expect({ first: outcome.blocks[0], last: outcome.blocks.at(-1), count: outcome.blocks.length }).toEqual({
    first: '2026-12-01/2026-12-02',
    last: '2029-11-30/2029-12-01',
    count: 1096,
  })
})

test('a rule that has to be followed for more than five hundred years is skipped', async () => {
  const outcome = await readText(calendarOf(eventOf('DTSTART:10000101', 'RRULE:FREQ=DAILY;COUNT=999999999')))
  expect(outcome.skipped).toEqual([{ line: 3, reason: 'too_many' }])
})

test('requests and other files have their turn while a file is read', async () => {
  const large = calendarOf(
    ...Array.from({ length: 3000 }, () => eventOf('DTSTART:20200101', 'RRULE:FREQ=DAILY')),
  )
  const order: string[] = []
  const reading = readText(large).then(() => order.push('large'))
  await readText(calendarOf(eventOf('DTSTART:20261204')))
  order.push('small')
  await new Promise((resolve) => setTimeout(resolve, 0))
  order.push('timer')
  await reading
  expect(order).toEqual(['small', 'timer', 'large'])
})
