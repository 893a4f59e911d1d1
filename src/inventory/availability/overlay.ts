import { addDays } from '../../core/clock.ts'

/** How many units of a room type are left on each day from `start_date` to `end_date`, both included. */
export interface AvailabilityRow {
  id: number
  available: number
  start_date: string
  end_date: string
  updated_at: Date
  /** Position of the write among the host's changes: bookings made later count against `available`. */
  sequence: number
}

/** A row with its position among all rows of its host, whether or not later ones cover it. */
export interface WrittenRow extends AvailabilityRow {
  /** Position within its write. */
  order: number
  /** Id of the second half of the row that this one may split. */
  split_id: number
}

/**
 * Overlays one row on the rows of a room type, which are in order and do not overlap: what it covers is trimmed or
 * split, and everything else stays as it was, `updated_at` included.
 *
 * @param newId returns the id of the second half of a split
 */
export function overlay<T extends AvailabilityRow>(rows: T[], row: T, newId: () => number): T[] {
  const first = countWhile(rows, ({ end_date }) => end_date < row.start_date)
  const last = countWhile(rows, ({ start_date }) => start_date <= row.end_date) - 1
  if (first === rows.length) return [...rows, row]
  // The row covers those from `first` to `last`; only these two can extend beyond it.
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

/** How many rows at the start satisfy a condition that no later row satisfies. */
function countWhile<T>(rows: T[], isTrue: (row: T) => boolean): number {
  let [from, to] = [0, rows.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (isTrue(rows[middle] as T)) from = middle + 1
    else to = middle
  }
  return from
}

/**
 * The rows of a room type that are in force, ascending and without overlap: all rows written, overlaid in the order
 * of writing. A row that nothing covers is returned as the same object.
 *
 * Which parts of a row are in force, and under which ids, depends only on the rows that overlap it: to know it for
 * some rows, pass them together with those.
 */
export function overlayRows<T extends WrittenRow>(written: T[]): T[] {
  const result: T[] = []
  let group: T[] = []
  let groupEnd = ''
  for (const row of written.toSorted(byStart)) {
    if (row.start_date > groupEnd) {
      for (const part of overlayGroup(group)) result.push(part)
      group = []
    }
    group.push(row)
    if (row.end_date > groupEnd) groupEnd = row.end_date
  }
  for (const part of overlayGroup(group)) result.push(part)
  return result
}

/** The order of rows by their first day. */
export function byStart(
  { start_date: one }: AvailabilityRow,
  { start_date: other }: AvailabilityRow,
): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

/** Overlays rows that are connected by overlapping. */
function overlayGroup<T extends WrittenRow>(group: T[]): T[] {
  if (group.length < 2) return group
  return group
    .toSorted((one, other) => one.sequence - other.sequence || one.order - other.order)
    .reduce<T[]>((covered, row) => overlay(covered, row, () => row.split_id), [])
}
