import {
  type BusyTimes,
  busyProperties,
  type CalendarEvent,
  type CalendarHead,
  type EventLines,
  eventProperties,
  readBusyTimes,
  readEvent,
  type SkipReason,
} from './event.ts'
import type { LargeFileTurn } from './large-files.ts'
import { Lines, maxTextBytes } from './lines.ts'
import type { Pace } from './pace.ts'
import { readDuration, readProperty } from './property.ts'
import type { FilePieces } from './read.ts'

/** An event that is left out (decisions §31). */
export interface SkippedEvent {
  /** The number of the event's first line, from 1. */
  line: number
  reason: SkipReason
}

/** What a file consists of. */
export interface Components {
  calendars: CalendarHead[]
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

/** A component that stands in a VCALENDAR itself. */
interface Component {
  name: string
  line: number
  lines: EventLines
  bytes: number
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
    if (name === 'BEGIN') return this.begin(wordOf(lines), lines.number)
    if (name === 'END') return this.end(wordOf(lines))
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
    return { name, line, lines: this.lines, bytes: 0 }
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
    if (isEvent && counts.has(name)) addLine(component, name, lines)
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
    const { events, busy, skipped } = this.components
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
    const event = readEvent(place, lines)
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

/** Returns the value of a line as a word in upper case. */
function wordOf(lines: Lines): string {
  const text = lines.text()
  // Nearly all are these two, and need not be cut.
  if (text === 'BEGIN:VEVENT' || text === 'END:VEVENT') return 'VEVENT'
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
