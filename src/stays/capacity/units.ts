import { addDays, daysBetween } from '../../core/clock.ts'
import { type RoomBlock, recognizeBookings, type StayToRecognize } from './own-blocks.ts'

/**
 * How a night is counted (decisions §6, §8, §31): the one rule for a booking, the nights, the health and the calendars.
 * It knows no database. Without it, a night that the nights show as free could be refused, or the reverse.
 */

/** A range of nights from `from` to `to`, inclusive, each as `YYYY-MM-DD`. */
export interface Nights {
  from: string
  to: string
}

/** A row of availability, as far as it determines how units are counted. */
export interface CountedRow {
  start_date: string
  /** Last night of the row, inclusive. */
  end_date: string
  available: number
  /** Position of the write among the host's changes. */
  sequence: number
  /** The booking version up to which `available` is informed; null if it is informed up to the write. */
  as_of: Date | null
}

/** An active stay, as far as it determines how units are counted. */
export interface CountedStay extends StayToRecognize {
  /** Position of the booking's creation among the host's changes. */
  created_sequence: number
  /** Version of the booking when it was created. */
  created_version: Date
}

/** What the calendar of one room says. */
export interface RoomCalendar {
  room_id: number
  /** True if any address of this room has been read so far. */
  hasBeenRead: boolean
  blocks: RoomBlock[]
  blockedNights: BlockedNights[]
}

/** Nights of a room that became blocked together. */
export interface BlockedNights extends Nights {
  /** Position among the host's changes of the reading that blocked the nights. */
  sequence: number
  /** Time of that reading. */
  at: Date
}

/** Everything that determines the units of a room type. */
export interface Capacity {
  /** The rows in force, which do not overlap. */
  rows: CountedRow[]
  /**
   * The active stays. Stays that no row, and no block, counts may be left out by a caller that ignores open nights. With
   * calendars, all stays that overlap {@link nightsToCompare} are needed.
   */
  stays: CountedStay[]
  /** The calendars of the room type's rooms that have an address, with all of their blocks. */
  calendars: RoomCalendar[]
  /** Number of rooms of the room type. */
  rooms: number
  /** Today's date in UTC. */
  today: string
}

/** The units of a room type on one night. An open night has no `available` and no `left`. */
export interface UnitNight {
  date: string
  /** Null if no row covers the night and no calendar of the room type has been read. */
  available: number | null
  /** Number of active stays that count against `available`. */
  booked: number
  /** Number of rooms whose calendars count against `available`. */
  blocked: number
  /** `available` − `booked` − `blocked`, at least 0; null for an open night. */
  left: number | null
}

/** Number of days after today on which a calendar counts (decisions §31). */
const calendarDays = 1095

/** Returns the nights of a stay. The `checkout_at` day is not one of them. */
export function nightsOf({
  checkin_at,
  checkout_at,
}: Pick<CountedStay, 'checkin_at' | 'checkout_at'>): Nights {
  return { from: checkin_at, to: addDays(checkout_at, -1) }
}

/**
 * Returns a room type's units on each night. `available` is that of the row that covers the night or, without a row, the
 * number of rooms if a calendar of the room type has been read. What the row's `available` already takes into account
 * does not count again: with `as_of`, stays and blocks up to that version, otherwise those up to the write.
 */
export function unitsByNight({ from, to }: Nights, capacity: Capacity): UnitNight[] {
  const { rows, stays, calendars, rooms } = capacity
  const withoutRow = calendars.some(({ hasBeenRead }) => hasBeenRead) ? rooms : null
  const nights = Array.from({ length: daysBetween(from, to) + 1 }, (_, index) =>
    newNight(addDays(from, index), withoutRow),
  )
  const within = (first: string, last: string) =>
    nights.slice(Math.max(0, daysBetween(from, first)), Math.max(0, daysBetween(from, last) + 1))
  for (const row of rows)
    for (const night of within(row.start_date, row.end_date)) {
      night.available = row.available
      night.row = row
    }
  countStays(stays, from, nights)
  for (const { offset, since } of blockedRoomNights({ from, to }, capacity)) {
    const night = nights[offset] as CountedNight
    if (isUnknown(night.row, since)) night.blocked += 1
  }
  return nights.map(({ date, available, booked, blocked }) => ({
    date,
    available,
    booked,
    blocked,
    left: available === null ? null : Math.max(0, available - booked - blocked),
  }))
}

/** Returns the first night with no unit left according to {@link unitsByNight}, or null if there is no such night. */
export function firstFullNight(nights: Nights, capacity: Capacity): string | null {
  // If this breaks: the last unit is sold twice
  return unitsByNight(nights, capacity).find(({ left }) => left !== null && left <= 0)?.date ?? null
}

/**
 * Returns the nights, in order, on which a room type has more active stays and blocked rooms than rooms, whatever its
 * rows say (decisions §31, `conflicts`).
 */
export function overbookedNights(nights: Nights, capacity: Omit<Capacity, 'rows'>): string[] {
  return unitsByNight(nights, { ...capacity, rows: [] })
    .filter(({ booked, blocked }) => booked + blocked > capacity.rooms)
    .map(({ date }) => date)
}

/**
 * Returns the nights whose stays a caller must read to count on `nights`. A block is compared with all stays that end
 * with it, so these nights reach as far as the blocks that overlap the requested ones.
 */
export function nightsToCompare({ from, to }: Nights, calendars: Pick<RoomCalendar, 'blocks'>[]): Nights {
  let last = to
  for (const { start_date, end_date } of calendars.flatMap(({ blocks }) => blocks)) {
    if (start_date > to || end_date <= from) continue
    const lastOfBlock = addDays(end_date, -1)
    if (lastOfBlock > last) last = lastOfBlock
  }
  return { from, to: last }
}

interface CountedNight extends Omit<UnitNight, 'left'> {
  row: CountedRow | null
}

function newNight(date: string, available: number | null): CountedNight {
  return {
    date,
    available,
    booked: 0,
    blocked: 0,
    row: null,
  }
}

/**
 * Counts stays on the nights, of which the first is `from`. A stay counts on all or none of the nights in a row that one
 * row covers, so thousands of long stays take no more time than short ones.
 */
function countStays(stays: CountedStay[], from: string, nights: CountedNight[]): void {
  const steps = Array<number>(nights.length + 1).fill(0)
  const rowEnds = rowEndsOf(nights)
  for (const stay of stays) {
    const since = createdAt(stay)
    const end = Math.min(daysBetween(from, stay.checkout_at), nights.length)
    let offset = Math.max(0, daysBetween(from, stay.checkin_at))
    while (offset < end) {
      const until = Math.min(end, rowEnds[offset] as number)
      if (isUnknown((nights[offset] as CountedNight).row, since)) {
        steps[offset] = (steps[offset] as number) + 1
        steps[until] = (steps[until] as number) - 1
      }
      offset = until
    }
  }
  let staying = 0
  for (const [offset, night] of nights.entries()) {
    staying += steps[offset] as number
    night.booked = staying
  }
}

/** Returns for each night the place of the first later night that the same row does not cover. */
function rowEndsOf(nights: CountedNight[]): number[] {
  const ends = Array<number>(nights.length)
  for (let offset = nights.length - 1; offset >= 0; offset -= 1) {
    const isLastOfRow = nights[offset]?.row !== nights[offset + 1]?.row
    ends[offset] = isLastOfRow || offset === nights.length - 1 ? offset + 1 : (ends[offset + 1] as number)
  }
  return ends
}

/** When something took a unit: its position among the host's changes, and its version or time. */
interface Taken {
  sequence: number
  at: Date
}

function createdAt({ created_sequence, created_version }: CountedStay): Taken {
  return { sequence: created_sequence, at: created_version }
}

/** Returns true if a row's `available` does not take into account that a unit was taken. */
function isUnknown(row: CountedRow | null, { sequence, at }: Taken): boolean {
  if (row === null) return true
  return row.as_of === null ? sequence > row.sequence : at > row.as_of
}

/**
 * Returns one entry for each night and room that is blocked by anything other than one of our bookings; `offset` is the
 * night's place among those asked for.
 */
function blockedRoomNights(
  { from, to }: Nights,
  { stays, calendars, today }: Capacity,
): { offset: number; since: Taken }[] {
  const found: { offset: number; since: Taken }[] = []
  if (calendars.length === 0) return found
  const last = earlier(to, addDays(today, calendarDays))
  const own = recognizeBookings(stays, calendars, today)
  const counted = { from: Math.max(0, daysBetween(from, today)), to: daysBetween(from, last) }
  const dates = Array.from({ length: Math.max(0, counted.to + 1) }, (_, offset) => addDays(from, offset))
  for (const { blocks, blockedNights } of calendars) {
    const foreign = blocks.filter(
      (block) => block.start_date <= last && block.end_date > from && !own.has(block),
    )
    const since = new BlockedSince(blockedNights)
    for (const offset of offsetsOf(foreign, from, counted)) {
      found.push({ offset, since: since.of(dates[offset] as string) })
    }
  }
  return found
}

/**
 * Returns the nights that at least one of the blocks takes, each once, as numbers of nights after `start`. A file may have
 * thousands of long blocks, so the time depends on the nights and not on what the blocks have in common.
 */
function offsetsOf(blocks: RoomBlock[], start: string, { from, to }: { from: number; to: number }): number[] {
  const offsets: number[] = []
  let next = from
  for (const { start_date, end_date } of blocks.toSorted(byStart)) {
    const end = Math.min(daysBetween(start, end_date), to + 1)
    for (let offset = Math.max(next, daysBetween(start, start_date)); offset < end; offset += 1)
      offsets.push(offset)
    next = Math.max(next, end)
  }
  return offsets
}

function byStart({ start_date: one }: RoomBlock, { start_date: other }: RoomBlock): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

/** When the nights of a room became blocked. The nights are asked for in ascending order. */
class BlockedSince {
  private readonly runs: BlockedNights[]
  private next = 0

  constructor(blockedNights: BlockedNights[]) {
    this.runs = blockedNights.toSorted((one, other) => (one.from < other.from ? -1 : 1))
  }

  /** If nobody knows when a night became blocked, no row takes it into account. */
  of(date: string): Taken {
    while (this.next < this.runs.length && (this.runs[this.next] as BlockedNights).to < date) this.next += 1
    const run = this.runs[this.next]
    return run && run.from <= date ? run : neverKnown
  }
}

const neverKnown: Taken = { sequence: Number.POSITIVE_INFINITY, at: new Date(8.64e15) }

function earlier(one: string, other: string): string {
  return one < other ? one : other
}
