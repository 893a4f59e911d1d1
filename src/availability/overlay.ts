import { addDays } from '../clock.ts'

/** How many units of a room type are left on each day from `start_date` to `end_date`, both included. */
export interface AvailabilityRow {
  id: number
  available: number
  start_date: string
  end_date: string
  updated_at: Date
  /** Place of the write among the host's changes: bookings made later count against `available`. */
  sequence: number
}

/** A row with its place among all rows of its host, whether or not later ones lie over it. */
export interface WrittenRow extends AvailabilityRow {
  /** Place within its write. */
  order: number
  /** Id of the second half of the one row that this one may split. */
  split_id: number
}

/**
 * Lays one row over the rows of a room type, which are in order and do not overlap: what lies under it is
 * trimmed or split, and everything else stays as it was, `updated_at` included.
 *
 * @param newId gives the id of the second half of a split
 */
export function overlay<T extends AvailabilityRow>(rows: T[], row: T, newId: () => number): T[] {
  const first = countWhile(rows, ({ end_date }) => end_date < row.start_date)
  const last = countWhile(rows, ({ start_date }) => start_date <= row.end_date) - 1
  if (first === rows.length) return [...rows, row]
  // Under the row lie those from `first` to `last`; only these two can stick out of it.
  const [left, right] = [rows[first] as T, rows[last]]
  const isCutLeft = left.start_date < row.start_date
  const before = isCutLeft ? [{ ...left, end_date: addDays(row.start_date, -1) }] : []
  const after: T[] = []
  if (right && right.end_date > row.end_date) {
    const id = isCutLeft && right === left ? newId() : right.id
    after.push({ ...right, id, start_date: addDays(row.end_date, 1) })
  }
  return rows.toSpliced(first, last - first + 1, ...before, row, ...after)
}

/** How many rows at the beginning are like this, where none after them is. */
function countWhile<T>(rows: T[], isLike: (row: T) => boolean): number {
  let [from, to] = [0, rows.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (isLike(rows[middle] as T)) from = middle + 1
    else to = middle
  }
  return from
}

/**
 * The rows of a room type that are in force, ascending and without overlap: all that were written, laid over
 * each other in the order of their writing. A row under nothing comes back as the object it was.
 *
 * Which parts of a row are in force, and under which ids, depends on the rows that overlap it alone: to know that
 * of some rows, lay them with these.
 */
export function layRows<T extends WrittenRow>(written: T[]): T[] {
  const laid: T[] = []
  let pile: T[] = []
  let pileEnd = ''
  for (const row of written.toSorted(byStart)) {
    if (row.start_date > pileEnd) {
      for (const part of layPile(pile)) laid.push(part)
      pile = []
    }
    pile.push(row)
    if (row.end_date > pileEnd) pileEnd = row.end_date
  }
  for (const part of layPile(pile)) laid.push(part)
  return laid
}

function byStart({ start_date: one }: AvailabilityRow, { start_date: other }: AvailabilityRow): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

/** Rows that hang together by overlapping. */
function layPile<T extends WrittenRow>(pile: T[]): T[] {
  if (pile.length < 2) return pile
  return pile
    .toSorted((one, other) => one.sequence - other.sequence || one.order - other.order)
    .reduce<T[]>((under, row) => overlay(under, row, () => row.split_id), [])
}
