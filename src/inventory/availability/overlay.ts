import { addDays } from '../../core/clock.ts'

/** A range of days with the number of units left on each day when the row was written. */
export interface AvailabilityRow {
  id: number
  available: number
  start_date: string
  end_date: string
  updated_at: Date
  /** Position of the write among the host's changes. */
  sequence: number
  /**
   * The booking version up to which `available` is informed (decisions §8): bookings that were made later count against
   * it. Null if it is informed up to the write.
   */
  as_of: Date | null
}

/**
 * A row as written, even if later rows cover it. `sequence` and `order` give its position among all of its host's rows.
 */
export interface WrittenRow extends AvailabilityRow {
  /** Position of the row within its write. */
  order: number
  /** Id reserved for the second half of a row that this row splits. */
  split_id: number
}

/**
 * Overlays a new row on a room type's rows, which must be in order and must not overlap. A row that lies within the new
 * row is removed. A row that extends beyond it on one side is trimmed and keeps its id. A row that extends beyond it on
 * both sides is split, and its second half gets an id of its own. Everything else, including `updated_at`, stays
 * unchanged.
 *
 * @param newId returns an id for the second half of a split row
 */
export function overlay<T extends AvailabilityRow>(rows: T[], row: T, newId: () => number): T[] {
  const first = countWhile(rows, ({ end_date }) => end_date < row.start_date)
  const last = countWhile(rows, ({ start_date }) => start_date <= row.end_date) - 1
  if (first === rows.length) return [...rows, row]
  // The new row overlaps the rows from `first` to `last`. Only these two can extend beyond it.
  const left = rows[first] as T
  const right = rows[last]
  const extendsBefore = left.start_date < row.start_date
  const isSplit = extendsBefore && first === last
  const replacements: T[] = []
  if (extendsBefore) replacements.push({ ...left, end_date: addDays(row.start_date, -1) })
  replacements.push(row)
  if (right && right.end_date > row.end_date) {
    const id = isSplit ? newId() : right.id
    replacements.push({ ...right, id, start_date: addDays(row.end_date, 1) })
  }
  return rows.toSpliced(first, last - first + 1, ...replacements)
}

/** Counts the leading rows that satisfy a condition. No later row may satisfy it. */
function countWhile<T>(rows: T[], isTrue: (row: T) => boolean): number {
  let from = 0
  let to = rows.length
  while (from < to) {
    const middle = (from + to) >> 1
    if (isTrue(rows[middle] as T)) from = middle + 1
    else to = middle
  }
  return from
}

/**
 * Overlays all written rows in write order and returns the rows in force, in ascending order and without overlaps. A
 * row that no later row overlaps is returned as the same object.
 *
 * The parts of a row that are in force, and their ids, depend only on the rows that overlap it. To overlay only some of
 * the rows, pass them together with all rows that overlap them.
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

/** Compares two rows by their first day. */
export function byStart(
  { start_date: one }: AvailabilityRow,
  { start_date: other }: AvailabilityRow,
): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

/** Overlays a group of rows that are connected by overlaps. */
function overlayGroup<T extends WrittenRow>(group: T[]): T[] {
  if (group.length < 2) return group
  return group
    .toSorted((one, other) => one.sequence - other.sequence || one.order - other.order)
    .reduce<T[]>((covered, row) => overlay(covered, row, () => row.split_id), [])
}
