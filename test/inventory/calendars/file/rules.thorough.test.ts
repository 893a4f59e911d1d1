import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addDays } from '../../../../src/core/clock.ts'
import { calendarOf, eventOf, readText } from '../../../support/calendar-files.ts'
import { runs } from '../../../support/soak.ts'

const names = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']

const rule = fc.record({
  frequency: fc.constantFrom('DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'),
  interval: fc.integer({ min: 1, max: 4 }),
  /** Days before or after 1 December 2026. */
  start: fc.integer({ min: -1200, max: 400 }),
  count: fc.option(fc.integer({ min: 1, max: 400 })),
  until: fc.option(fc.integer({ min: 0, max: 1500 })),
  weekdays: fc.subarray(names),
  monthDays: fc.uniqueArray(fc.constantFrom(1, 2, 28, 29, 30, 31, -1, -3), { maxLength: 3 }),
  months: fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 3 }),
})

type Rule = typeof rule extends fc.Arbitrary<infer Value> ? Value : never

/** The parts of a day, from its date by the platform's own calendar. */
function partsOf(day: string) {
  const date = new Date(`${day}T00:00:00Z`)
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    monthDay: date.getUTCDate(),
    fromEnd: date.getUTCDate() - last - 1,
    weekday: names[(date.getUTCDay() + 6) % 7] ?? '',
  }
}

/** Returns how many whole periods of the rule lie between the start and a day. */
function periodsBetween(start: string, day: string, frequency: string): number {
  const days = (Date.parse(day) - Date.parse(start)) / 86_400_000
  const one = partsOf(start)
  const other = partsOf(day)
  if (frequency === 'DAILY') return days
  // Weeks begin on Monday.
  if (frequency === 'WEEKLY') return Math.floor((days + names.indexOf(one.weekday)) / 7)
  if (frequency === 'MONTHLY') return (other.year - one.year) * 12 + other.month - one.month
  return other.year - one.year
}

/** Decides for a single day whether the rule names it, with the start's own parts where the rule names none. */
function isNamed(
  start: string,
  day: string,
  { frequency, interval, weekdays, monthDays, months }: Rule,
): boolean {
  const own = partsOf(start)
  const parts = partsOf(day)
  if (periodsBetween(start, day, frequency) % interval !== 0) return false
  if (months.length > 0 && !months.includes(parts.month)) return false
  if (monthDays.length > 0 && !monthDays.some((one) => one === parts.monthDay || one === parts.fromEnd))
    return false
  if (weekdays.length > 0 && !weekdays.includes(parts.weekday)) return false
  if (frequency === 'DAILY' || weekdays.length + monthDays.length > 0) return true
  if (frequency === 'WEEKLY') return parts.weekday === own.weekday
  if (frequency === 'YEARLY' && months.length === 0 && parts.month !== own.month) return false
  return parts.monthDay === own.monthDay
}

/** Walks from the start, day by day. */
function slowly(one: Rule): string[] {
  const start = addDays('2026-12-01', one.start)
  const last = addDays('2026-12-01', 1095)
  const until = one.until === null ? last : addDays(start, one.until)
  const found = [start]
  for (let day = addDays(start, 1); day <= last && day <= until; day = addDays(day, 1)) {
    if (found.length === one.count) break
    if (isNamed(start, day, one)) found.push(day)
  }
  return found.filter((day) => day >= '2026-12-01' && day <= last).map((day) => `${day}/${addDays(day, 1)}`)
}

function written(one: Rule): string {
  const parts = [`FREQ=${one.frequency}`, `INTERVAL=${one.interval}`]
  if (one.count !== null) parts.push(`COUNT=${one.count}`)
  if (one.until !== null) parts.push(`UNTIL=${compact(addDays('2026-12-01', one.start + one.until))}`)
  if (one.weekdays.length > 0) parts.push(`BYDAY=${one.weekdays.join(',')}`)
  if (one.monthDays.length > 0) parts.push(`BYMONTHDAY=${one.monthDays.join(',')}`)
  if (one.months.length > 0) parts.push(`BYMONTH=${one.months.join(',')}`)
  return parts.join(';')
}

function compact(day: string): string {
  return day.replaceAll('-', '')
}

test('a rule names the days that a slow walk over the calendar finds', async () => {
  await fc.assert(
    fc.asyncProperty(rule, async (one) => {
      const start = compact(addDays('2026-12-01', one.start))
      const outcome = await readText(calendarOf(eventOf(`DTSTART:${start}`, `RRULE:${written(one)}`)))
      expect(outcome.blocks).toEqual(slowly(one))
    }),
    runs(200),
  )
})
