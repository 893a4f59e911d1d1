import { textOf } from './days.ts'
import {
  type BusyTimes,
  busyProperties,
  type CalendarEvent,
  type CalendarHead,
  type EventLines,
  eventProperties,
  type PlainEvent,
  readBusyTimes,
  readEvent,
  readUid,
  type SkipReason,
} from './event.ts'
import type { LargeFileTurn } from './large-files.ts'
import { Lines, maxTextBytes } from './lines.ts'
import type { Pace } from './pace.ts'
import { readDuration, readProperty } from './property.ts'

/** An event that is left out (decisions §31). */
export interface SkippedEvent {
  /** The number of the event's first line, from 1. */
  line: number
  reason: SkipReason
}

/** What a file consists of. */
export interface Components {
  calendars: CalendarHead[]
  /** The events that are nothing but ranges of days, and all others. */
  plain: PlainEvents
  events: CalendarEvent[]
  busy: BusyTimes[]
  skipped: SkippedEvent[]
  /** The number of `VEVENT` and `VFREEBUSY`. */
  eventsRead: number
  /** For each `VTIMEZONE`, by its name: how many seconds its clocks are ahead of UTC. */
  zones: Map<string, Set<number>>
  refreshSeconds: number | null
}

const maxBytes = 8 * 1024 * 1024
const maxEvents = 10_000
/** Dates in lists (`RDATE`, `EXDATE`, `FREEBUSY`) of all events. */
const maxListedDates = 100_000
/** Components within components: far more than any calendar has. */
const maxDepth = 50

const calendarProperties = new Set(['METHOD', 'X-WR-TIMEZONE', 'REFRESH-INTERVAL', 'X-PUBLISHED-TTL'])
const zoneProperties = new Set(['TZID', 'TZOFFSETTO'])
/** The components that stand in a VCALENDAR itself, so one that begins ends one whose end is missing. */
const topNames = new Set(['VEVENT', 'VFREEBUSY', 'VTODO', 'VJOURNAL', 'VTIMEZONE', 'VAVAILABILITY'])

/** The bytes of a file, in pieces of which each is used only until the next one is asked for. */
export type FilePieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/** What a file's components are read with. */
interface Reading {
  pace: Pace
  turn: LargeFileTurn
}

/** Cuts a file into its components, and reads each event alone, so that a bad one costs one event. */
export async function readComponents(
  pieces: FilePieces,
  { pace, turn }: Reading,
): Promise<Components | 'not_a_calendar' | 'too_large'> {
  const lines = new Lines()
  const cutter = new Cutter()
  let bytes = 0
  for await (const piece of pieces) {
    bytes += piece.length
    if (bytes > maxBytes) return 'too_large'
    await turn.takeIfLarge(bytes)
    lines.add(piece)
    const refusal = await takeLines(lines, cutter, pace)
    if (refusal) return refusal
  }
  lines.endFile()
  const refusal = await takeLines(lines, cutter, pace)
  if (refusal) return refusal
  return cutter.isWhole ? cutter.components : 'not_a_calendar'
}

/** Takes the lines that are whole so far. Returns why the file cannot be used if it cannot. */
async function takeLines(
  lines: Lines,
  cutter: Cutter,
  pace: Pace,
): Promise<'not_a_calendar' | 'too_large' | null> {
  await pace.begin()
  while (lines.advance()) {
    if (pace.isOver()) await pace.rest()
    while (!lines.complete()) await pace.rest()
    const refusal = cutter.take(lines)
    if (refusal) return refusal
  }
  pace.end()
  return null
}

/** Plain events, column by column. */
export class PlainEvents {
  private readonly lines: number[] = []
  private readonly calendars: CalendarHead[] = []
  private readonly uids: (number | null)[] = []
  private readonly starts: number[] = []
  private readonly ends: (number | null)[] = []

  add({ line, calendar, uid, start, end }: PlainEvent): void {
    this.lines.push(line)
    this.calendars.push(calendar)
    this.uids.push(uid)
    this.starts.push(start)
    this.ends.push(end)
  }

  get length(): number {
    return this.lines.length
  }

  /** Returns an event by its index, which is below {@link length}. */
  at(index: number): PlainEvent {
    return {
      line: this.lines[index] as number,
      calendar: this.calendars[index] as CalendarHead,
      uid: this.uids[index] as number | null,
      start: this.starts[index] as number,
      end: this.ends[index] as number | null,
    }
  }
}

/** A component that stands in a VCALENDAR itself. */
interface Component {
  name: string
  line: number
  /** The lines that count, except those of which the fields below are all that counts. */
  lines: EventLines
  bytes: number
  uid: number | null
  hasUid: boolean
  /** The day of a `DTSTART` and a `DTEND` that are nothing but dates. */
  start: number | null
  end: number | null
}

/**
 * Takes a file's lines one after another:
 *
 *     outside ── BEGIN:VCALENDAR ──▶ in a calendar ── BEGIN:VEVENT, … ──▶ in a component ── BEGIN:VALARM, … ──▶ deeper
 *        ▲                              │   ▲                               │     ▲                              │
 *        └────── END:VCALENDAR ─────────┘   └───────── END:VEVENT, … ───────┘     └────── END:VALARM, … ─────────┘
 *
 * A component whose end is missing ends where the next one begins, or with its calendar. A calendar whose end is missing
 * makes the file unusable, because the file may be cut off there.
 */
class Cutter {
  readonly components: Components = {
    calendars: [],
    plain: new PlainEvents(),
    events: [],
    busy: [],
    skipped: [],
    eventsRead: 0,
    zones: new Map(),
    refreshSeconds: null,
  }
  private head: CalendarHead | null = null
  private component: Component | null = null
  /** The names of the components within the component, from the outermost one. */
  private readonly inner: string[] = []
  private listedDates = 0
  /** The lines of the component that is read, in one map for all of them. */
  private readonly lines: EventLines = new Map()
  private isCutOff = false
  private hasRefreshInterval = false

  /** True if the file has a calendar, and each has its end. */
  get isWhole(): boolean {
    return this.components.calendars.length > 0 && !this.head && !this.isCutOff
  }

  /** Takes a line. Returns why the file cannot be used if it cannot. */
  take(lines: Lines): 'not_a_calendar' | 'too_large' | null {
    const name = lines.name()
    if (!this.head) this.isCutOff = isCutOffBeginning(lines)
    if (name === 'BEGIN') return this.begin(wordOf(lines, 'BEGIN:VEVENT'), lines.number)
    if (name === 'END') return this.end(wordOf(lines, 'END:VEVENT'))
    if (this.component) this.takeOfComponent(this.component, name, lines)
    else if (this.head && calendarProperties.has(name)) this.takeOfCalendar(this.head, name, lines)
    return null
  }

  private begin(name: string, line: number): 'not_a_calendar' | 'too_large' | null {
    if (name === 'VCALENDAR') {
      if (this.head) return 'not_a_calendar'
      this.head = { method: null, zone: null }
      this.components.calendars.push(this.head)
      return null
    }
    if (!this.head) return null
    if (topNames.has(name)) {
      const refusal = this.finish()
      this.component = this.newComponent(name, line)
      return refusal
    }
    if (this.component) this.inner.push(name)
    else this.component = this.newComponent(name, line)
    return this.inner.length > maxDepth ? 'not_a_calendar' : null
  }

  private newComponent(name: string, line: number): Component {
    this.lines.clear()
    return { name, line, lines: this.lines, bytes: 0, uid: null, hasUid: false, start: null, end: null }
  }

  private end(name: string): 'too_large' | null {
    if (!this.head) return null
    if (name === 'VCALENDAR') {
      const refusal = this.finish()
      this.head = null
      return refusal
    }
    const innermost = this.inner.lastIndexOf(name)
    if (innermost >= 0) {
      this.inner.length = innermost
      return null
    }
    return this.component?.name === name ? this.finish() : null
  }

  private takeOfCalendar(head: CalendarHead, name: string, lines: Lines): void {
    const text = lines.text()
    const value = text === null ? '' : readProperty(text).value
    if (name === 'METHOD') head.method ??= value.toUpperCase()
    else if (name === 'X-WR-TIMEZONE') head.zone ??= value
    else this.takeRefresh(name, value)
  }

  /** `REFRESH-INTERVAL` counts before the older `X-PUBLISHED-TTL`, and the first one before others. */
  private takeRefresh(name: string, value: string): void {
    const seconds = readDuration(value)
    if (seconds === null || seconds < 0 || !Number.isSafeInteger(seconds)) return
    const isInterval = name === 'REFRESH-INTERVAL'
    if (isInterval && !this.hasRefreshInterval) this.components.refreshSeconds = seconds
    else this.components.refreshSeconds ??= seconds
    this.hasRefreshInterval ||= isInterval
  }

  private takeOfComponent(component: Component, name: string, lines: Lines): void {
    if (component.name === 'VTIMEZONE') {
      // The offsets stand in its parts, STANDARD and DAYLIGHT.
      if (zoneProperties.has(name)) addLine(component, name, lines)
      return
    }
    // What stands deeper, such as the times of an alarm, is not about the event.
    if (this.inner.length > 0) return
    const counts = component.name === 'VFREEBUSY' ? busyProperties : eventProperties
    const isEvent = component.name === 'VEVENT' || component.name === 'VFREEBUSY'
    if (!isEvent) return
    if (name === 'UID') takeUid(component, lines)
    else if (counts.has(name) && !takeDay(component, name, lines)) addLine(component, name, lines)
  }

  /** Reads the component that ends here. */
  private finish(): 'too_large' | null {
    const { component, head } = this
    this.component = null
    this.inner.length = 0
    if (!component || !head) return null
    if (component.name === 'VTIMEZONE') this.addZone(component.lines)
    if (component.name !== 'VEVENT' && component.name !== 'VFREEBUSY') return null
    this.components.eventsRead += 1
    this.addEvent(component, head)
    const isTooMuch = this.components.eventsRead > maxEvents || this.listedDates > maxListedDates
    return isTooMuch ? 'too_large' : null
  }

  private addEvent(component: Component, calendar: CalendarHead): void {
    const { plain, events, busy, skipped } = this.components
    const { line, lines } = component
    const place = { line, calendar }
    if (component.bytes > maxTextBytes) {
      skipped.push({ line, reason: 'too_many' })
      return
    }
    if (component.name === 'VFREEBUSY') {
      const times = readBusyTimes(place, lines)
      if (typeof times === 'string') skipped.push({ line, reason: times })
      else if (times) busy.push(times)
      this.listedDates += typeof times === 'string' ? 0 : (times?.stretches.length ?? 0)
      return
    }
    const { uid, start, end } = component
    if (start !== null && lines.size === 0 && calendar.method !== 'CANCEL') {
      plain.add({ ...place, uid, start, end })
      return
    }
    // Its dates count as its other lines do.
    if (start !== null) lines.set('DTSTART', [`DTSTART:${compactDay(start)}`])
    if (end !== null) lines.set('DTEND', [`DTEND:${compactDay(end)}`])
    const event = readEvent({ ...place, uid }, lines)
    if (typeof event === 'string') skipped.push({ line, reason: event })
    else if (event) {
      events.push(event)
      this.listedDates += event.additions.length + event.exclusions.length
    }
  }

  private addZone(lines: EventLines): void {
    const name = lines.get('TZID')?.[0]
    if (name === undefined) return
    const offsets = new Set<number>()
    for (const text of lines.get('TZOFFSETTO') ?? []) {
      const offset = readOffset(readProperty(text).value)
      if (offset !== null) offsets.add(offset)
    }
    if (offsets.size > 0) this.components.zones.set(readProperty(name).value, offsets)
  }
}

/** Keeps a line of a component, unless there are too many to be read at once. */
function addLine(component: Component, name: string, lines: Lines): void {
  const text = lines.text()
  component.bytes += text === null ? maxTextBytes + 1 : text.length
  if (text === null || component.bytes > maxTextBytes) return
  const known = component.lines.get(name)
  if (known) known.push(text)
  else component.lines.set(name, [text])
}

/** The first UID of a component counts. */
function takeUid(component: Component, lines: Lines): void {
  if (component.hasUid) return
  component.hasUid = true
  component.uid = lines.plainFingerprint('UID')
  if (component.uid !== null) return
  const text = lines.text()
  component.bytes += text === null ? maxTextBytes + 1 : text.length
  component.uid = text === null ? null : readUid(text)
}

/** Takes the first `DTSTART` or `DTEND` if it is nothing but a date. Returns false for any other line. */
function takeDay(component: Component, name: string, lines: Lines): boolean {
  const isStart = name === 'DTSTART'
  if (!(isStart || name === 'DTEND') || component.lines.has(name)) return false
  if ((isStart ? component.start : component.end) !== null) return true
  const day = lines.plainDay(name)
  if (day === null) return false
  if (isStart) component.start = day
  else component.end = day
  return true
}

function compactDay(day: number): string {
  return textOf(day).replaceAll('-', '')
}

/**
 * Returns the value of a line as a word in upper case.
 *
 * @param usual what nearly all such lines are, which need not become text
 */
function wordOf(lines: Lines, usual: string): string {
  if (lines.is(usual)) return 'VEVENT'
  const text = lines.text()
  return text === null ? '' : readProperty(text).value.toUpperCase()
}

/** Returns true if a line may be the beginning of a VCALENDAR whose rest is missing. */
function isCutOffBeginning(lines: Lines): boolean {
  const text = lines.text()?.trim().toUpperCase() ?? ''
  return text !== 'BEGIN:VCALENDAR' && 'BEGIN:VCALENDAR'.startsWith(text)
}

/** Reads how far a zone is ahead of UTC, such as `+0130`, in seconds. */
function readOffset(text: string): number | null {
  const [, sign, hours, minutes, seconds = 0] = /^([+-])(\d{2})(\d{2})(\d{2})?$/.exec(text) ?? []
  if (sign === undefined) return null
  const total = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
  return sign === '-' ? -total : total
}
