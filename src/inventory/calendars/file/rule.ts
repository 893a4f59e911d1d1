import { calendarDay, dayNumber, daySeconds, daysInMonth, weekday } from './days.ts'
import { type Moment, readMoment } from './property.ts'

/** A weekday in a rule: `MO`, or the second Monday (`2MO`) or the last one (`-1MO`) of a month or year. */
interface RuleDay {
  /** From 0 (Monday) to 6. */
  weekday: number
  /** Which one of its month or year, from the end if it is below 0; 0 if all are meant. */
  position: number
}

/** How an event repeats (RFC 5545, section 3.3.10), at most once a day. */
export interface Rule {
  frequency: 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'YEARLY'
  interval: number
  count: number | null
  until: Moment | null
  /** The first day of the week, from 0 (Monday) to 6. */
  weekStart: number
  months: number[]
  weeks: number[]
  yearDays: number[]
  monthDays: number[]
  weekdays: RuleDay[]
  /** Which of a period's days count, from the end if below 0. */
  positions: number[]
  /** The time of day, each null if the event's own counts. */
  hour: number | null
  minute: number | null
  second: number | null
}

const weekdayNames = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']
const frequencies = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const

/** Reads the value of an `RRULE`. Says `dates` if its end cannot be read, and `frequency` if anything else cannot. */
export function readRule(text: string): Rule | 'dates' | 'frequency' {
  const parts = new Map<string, string>()
  for (const part of text.toUpperCase().split(';')) {
    const [name = '', value = ''] = part.split('=')
    parts.set(name.trim(), value.trim())
  }
  const frequency = frequencies.find((known) => known === parts.get('FREQ'))
  if (!frequency) return 'frequency'
  // RFC 7529: other calendars, and days that move if their month lacks them.
  if ((parts.get('RSCALE') ?? 'GREGORIAN') !== 'GREGORIAN') return 'frequency'
  if ((parts.get('SKIP') ?? 'OMIT') !== 'OMIT') return 'frequency'
  const until = readUntil(parts.get('UNTIL'))
  if (until === 'dates') return 'dates'
  const interval = readWhole(parts.get('INTERVAL'), 1)
  const count = readWhole(parts.get('COUNT'), 1)
  const weekStart = weekdayNames.indexOf(parts.get('WKST') ?? 'MO')
  const months = readList(parts.get('BYMONTH'), 1, 12)
  const weeks = readList(parts.get('BYWEEKNO'), -53, 53)
  const yearDays = readList(parts.get('BYYEARDAY'), -366, 366)
  const monthDays = readList(parts.get('BYMONTHDAY'), -31, 31)
  const weekdays = readWeekdays(parts.get('BYDAY'))
  const positions = readList(parts.get('BYSETPOS'), -366, 366)
  const hour = readTimePart(parts.get('BYHOUR'), 23)
  const minute = readTimePart(parts.get('BYMINUTE'), 59)
  const second = readTimePart(parts.get('BYSECOND'), 60)
  const isReadable =
    interval !== 'frequency' &&
    count !== 'frequency' &&
    weekStart >= 0 &&
    months &&
    weeks &&
    yearDays &&
    monthDays &&
    weekdays &&
    positions &&
    hour !== 'frequency' &&
    minute !== 'frequency' &&
    second !== 'frequency'
  if (!isReadable) return 'frequency'
  return {
    frequency,
    interval: interval ?? 1,
    count,
    until,
    weekStart,
    months,
    weeks,
    yearDays,
    monthDays,
    weekdays,
    positions,
    hour,
    minute,
    second,
  }
}

function readUntil(text: string | undefined): Moment | null | 'dates' {
  if (text === undefined) return null
  return readMoment(text, { head: '', value: text }) ?? 'dates'
}

function readWhole(text: string | undefined, least: number): number | null | 'frequency' {
  if (text === undefined) return null
  if (!/^\+?\d{1,9}$/.test(text) || Number(text) < least) return 'frequency'
  return Number(text)
}

/** Reads numbers other than 0. Returns an empty list if there is no such part, and null if it cannot be read. */
function readList(text: string | undefined, least: number, most: number): number[] | null {
  if (text === undefined) return []
  const numbers = text.split(',').map((item) => (/^[+-]?\d{1,3}$/.test(item.trim()) ? Number(item) : 0))
  return numbers.every((number) => number !== 0 && number >= least && number <= most)
    ? [...new Set(numbers)]
    : null
}

/** Reads the one hour, minute or second of the day. Several would be more than once a day. */
function readTimePart(text: string | undefined, most: number): number | null | 'frequency' {
  if (text === undefined) return null
  if (!/^\d{1,2}$/.test(text) || Number(text) > most) return 'frequency'
  return Number(text)
}

function readWeekdays(text: string | undefined): RuleDay[] | null {
  if (text === undefined) return []
  const days: RuleDay[] = []
  for (const item of text.split(',')) {
    const [, position = '0', name = ''] = /^([+-]?\d{1,2})?([A-Z]{2})$/.exec(item.trim()) ?? []
    const found = weekdayNames.indexOf(name)
    const isInYear = Math.abs(Number(position)) <= 53
    if (found < 0 || !isInYear) return null
    days.push({ weekday: found, position: Number(position) })
  }
  return days
}

/** The days that a rule names in one of its periods. */
export interface Period {
  /** The period's first day. */
  begins: number
  /** Ascending. */
  days: number[]
  /** How many days were looked at, at most. */
  steps: number
}

const stepsPerPeriod = { DAILY: 1, WEEKLY: 7, MONTHLY: 31, YEARLY: 366 }

/**
 * Yields the periods of a rule, with the days that it names in them, in order and without end: the period of
 * `start` first, or a later one if the days before `from` do not matter. Days may be before `start`.
 */
export function* periodsOf(rule: Rule, start: number, from: number): Generator<Period> {
  const walks = { DAILY: days, WEEKLY: weeks, MONTHLY: months, YEARLY: years }
  for (const { begins, candidates } of walks[rule.frequency](rule, start, from)) {
    const matching = candidates.filter((day) => isInWeeks(rule, day) && isInYearDays(rule, day))
    yield { begins, days: atPositions(rule, matching), steps: stepsPerPeriod[rule.frequency] }
  }
}

interface Candidates {
  begins: number
  candidates: number[]
}

/** Returns the first number at or after `from` that is a multiple of the interval away from `first`. */
function firstInStep(first: number, from: number, interval: number): number {
  if (from <= first) return first
  return first + Math.ceil((from - first) / interval) * interval
}

function* days(rule: Rule, start: number, from: number): Generator<Candidates> {
  for (let day = firstInStep(start, from, rule.interval); ; day += rule.interval) {
    const isNamed = isOnWeekdays(rule, day) && isInNamedMonths(rule, day)
    yield { begins: day, candidates: isNamed ? [day] : [] }
  }
}

function isInNamedMonths(rule: Rule, day: number): boolean {
  if (rule.months.length + rule.monthDays.length === 0) return true
  const { year, month } = calendarDay(day)
  return isInMonths(rule, month) && isInMonthDays(rule, year, month, day)
}

function* weeks(rule: Rule, start: number, from: number): Generator<Candidates> {
  const weekOf = (day: number) => Math.floor((day + 3 - rule.weekStart) / 7)
  const first = firstInStep(weekOf(start), weekOf(from), rule.interval)
  const named = weekdaysOf(rule, start)
  for (let week = first; ; week += rule.interval) {
    const begins = week * 7 - 3 + rule.weekStart
    const candidates: number[] = []
    for (let day = begins; day < begins + 7; day += 1) {
      if (named.includes(weekday(day)) && isInNamedMonths(rule, day)) candidates.push(day)
    }
    yield { begins, candidates }
  }
}

/** Returns the weekdays of a weekly rule. RFC 5545 wants no days of the month here; if there are some, they count. */
function weekdaysOf({ weekdays, monthDays }: Rule, start: number): number[] {
  if (weekdays.length > 0) return weekdays.map((day) => day.weekday)
  return monthDays.length > 0 ? [0, 1, 2, 3, 4, 5, 6] : [weekday(start)]
}

function* months(rule: Rule, start: number, from: number): Generator<Candidates> {
  const monthOf = (day: number) => calendarDay(day).year * 12 + calendarDay(day).month - 1
  const first = firstInStep(monthOf(start), monthOf(from), rule.interval)
  for (let index = first; ; index += rule.interval) {
    const year = Math.floor(index / 12)
    const month = (index % 12) + 1
    const begins = dayNumber(year, month, 1)
    const candidates = isInMonths(rule, month) ? daysOfMonth(rule, start, year, month) : []
    yield { begins, candidates }
  }
}

function* years(rule: Rule, start: number, from: number): Generator<Candidates> {
  const first = firstInStep(calendarDay(start).year, calendarDay(from).year, rule.interval)
  for (let year = first; ; year += rule.interval) {
    const candidates: number[] = []
    for (const month of monthsOfYear(rule, start)) {
      for (const day of daysOfMonth(rule, start, year, month)) candidates.push(day)
    }
    yield { begins: dayNumber(year, 1, 1), candidates: candidates.filter((day) => isOfYear(rule, day)) }
  }
}

const allMonths = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]

/** What a rule leaves out comes from the event's start (RFC 5545): its month, if nothing names days of the year. */
function monthsOfYear(rule: Rule, start: number): number[] {
  if (rule.months.length > 0) return rule.months.toSorted((one, other) => one - other)
  return namesDays(rule) ? allMonths : [calendarDay(start).month]
}

function namesDays({ frequency, weeks, yearDays, monthDays, weekdays }: Rule): boolean {
  if (frequency === 'YEARLY' && weeks.length > 0) return true
  return yearDays.length + monthDays.length + weekdays.length > 0
}

/** Returns the days of a month that a monthly or yearly rule names there, ascending. */
function daysOfMonth(rule: Rule, start: number, year: number, month: number): number[] {
  const length = daysInMonth(year, month)
  const first = dayNumber(year, month, 1)
  if (!namesDays(rule)) {
    // A month without that day has none: the 31st is left out in April, and 29 February in most years.
    const { day } = calendarDay(start)
    return day <= length ? [first + day - 1] : []
  }
  const found: number[] = []
  for (let day = first; day < first + length; day += 1) {
    if (!isInMonthDays(rule, year, month, day)) continue
    if (isOfMonth(rule, start, day, first + length - 1)) found.push(day)
  }
  return found
}

/** Returns true if a rule's weekdays name a day, as far as they count within its month. */
function isOfMonth(rule: Rule, start: number, day: number, last: number): boolean {
  if (rule.frequency === 'YEARLY' && rule.weeks.length > 0) {
    // A rule that names weeks only means the start's weekday in them.
    if (rule.weekdays.length > 0) return isOnWeekdays(rule, day)
    return rule.monthDays.length + rule.yearDays.length > 0 || weekday(day) === weekday(start)
  }
  const countsInYear = rule.frequency === 'YEARLY' && rule.months.length === 0
  if (rule.weekdays.length === 0 || countsInYear) return true
  const { day: dayOfMonth } = calendarDay(day)
  return isAtPosition(rule, day, dayOfMonth, last - day + 1)
}

/** Returns true if a rule's weekdays name a day, as far as they count within its year. */
function isOfYear(rule: Rule, day: number): boolean {
  if (rule.weekdays.length === 0 || rule.months.length > 0 || rule.weeks.length > 0) return true
  const { year } = calendarDay(day)
  return isAtPosition(rule, day, day - dayNumber(year, 1, 1) + 1, dayNumber(year + 1, 1, 1) - day)
}

/** @param fromBegin the day's number in its month or year, from 1 @param fromEnd the same, counted from the end */
function isAtPosition(rule: Rule, day: number, fromBegin: number, fromEnd: number): boolean {
  return rule.weekdays.some(({ weekday: named, position }) => {
    if (named !== weekday(day)) return false
    if (position === 0) return true
    return position > 0 ? Math.ceil(fromBegin / 7) === position : Math.ceil(fromEnd / 7) === -position
  })
}

function isOnWeekdays({ weekdays }: Rule, day: number): boolean {
  return weekdays.length === 0 || weekdays.some((named) => named.weekday === weekday(day))
}

function isInMonths({ months }: Rule, month: number): boolean {
  return months.length === 0 || months.includes(month)
}

function isInMonthDays({ monthDays }: Rule, year: number, month: number, day: number): boolean {
  if (monthDays.length === 0) return true
  const fromBegin = day - dayNumber(year, month, 1) + 1
  return monthDays.includes(fromBegin) || monthDays.includes(fromBegin - daysInMonth(year, month) - 1)
}

function isInYearDays({ yearDays }: Rule, day: number): boolean {
  if (yearDays.length === 0) return true
  const { year } = calendarDay(day)
  const fromBegin = day - dayNumber(year, 1, 1) + 1
  const fromEnd = day - dayNumber(year + 1, 1, 1)
  return yearDays.includes(fromBegin) || yearDays.includes(fromEnd)
}

/** Weeks are numbered as in ISO 8601, but begin on the rule's day. The first and last may reach into another year. */
function isInWeeks({ weeks, weekStart, frequency }: Rule, day: number): boolean {
  if (weeks.length === 0 || frequency !== 'YEARLY') return true
  const intoWeek = (weekday(day) - weekStart + 7) % 7
  // A week belongs to the year of its fourth day.
  const { year } = calendarDay(day - intoWeek + 3)
  const week = Math.floor((day - firstWeekOf(year, weekStart)) / 7) + 1
  const weeksInYear = (firstWeekOf(year + 1, weekStart) - firstWeekOf(year, weekStart)) / 7
  return weeks.includes(week) || weeks.includes(week - weeksInYear - 1)
}

/** Returns the first day of a year's first week. */
function firstWeekOf(year: number, weekStart: number): number {
  const fourth = dayNumber(year, 1, 4)
  return fourth - ((weekday(fourth) - weekStart + 7) % 7)
}

function atPositions({ positions }: Rule, days: number[]): number[] {
  if (positions.length === 0) return days
  return days.filter((_, index) => {
    return positions.includes(index + 1) || positions.includes(index - days.length)
  })
}

/** Returns the time of day at which a rule repeats an event that begins at `seconds`. */
export function timeOfDay({ hour, minute, second }: Rule, seconds: number): number {
  const own = ((seconds % daySeconds) + daySeconds) % daySeconds
  const hours = hour ?? Math.floor(own / 3600)
  const minutes = minute ?? Math.floor((own % 3600) / 60)
  return hours * 3600 + minutes * 60 + (second ?? own % 60)
}
