import { daySeconds, lastDay } from './days.ts'
import { fingerprintOf } from './lines.ts'
import {
  type Moment,
  type Property,
  parameterOf,
  readDuration,
  readMoment,
  readProperty,
  readTimes,
} from './property.ts'
import { type Rule, readRule } from './rule.ts'

/** Why an event is left out, while the rest of its file counts (decisions §31). */
export type SkipReason = 'no_dates' | 'dates' | 'frequency' | 'too_many'

/** The VCALENDAR of an event. */
export interface CalendarHead {
  method: string | null
  /** The value of `X-WR-TIMEZONE`. */
  zone: string | null
}

/** The lines of an event that count, by the property's name. */
export type EventLines = Map<string, string[]>

/** A time that a moment or a length ends. */
export type End = { moment: Moment } | { seconds: number }

/** A stretch of time that an event names by itself, without a rule. */
export interface Stretch {
  start: Moment
  /** Null if the length of the event counts. */
  end: End | null
}

/** What an event says about its times. Nothing else of it is kept. */
export interface CalendarEvent {
  /** The number of the event's first line. */
  line: number
  calendar: CalendarHead
  /** A number that stands for its UID; null if it has none. */
  uid: number | null
  /** False if it is cancelled or says that it takes no time. */
  blocks: boolean
  start: Moment
  end: End | null
  rules: Rule[]
  additions: Stretch[]
  exclusions: Moment[]
  /** Which occurrence of another event with the same UID this one replaces. */
  replaces: Moment | null
  /** True if it replaces all later occurrences too. */
  replacesLater: boolean
}

/** What most events are: a range of days, and nothing else that counts. Kept in numbers, because a file may have many. */
export interface PlainEvent {
  line: number
  calendar: CalendarHead
  uid: number | null
  /** Its first day and its `DTEND`, as days' numbers. */
  start: number
  end: number | null
}

/** Returns a plain event in full. */
export function inFull({ line, calendar, uid, start, end }: PlainEvent): CalendarEvent {
  return {
    line,
    calendar,
    uid,
    blocks: true,
    start: dayMoment(start),
    end: end === null ? null : { moment: dayMoment(end) },
    rules: none,
    additions: none,
    exclusions: none,
    replaces: null,
    replacesLater: false,
  }
}

function dayMoment(day: number): Moment {
  return { form: 'date', seconds: day * daySeconds, zone: null }
}

/** The busy times of a `VFREEBUSY`. */
export interface BusyTimes {
  line: number
  calendar: CalendarHead
  stretches: Stretch[]
}

/** The properties of an event that count. */
export const eventProperties = new Set([
  'DTSTART',
  'DTEND',
  'DURATION',
  'RRULE',
  'RDATE',
  'EXDATE',
  'RECURRENCE-ID',
  'STATUS',
  'TRANSP',
])

/** The properties of a `VFREEBUSY` that count. */
export const busyProperties = new Set(['FREEBUSY'])

/** What has to be known of an event besides its lines. */
export interface EventPlace {
  line: number
  calendar: CalendarHead
  /** See {@link CalendarEvent}. */
  uid: number | null
}

/** Reads an event from its own lines alone, so that a bad one costs nothing else. Returns why it is left out if it is. */
export function readEvent(
  { line, calendar, uid }: EventPlace,
  lines: EventLines,
): CalendarEvent | SkipReason | null {
  const blocks = isBlocking(calendar, lines)
  const replaces = readOnly(lines, 'RECURRENCE-ID')
  // An event that takes nothing is left out only as far as it replaces nothing, and has no reason to be listed.
  if (!blocks && !replaces?.moment) return null
  const range = replaces ? parameterOf(replaces.property, 'RANGE') : null
  const replacesLater = range?.toUpperCase() === 'THISANDFUTURE'
  const start = readOnly(lines, 'DTSTART')
  if (!blocks && replaces?.moment) {
    return {
      line,
      calendar,
      uid,
      blocks,
      start: replaces.moment,
      end: null,
      rules: none,
      additions: none,
      exclusions: none,
      replaces: replaces.moment,
      replacesLater,
    }
  }
  if (!start) return 'no_dates'
  if (!start.moment || (replaces && !replaces.moment)) return 'dates'
  const end = readEnd(lines)
  if (end === 'dates') return 'dates'
  const rules = readRules(lines.get('RRULE'))
  if (typeof rules === 'string') return rules
  const additions = readStretches(lines.get('RDATE'))
  if (additions === 'dates') return additions
  const exclusions = readMoments(lines.get('EXDATE'))
  if (exclusions === 'dates') return exclusions
  return {
    line,
    calendar,
    uid,
    blocks,
    start: start.moment,
    end,
    rules,
    additions,
    exclusions,
    replaces: replaces?.moment ?? null,
    replacesLater,
  }
}

/** Reads the busy times of a `VFREEBUSY`: every type but `FREE` is busy in some way (RFC 5545, section 3.2.9). */
export function readBusyTimes(
  { line, calendar }: Omit<EventPlace, 'uid'>,
  lines: EventLines,
): BusyTimes | SkipReason | null {
  if (calendar.method === 'CANCEL') return null
  const busy = (lines.get('FREEBUSY') ?? []).filter((text) => {
    return parameterOf(readTimes(text), 'FBTYPE')?.toUpperCase() !== 'FREE'
  })
  const stretches = readStretches(busy)
  if (stretches === 'dates') return stretches
  if (stretches.some(({ end }) => end === null)) return 'dates'
  return { line, calendar, stretches }
}

function isBlocking(calendar: CalendarHead, lines: EventLines): boolean {
  if (calendar.method === 'CANCEL') return false
  if (wordOf(lines, 'STATUS') === 'CANCELLED') return false
  return wordOf(lines, 'TRANSP') !== 'TRANSPARENT'
}

function wordOf(lines: EventLines, name: string): string | null {
  const text = lines.get(name)?.[0]
  return text ? readProperty(text).value.toUpperCase() : null
}

/** Reads a `UID` that is more than a name and a value on one line. Returns null if it is empty. */
export function readUid(text: string): number | null {
  const { value } = readProperty(text)
  return value === '' ? null : fingerprintOf(value.length, (index) => value.charCodeAt(index))
}

/** Returns null if there is no such property, and a null moment if it cannot be read. */
function readOnly(lines: EventLines, name: string): { moment: Moment | null; property: Property } | null {
  const text = lines.get(name)?.[0]
  if (text === undefined) return null
  const property = readTimes(text)
  return { moment: readMoment(property.value, property), property }
}

function readEnd(lines: EventLines): End | null | 'dates' {
  const end = readOnly(lines, 'DTEND')
  if (end) return end.moment ? { moment: end.moment } : 'dates'
  const text = lines.get('DURATION')?.[0]
  if (text === undefined) return null
  const seconds = readDuration(readProperty(text).value)
  const isLength = seconds !== null && seconds >= 0 && seconds <= lastDay * daySeconds
  return isLength ? { seconds } : 'dates'
}

/** What most events list. One for all of them, because a file may have many events. */
const none: never[] = []

function readRules(lines: string[] | undefined): Rule[] | 'dates' | 'frequency' {
  if (!lines) return none
  const rules: Rule[] = []
  for (const text of lines) {
    const rule = readRule(readProperty(text).value)
    if (typeof rule === 'string') return rule
    rules.push(rule)
  }
  return rules
}

function readMoments(lines: string[] | undefined): Moment[] | 'dates' {
  if (!lines) return none
  const moments: Moment[] = []
  for (const text of lines) {
    const property = readTimes(text)
    for (const item of property.value.split(',')) {
      if (item.trim() === '') continue
      const moment = readMoment(item, property)
      if (!moment) return 'dates'
      moments.push(moment)
    }
  }
  return moments
}

/** Reads lists of dates, times and periods (`start/end` or `start/duration`). */
function readStretches(lines: string[] | undefined): Stretch[] | 'dates' {
  if (!lines) return none
  const stretches: Stretch[] = []
  for (const text of lines) {
    const property = readTimes(text)
    for (const item of property.value.split(',')) {
      if (item.trim() === '') continue
      const stretch = readStretch(item, property)
      if (!stretch) return 'dates'
      stretches.push(stretch)
    }
  }
  return stretches
}

function readStretch(text: string, property: Property): Stretch | null {
  const [from = '', to, ...rest] = text.split('/')
  const start = readMoment(from, property)
  if (!start || rest.length > 0) return null
  if (to === undefined) return { start, end: null }
  const moment = readMoment(to, property)
  if (moment) return { start, end: { moment } }
  const seconds = readDuration(to)
  return seconds === null || seconds < 0 ? null : { start, end: { seconds } }
}
