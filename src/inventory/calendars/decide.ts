import { addDays } from '../../core/clock.ts'
import { numberOf, textOf } from './file/days.ts'
import type { NightRange } from './file/read.ts'
import type { BlockedNights, CalendarBlock, MissingNights } from './model.ts'

/*
 * What a reading of a calendar changes (decisions §31, "Adding at once, removing with care"). Pure: no I/O, the time is
 * passed in.
 *
 * ```text
 *                   ┌──────────────── a new address; the listing becomes inactive ────────────────┐
 *                   ▼                                                                            │
 *   set ───────▶ waiting ── first good reading: taken as it is ──▶ ok ◀───────────────────────┐   │
 *                   │                                              │  ▲                       │   │
 *                   │                        a reading would free  │  │ a reading would not,  │   │
 *                   │                                    too much  ▼  │ or 24 h, or `accept`  │   │
 *                   │                                           holding                       │   │
 *                   │                                              │                          │   │
 *                   └── an attempt fails ──▶ failing ◀─────────────┴── an attempt fails ──────┘   │
 *                                               │  a good reading: ok or holding, judged as above │
 *                                               └─────────────────────────────────────────────────┘
 * ```
 *
 * - New nights block at once, in every state.
 * - A missing night is freed once it has been missing from every good reading for 10 minutes, and from at least two.
 * - `holding` frees nothing. A failed attempt frees nothing and ends no holding, so `failing` keeps `hold_since`.
 *
 * Without this, a server that answers with an empty calendar for minutes would sell every night a second time.
 */

/** Nights from `from` to `to`, inclusive. */
export interface NightRun {
  from: string
  to: string
}

/** What is known of a calendar before a reading. */
export interface KnownCalendar {
  /** Null if this address has not been read, so that its first good reading is taken as it is. */
  read_at: Date | null
  hold_since: Date | null
  blocks: CalendarBlock[]
  nights: BlockedNights[]
  missing: MissingNights[]
}

/** A good reading. */
export interface GoodReading {
  /** Blocks of the file, of which no two are equal; null if the file is as it was at the last good reading. */
  blocks: NightRange[] | null
  at: Date
  /** Today in UTC. Earlier nights do not count. */
  today: string
  /** True if the host asks to take the file as it is. */
  accepts: boolean
}

/** What a good reading changes. */
export interface Decision {
  status: 'ok' | 'holding'
  hold_since: Date | null
  blocks: CalendarBlock[]
  /** Nights that were blocked before and still are. */
  kept: BlockedNights[]
  /** Nights that become blocked. */
  added: NightRun[]
  /** Nights that are freed. */
  freed: NightRun[]
  missing: MissingNights[]
}

/** A file's nights count up to this many days from today. */
export const daysAhead = 1095
const windowNights = daysAhead + 1

/** How long a night must be missing before it is freed, and from how many readings. */
const missingMilliseconds = 10 * 60_000
const missingReadings = 2
/** How long a calendar that would free too much is held. */
export const holdMilliseconds = 24 * 3_600_000
/** A reading that lacks more nights than this, and more than half of the blocked ones, would free too much. */
const manyNights = 10

/** Maximum number of blocks that are gone from the file but kept. Beyond it, only the ranges of their nights are kept. */
const maxGone = 2000

/** Decides what a good reading changes. */
export function decide(known: KnownCalendar, reading: GoodReading): Decision {
  const window = new Window(reading.today)
  const file = reading.blocks ?? known.blocks.filter(({ is_gone }) => !is_gone)
  const inFile = window.coverage(file)
  const before = window.values(known.nights)
  const missingBefore = window.values(known.missing)
  const isLacking = before.map((night, index) => night !== null && !inFile[index])
  const hold = judgeHold(known, reading, {
    blocked: before.filter((night) => night !== null).length,
    lacking: isLacking.filter(Boolean).length,
  })
  const isFreed = (missing: Omit<MissingNights, 'from' | 'to'>) =>
    hold.frees === 'all' || (hold.frees === 'confirmed' && isConfirmed(missing, reading.at))
  const missing: (Omit<MissingNights, 'from' | 'to'> | null)[] = []
  const isBlocked: boolean[] = []
  const wasFreed: boolean[] = []
  for (let index = 0; index < windowNights; index += 1) {
    const now = isLacking[index] ? nextMissing(missingBefore[index] ?? null, reading.at) : null
    const frees = now !== null && isFreed(now)
    wasFreed.push(frees)
    missing.push(frees ? null : now)
    isBlocked.push(Boolean(inFile[index]) || (now !== null && !frees))
  }
  return {
    status: hold.since === null ? 'ok' : 'holding',
    hold_since: hold.since,
    blocks: [
      ...fileBlocks(window, { file, known: known.blocks, at: reading.at }),
      ...goneBlocks(window, {
        file,
        known: known.blocks,
        isBlocked,
        isMissing: missing.map((one) => one !== null),
      }),
    ].sort(byDates),
    kept: window.runs(
      before.map((night, index) => (isBlocked[index] ? night : null)),
      (one, other) => one.sequence === other.sequence && one.at.getTime() === other.at.getTime(),
    ),
    added: window.trueRuns(before.map((night, index) => night === null && Boolean(isBlocked[index]))),
    freed: window.trueRuns(wasFreed),
    missing: window.runs(
      missing,
      (one, other) => one.readings === other.readings && one.since.getTime() === other.since.getTime(),
    ),
  }
}

/** Returns a calendar's nights after a decision, of which the added ones became blocked at a position. */
export function nightsAfter(
  { kept, added }: Decision,
  position: Pick<BlockedNights, 'sequence' | 'at'>,
): BlockedNights[] {
  const fresh = added.map(({ from, to }) => ({ from, to, sequence: position.sequence, at: position.at }))
  return [...kept, ...fresh].sort((one, other) => compare(one.from, other.from))
}

/** Which missing nights a reading frees: none while the calendar is held, those that are confirmed, or all. */
interface Hold {
  frees: 'none' | 'confirmed' | 'all'
  since: Date | null
}

function judgeHold(
  known: KnownCalendar,
  { at, accepts }: GoodReading,
  { blocked, lacking }: { blocked: number; lacking: number },
): Hold {
  if (accepts || known.read_at === null) return { frees: 'all', since: null }
  const leavesNone = blocked > 0 && lacking === blocked
  const lacksMany = lacking > manyNights && lacking * 2 > blocked
  if (!leavesNone && !lacksMany) return { frees: 'confirmed', since: null }
  const since = known.hold_since ?? at
  if (at.getTime() - since.getTime() >= holdMilliseconds) return { frees: 'all', since: null }
  return { frees: 'none', since }
}

function nextMissing(before: MissingNights | null, at: Date): Pick<MissingNights, 'since' | 'readings'> {
  if (before === null) return { since: at, readings: 1 }
  return { since: before.since, readings: before.readings + 1 }
}

function isConfirmed({ since, readings }: Pick<MissingNights, 'since' | 'readings'>, at: Date): boolean {
  return readings >= missingReadings && at.getTime() - since.getTime() >= missingMilliseconds
}

/** Returns the blocks that the file has and that count, each with the time at which it was first seen. */
function fileBlocks(
  window: Window,
  { file, known, at }: { file: NightRange[]; known: CalendarBlock[]; at: Date },
): CalendarBlock[] {
  const seen = new Map(known.map((block) => [keyOf(block), block.seen_at]))
  return file
    .filter((block) => window.has(block))
    .map((block) => ({
      start_date: block.start_date,
      end_date: block.end_date,
      seen_at: seen.get(keyOf(block)) ?? at,
      is_gone: false,
    }))
}

/** What decides which blocks are kept although they are gone from the file. */
interface Gone {
  file: NightRange[]
  known: CalendarBlock[]
  isBlocked: boolean[]
  isMissing: boolean[]
}

/**
 * Returns the blocks that are gone from the file, but of which a missing night is still blocked. A block stays whole
 * while all of its nights are blocked, because only a whole block is recognized as a booking; afterwards, only its
 * missing nights stay.
 */
function goneBlocks(window: Window, { file, known, isBlocked, isMissing }: Gone): CalendarBlock[] {
  const inFile = new Set(file.map(keyOf))
  const gone = new Map<string, CalendarBlock>()
  const add = (start_date: string, end_date: string, seen_at: Date) => {
    const block = { start_date, end_date, seen_at, is_gone: true }
    const key = keyOf(block)
    if (!inFile.has(key) && !gone.has(key)) gone.set(key, block)
  }
  const missingBefore = window.counts(isMissing)
  const blockedBefore = window.counts(isBlocked)
  for (const block of known) {
    if (inFile.has(keyOf(block))) continue
    const { first, last } = window.indexes(block)
    if (last < first || countIn(missingBefore, first, last) === 0) continue
    const isWhole = countIn(blockedBefore, first, last) === last - first + 1
    if (isWhole) add(block.start_date, block.end_date, block.seen_at)
    else
      for (const run of window.trueRuns(isMissing, first, last))
        add(run.from, addDays(run.to, 1), block.seen_at)
    if (gone.size > maxGone) return mergedGone(window, known, isMissing)
  }
  return [...gone.values()]
}

function mergedGone(window: Window, known: CalendarBlock[], isMissing: boolean[]): CalendarBlock[] {
  const seen_at = new Date(Math.min(...known.map((block) => block.seen_at.getTime())))
  return window
    .trueRuns(isMissing)
    .map(({ from, to }) => ({ start_date: from, end_date: addDays(to, 1), seen_at, is_gone: true }))
}

function keyOf({ start_date, end_date }: NightRange): string {
  return `${start_date}/${end_date}`
}

function byDates(one: NightRange, other: NightRange): number {
  return compare(one.start_date, other.start_date) || compare(one.end_date, other.end_date)
}

function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

function countIn(counts: number[], first: number, last: number): number {
  return (counts[last + 1] as number) - (counts[first] as number)
}

/** The nights that count, as indexes from 0 (today). Nights outside of it are ignored. */
class Window {
  private readonly first: number
  /** The nights as dates, because a decision names each of them many times. */
  private readonly days: string[]

  constructor(today: string) {
    this.first = numberOf(today)
    this.days = Array.from({ length: windowNights }, (_, index) => textOf(this.first + index))
  }

  /** Returns the indexes of a range's first and last night that count; the last is before the first if none does. */
  indexes({ start_date, end_date }: NightRange): { first: number; last: number } {
    return {
      first: Math.max(0, numberOf(start_date) - this.first),
      last: Math.min(windowNights, numberOf(end_date) - this.first) - 1,
    }
  }

  has(range: NightRange): boolean {
    const { first, last } = this.indexes(range)
    return last >= first
  }

  /** Returns for each night whether one of the ranges has it. */
  coverage(ranges: NightRange[]): boolean[] {
    const steps = Array<number>(windowNights + 1).fill(0)
    for (const range of ranges) {
      const { first, last } = this.indexes(range)
      if (last < first) continue
      steps[first] = (steps[first] as number) + 1
      steps[last + 1] = (steps[last + 1] as number) - 1
    }
    let open = 0
    const covered: boolean[] = []
    for (let index = 0; index < windowNights; index += 1) {
      open += steps[index] as number
      covered.push(open > 0)
    }
    return covered
  }

  /** Returns for each night the run that has it, or null. */
  values<Run extends NightRun>(runs: Run[]): (Run | null)[] {
    const values = Array<Run | null>(windowNights).fill(null)
    for (const run of runs) {
      const first = Math.max(0, numberOf(run.from) - this.first)
      const last = Math.min(windowNights - 1, numberOf(run.to) - this.first)
      if (last >= first) values.fill(run, first, last + 1)
    }
    return values
  }

  /** Returns the runs of neighbouring nights with equal values. */
  runs<Value extends object>(
    values: (Value | null)[],
    isEqual: (one: Value, other: Value) => boolean,
  ): (Value & NightRun)[] {
    const runs: (Value & NightRun)[] = []
    let start = 0
    for (let index = 1; index <= values.length; index += 1) {
      const value = values[start] ?? null
      const next = values[index] ?? null
      if (value !== null && next !== null && isEqual(value, next)) continue
      if (value !== null) runs.push({ ...value, from: this.day(start), to: this.day(index - 1) })
      start = index
    }
    return runs
  }

  /** Returns the runs of nights that are true, from the first to the last index. */
  trueRuns(values: boolean[], first = 0, last = windowNights - 1): NightRun[] {
    const runs: NightRun[] = []
    let start: number | null = null
    for (let index = first; index <= last + 1; index += 1) {
      const isTrue = index <= last && values[index] === true
      if (isTrue) start ??= index
      else if (start !== null) {
        runs.push({ from: this.day(start), to: this.day(index - 1) })
        start = null
      }
    }
    return runs
  }

  /** Returns for each index how many of the nights before it are true. */
  counts(values: boolean[]): number[] {
    const counts = [0]
    for (const value of values) counts.push((counts.at(-1) as number) + (value ? 1 : 0))
    return counts
  }

  private day(index: number): string {
    return this.days[index] as string
  }
}
