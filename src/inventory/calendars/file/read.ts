import { UnreadableContent } from '../../../platform/outgoing/content.ts'
import { Clocks } from './clocks.ts'
import { type Components, type FilePieces, readComponents, type SkippedEvent } from './components.ts'
import { numberOf, textOf } from './days.ts'
import { type CalendarEvent, inFull, type SkipReason } from './event.ts'
import { LargeFileTurn } from './large-files.ts'
import { busyNights, eventNights, type Nights, plainNights, type Reading } from './occurrences.ts'
import { Pace, TooMuchWork } from './pace.ts'

/**
 * Reads an iCalendar file (decisions §31):
 *
 *     bytes ─▶ lines ─▶ components, each event read alone ─▶ occurrences, on a wall clock ─▶ nights ─▶ blocks
 *
 * If this is wrong, nights that were sold elsewhere are sold here again. Nothing of the file is kept, logged or returned
 * except dates and numbers of lines.
 */

/** A range of nights, from `start_date` to the day before `end_date`, both `YYYY-MM-DD`. */
export interface NightRange {
  start_date: string
  end_date: string
}

/** What a file says. */
export interface CalendarFile {
  /**
   * Ascending, equal ones once, with the dates of the file. Those without a night from today to the 1,095th day ahead are
   * left out.
   */
  blocks: NightRange[]
  /** All events that were left out, ascending. */
  skipped: SkippedEvent[]
  /** `blocking`: the events that take a night that counts. */
  events: { read: number; blocking: number; skipped: number }
  /** After how many seconds the file wants to be read again, or null if it does not say. */
  refreshSeconds: number | null
}

export type FileOutcome =
  | { kind: 'calendar'; file: CalendarFile }
  | { kind: 'not_a_calendar' }
  | { kind: 'too_large' }

/** What has to be known besides the file. */
export interface FileOptions {
  /** `YYYY-MM-DD`, in UTC. */
  today: string
  /** The ISO 3166-1 code of the country whose clocks count for times in UTC, or null if none is known. */
  country: string | null
}

const maxBlocks = 2000
/** How many nights count: today's and those up to the 1,095th day ahead. */
const nightsCounted = 1096

/**
 * Reads a file in slices, so that no request waits for it for more than 20 ms, and piece by piece, so that it is never
 * held as a whole. A small file does not wait for a large one. Never throws because of what a file says.
 */
export async function readCalendarFile(pieces: FilePieces, options: FileOptions): Promise<FileOutcome> {
  const pace = new Pace()
  const turn = new LargeFileTurn()
  try {
    const components = await readComponents(pieces, { pace, turn })
    if (typeof components === 'string') return { kind: components }
    await pace.begin()
    const file = await readNights(components, options, pace)
    return file ? { kind: 'calendar', file } : { kind: 'too_large' }
  } catch (error) {
    if (error instanceof TooMuchWork) return { kind: 'too_large' }
    if (error instanceof UnreadableContent) return { kind: 'not_a_calendar' }
    throw error
  } finally {
    turn.end()
  }
}

/** More than the number of days that can be written, so that each range has a number of its own. */
const rangesPerStart = 10_000_000

/** The blocks that have been found, and the events that have been left out. */
class Tally {
  readonly skipped: SkippedEvent[]
  blocking = 0
  private readonly ranges = new Map<number, Nights>()

  constructor(skipped: SkippedEvent[]) {
    this.skipped = skipped
  }

  get isTooLarge(): boolean {
    return this.ranges.size > maxBlocks
  }

  add(line: number, nights: Nights[] | SkipReason): void {
    if (typeof nights === 'string') {
      this.skipped.push({ line, reason: nights })
      return
    }
    if (nights.length > 0) this.blocking += 1
    for (const range of nights) {
      const key = range.start * rangesPerStart + range.end
      if (!this.ranges.has(key)) this.ranges.set(key, range)
      if (this.isTooLarge) return
    }
  }

  blocks(): NightRange[] {
    const ranges = [...this.ranges.values()]
    ranges.sort((one, other) => one.start - other.start || one.end - other.end)
    return ranges.map(({ start, end }) => {
      return { start_date: textOf(start), end_date: textOf(end) }
    })
  }
}

/** Returns null if the file has more blocks than a calendar may have. */
async function readNights(
  { calendars, plain, events, busy, skipped, eventsRead, zones, refreshSeconds }: Components,
  options: FileOptions,
  pace: Pace,
): Promise<CalendarFile | null> {
  const first = numberOf(options.today)
  const window = { start: first, end: first + nightsCounted }
  const reading: Reading = { clocks: new Clocks(calendars, zones, options), window, pace }
  const tally = new Tally(skipped)
  const replacements = replacementsByUid(events)
  for (let index = 0; index < plain.length; index += 1) {
    if (pace.isOver()) await pace.rest()
    const event = plain.at(index)
    if (event.uid !== null && replacements.has(event.uid)) events.push(inFull(event))
    else tally.add(event.line, plainNights(event, window))
    if (tally.isTooLarge) return null
  }
  for (const event of events) {
    if (pace.isOver()) await pace.rest()
    const found = eventNights(event, replacementsOf(event, replacements), reading)
    const nights = found instanceof Promise ? await found : found
    tally.add(event.line, nights)
    if (tally.isTooLarge) return null
  }
  for (const times of busy) {
    if (pace.isOver(times.stretches.length + 1)) await pace.rest()
    tally.add(times.line, busyNights(times, reading))
    if (tally.isTooLarge) return null
  }
  tally.skipped.sort((one, other) => one.line - other.line)
  return {
    blocks: tally.blocks(),
    skipped: tally.skipped,
    events: { read: eventsRead, blocking: tally.blocking, skipped: tally.skipped.length },
    refreshSeconds,
  }
}

function replacementsByUid(events: CalendarEvent[]): Map<number, CalendarEvent[]> {
  const byUid = new Map<number, CalendarEvent[]>()
  for (const event of events) {
    if (event.uid === null || !event.replaces) continue
    const others = byUid.get(event.uid)
    if (others) others.push(event)
    else byUid.set(event.uid, [event])
  }
  return byUid
}

const none: CalendarEvent[] = []

/** Returns the events that replace occurrences of an event. `METHOD:CANCEL` only cancels events of its own VCALENDAR. */
function replacementsOf(event: CalendarEvent, byUid: Map<number, CalendarEvent[]>): CalendarEvent[] {
  if (event.uid === null || event.replaces || byUid.size === 0) return none
  const all = byUid.get(event.uid) ?? none
  return all.filter(({ calendar }) => calendar === event.calendar || calendar.method !== 'CANCEL')
}
