import type { Clocks } from './clocks.ts'
import { daySeconds, lastDay } from './days.ts'
import type { BusyTimes, CalendarEvent, CalendarHead, End, PlainEvent, SkipReason } from './event.ts'
import type { Pace } from './pace.ts'
import type { Moment } from './property.ts'
import { periodsOf, type Rule, timeOfDay } from './rule.ts'

/** Nights as days' numbers: from the first to the day before `end`. */
export interface Nights {
  start: number
  end: number
}

/** What events are read with. */
export interface Reading {
  clocks: Clocks
  /** The nights that count. */
  window: Nights
  pace: Pace
}

/** Occurrences of one event with a night in the window. */
const maxOccurrences = 5000
/** Days that are looked at for one event: a rule that counts daily for five hundred years. */
const maxDaysLookedAt = 200_000

/** How long each occurrence of an event takes. `days` counts nights; `seconds` is a length on the event's clock. */
type Length = { days: number } | { seconds: number }

/** An event's start and length, on the clock by which it repeats. */
interface Span {
  /** UTC if the event is in UTC, otherwise a wall clock. */
  isUtc: boolean
  seconds: number
  length: Length
}

/** Counts the occurrences of one event, and collects their nights. */
class Found {
  readonly nights: Nights[] = []
  private readonly window: Nights

  constructor(window: Nights) {
    this.window = window
  }

  get areTooMany(): boolean {
    return this.nights.length > maxOccurrences
  }

  add({ start, end }: Nights): void {
    if (start < end && start < this.window.end && end > this.window.start) this.nights.push({ start, end })
  }
}

/** Returns the nights of a `VFREEBUSY` that count. */
export function busyNights({ stretches, calendar }: BusyTimes, reading: Reading): Nights[] | SkipReason {
  const found = new Found(reading.window)
  for (const { start, end } of stretches) {
    const span = spanOf(start, end, { calendar, reading })
    if (span === 'dates') return 'dates'
    found.add(nightsOf(span.seconds, span, { calendar, reading }))
    if (found.areTooMany) return 'too_many'
  }
  return found.nights
}

const noNights: Nights[] = []

/** Returns the nights of a plain event if any of them counts. */
export function plainNights({ start, end }: PlainEvent, window: Nights): Nights[] | SkipReason {
  const days = end === null ? 1 : end - start
  const last = start + Math.max(1, days)
  if (days < 0 || last > lastDay) return 'dates'
  return start < window.end && last > window.start ? [{ start, end: last }] : noNights
}

/**
 * Returns the nights of an event's occurrences that count, each of them once.
 *
 * @param replacements the events that replace occurrences of this one
 */
export function eventNights(
  event: CalendarEvent,
  replacements: CalendarEvent[],
  reading: Reading,
): Promise<Nights[] | SkipReason> | Nights[] | SkipReason {
  if (!event.blocks) return []
  const place = { calendar: event.calendar, reading }
  const span = spanOf(event.start, event.end, place)
  if (span === 'dates') return 'dates'
  const { rules, additions, exclusions } = event
  const isPlain = rules.length + additions.length + exclusions.length + replacements.length === 0
  if (!isPlain) return repeatedNights({ event, span, replacements, reading })
  const found = new Found(reading.window)
  found.add(nightsOf(span.seconds, span, place))
  return found.nights
}

interface Series {
  event: CalendarEvent
  span: Span
  replacements: CalendarEvent[]
  reading: Reading
}

async function repeatedNights({
  event,
  span,
  replacements,
  reading,
}: Series): Promise<Nights[] | SkipReason> {
  const place = { calendar: event.calendar, reading }
  const listed = event.exclusions.length + replacements.length
  if (reading.pace.isOver(listed + 1)) await reading.pace.rest()
  const changes = listed > 0 ? new Changes(event, replacements, reading) : null
  const found = new Found(reading.window)
  const add = (seconds: number, own: Span) => {
    const nights = nightsOf(seconds, own, place)
    const changed = changes ? changes.apply(clockOf(seconds, own, place), nights) : nights
    if (changed) found.add(changed)
  }
  add(span.seconds, span)
  for (const { start, end } of event.additions) {
    const added = additionOf(start, end, { event, span, reading })
    if (added === 'dates') return 'dates'
    const isStart = end === null && added.isUtc === span.isUtc && added.seconds === span.seconds
    if (!isStart) add(added.seconds, added)
    if (found.areTooMany) return 'too_many'
  }
  for (const rule of event.rules) {
    const margin = daysOf(span.length) + (changes?.reachDays ?? 0) + 2
    const until = untilOf(rule, event, { span, reading })
    const isDone = await repeat({ rule, span, until, margin, reading }, (seconds) => {
      add(seconds, span)
      return !found.areTooMany
    })
    if (!isDone) return 'too_many'
  }
  return found.nights
}

/** A rule to follow, and how far. */
interface Repetition {
  rule: Rule
  span: Span
  /** The last second on the span's clock at which an occurrence may begin. */
  until: number
  /** How many days outside the window an occurrence may begin and still have a night in it. */
  margin: number
  reading: Reading
}

/**
 * Calls `add` with every start that a rule gives after the event's own, in order, as far as it may have a night in the
 * window. Returns false if `add` returned false, or if too many days had to be looked at.
 */
async function repeat(
  { rule, span, until, margin, reading }: Repetition,
  add: (seconds: number) => boolean,
): Promise<boolean> {
  const { window, pace } = reading
  const firstDay = Math.floor(span.seconds / daySeconds)
  const time = 'days' in span.length ? 0 : timeOfDay(rule, span.seconds)
  // What a rule counts has to be followed from its start.
  const from = rule.count === null ? window.start - margin : firstDay
  // The event's own start is its first occurrence.
  let left = (rule.count ?? Number.POSITIVE_INFINITY) - 1
  let lookedAt = 0
  for (const { begins, days, steps } of periodsOf(rule, firstDay, from)) {
    const isPast = begins > window.end + margin || begins * daySeconds > until
    if (isPast || left <= 0) return true
    lookedAt += steps
    if (lookedAt > maxDaysLookedAt) return false
    if (pace.isOver(steps)) await pace.rest()
    for (const day of days) {
      const seconds = day * daySeconds + time
      if (seconds <= span.seconds) continue
      if (seconds > until || left <= 0) return true
      left -= 1
      if (!add(seconds)) return false
    }
  }
  return true
}

interface Place {
  calendar: CalendarHead
  reading: Reading
}

/** Returns the start and length of a stretch of time, or `dates` if it ends before it begins or after the year 9999. */
function spanOf(start: Moment, end: End | null, { calendar, reading }: Place): Span | 'dates' {
  const { clocks } = reading
  const endsOnOtherClock = end !== null && 'moment' in end && end.moment.form !== 'utc'
  const isUtc = start.form === 'utc' && !endsOnOtherClock
  const seconds = isUtc ? start.seconds : clocks.wallClock(start, calendar)
  const endOf = (moment: Moment) => (isUtc ? moment.seconds : clocks.wallClock(moment, calendar))
  const length =
    start.form === 'date' ? lengthInDays(seconds, end, endOf) : lengthInSeconds(seconds, end, endOf)
  if (length === null) return 'dates'
  const endsInTime = Math.floor(seconds / daySeconds) + daysOf(length) <= lastDay
  return endsInTime ? { isUtc, seconds, length } : 'dates'
}

function lengthInDays(seconds: number, end: End | null, endOf: (moment: Moment) => number): Length | null {
  if (end === null) return { days: 1 }
  if ('seconds' in end) return { days: Math.max(1, Math.floor(end.seconds / daySeconds)) }
  const days = Math.floor(endOf(end.moment) / daySeconds) - Math.floor(seconds / daySeconds)
  if (days < 0) return null
  return { days: Math.max(1, days) }
}

function lengthInSeconds(seconds: number, end: End | null, endOf: (moment: Moment) => number): Length | null {
  if (end === null) return { seconds: 0 }
  const length = 'seconds' in end ? end.seconds : endOf(end.moment) - seconds
  return length < 0 ? null : { seconds: length }
}

/** Returns how many days a length reaches at most. */
function daysOf(length: Length): number {
  return 'days' in length ? length.days : Math.ceil(length.seconds / daySeconds)
}

/** Returns the span of an `RDATE`, which has the event's length and, if it is a date only, the event's time of day. */
function additionOf(
  start: Moment,
  end: End | null,
  { event, span, reading }: { event: CalendarEvent; span: Span; reading: Reading },
): Span | 'dates' {
  const place = { calendar: event.calendar, reading }
  if (end !== null) return spanOf(start, end, place)
  if ('days' in span.length) {
    const day = Math.floor(reading.clocks.wallClock(start, event.calendar) / daySeconds)
    return { isUtc: false, seconds: day * daySeconds, length: span.length }
  }
  if (start.form !== 'date') {
    const isUtc = start.form === 'utc'
    return { isUtc, seconds: start.seconds, length: span.length }
  }
  const time = ((span.seconds % daySeconds) + daySeconds) % daySeconds
  return { isUtc: span.isUtc, seconds: start.seconds + time, length: span.length }
}

/** Returns what the wall clock shows when an occurrence begins. */
function clockOf(seconds: number, { isUtc }: Span, { calendar, reading }: Place): number {
  if (!isUtc) return seconds
  return reading.clocks.wallClock({ form: 'utc', seconds, zone: null }, calendar)
}

/**
 * Returns an occurrence's nights. A night of a time is taken if the event begins before the midnight that ends its day
 * and ends then or later.
 */
function nightsOf(seconds: number, span: Span, place: Place): Nights {
  const start = Math.floor(clockOf(seconds, span, place) / daySeconds)
  if ('days' in span.length) return { start, end: start + span.length.days }
  const end = Math.floor(clockOf(seconds + span.length.seconds, span, place) / daySeconds)
  return { start, end }
}

/** Returns the last second on the span's clock at which a rule lets an occurrence begin. */
function untilOf(
  { until }: Rule,
  event: CalendarEvent,
  { span, reading }: { span: Span; reading: Reading },
): number {
  if (!until) return Number.POSITIVE_INFINITY
  const shown = span.isUtc ? [until.seconds] : reading.clocks.eventClock(until, event)
  // Of a day, all of it counts. The later of two possible ends counts, because a false opening is the worse mistake.
  const isDay = until.form === 'date' || 'days' in span.length
  const last = isDay ? Math.max(until.seconds, ...shown) : Math.max(...shown)
  return isDay ? Math.floor(last / daySeconds) * daySeconds + daySeconds - 1 : last
}

/** A later part of an event's occurrences that another event replaces (`RANGE=THISANDFUTURE`). */
interface LaterChange {
  /** What the wall clock shows at the first occurrence that is replaced. */
  from: number
  /** Null if the replacing event names all of its times itself, or takes none. */
  moved: { shift: number; length: Length } | null
}

/** What else the file says about the occurrences of an event: left out, or replaced by other events. */
class Changes {
  /** How many days an occurrence may be moved or lengthened. */
  reachDays = 0
  private readonly isOfDays: boolean
  private readonly moments = new Set<number>()
  private readonly days = new Set<number>()
  private readonly later: LaterChange[] = []

  constructor(event: CalendarEvent, replacements: CalendarEvent[], reading: Reading) {
    this.isOfDays = event.start.form === 'date'
    for (const exclusion of event.exclusions) this.leaveOut(exclusion, event, reading)
    for (const replacement of replacements) this.replace(replacement, event, reading)
    this.later.sort((one, other) => other.from - one.from)
  }

  /** Returns an occurrence's nights after the changes, or null if it does not take place. */
  apply(seconds: number, nights: Nights): Nights | null {
    if (this.days.has(Math.floor(seconds / daySeconds)) || this.moments.has(seconds)) return null
    const change = this.later.find(({ from }) => from <= seconds)
    if (!change) return nights
    if (!change.moved) return null
    const begins = seconds + change.moved.shift
    const start = Math.floor(begins / daySeconds)
    const { length } = change.moved
    if ('days' in length) return { start, end: start + length.days }
    return { start, end: Math.floor((begins + length.seconds) / daySeconds) }
  }

  private leaveOut(moment: Moment, event: CalendarEvent, { clocks }: Reading): void {
    for (const shown of clocks.eventClock(moment, event)) {
      const isDay = this.isOfDays || moment.form === 'date'
      if (isDay) this.days.add(Math.floor(shown / daySeconds))
      else this.moments.add(shown)
    }
  }

  private replace(replacement: CalendarEvent, event: CalendarEvent, reading: Reading): void {
    const { replaces, replacesLater, start, end, calendar, blocks, rules } = replacement
    if (!replaces) return
    const span = spanOf(start, end, { calendar, reading })
    // An event that is itself left out replaces nothing.
    if (span === 'dates') return
    this.leaveOut(replaces, event, reading)
    if (!replacesLater) return
    const from = Math.min(...reading.clocks.eventClock(replaces, event))
    const namesItself = rules.length > 0
    if (!blocks || namesItself) {
      this.later.push({ from, moved: null })
      return
    }
    const begins = clockOf(span.seconds, span, { calendar, reading })
    const isWholeDays = replaces.form === 'date' || start.form === 'date'
    const shift = isWholeDays
      ? (Math.floor(begins / daySeconds) - Math.floor(from / daySeconds)) * daySeconds
      : begins - from
    this.later.push({ from, moved: { shift, length: span.length } })
    const reach = Math.ceil(Math.abs(shift) / daySeconds) + daysOf(span.length)
    this.reachDays = Math.max(this.reachDays, reach)
  }
}
