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

/**
 * Lays one row over the rows of a room type, which are in order and do not overlap: what lies under it is
 * trimmed or split, and everything else stays as it was, `updated_at` included.
 *
 * @param newId gives the id of the second half of a split
 */
export function overlay(
  rows: AvailabilityRow[],
  row: AvailabilityRow,
  newId: () => number,
): AvailabilityRow[] {
  const first = rows.findIndex(({ end_date }) => end_date >= row.start_date)
  if (first === -1) return [...rows, row]
  const last = rows.findLastIndex(({ start_date }) => start_date <= row.end_date)
  // Under the row lie those from `first` to `last`; only these two can stick out of it.
  const [left, right] = [rows[first] as AvailabilityRow, rows[last]]
  const isCutLeft = left.start_date < row.start_date
  const before = isCutLeft ? [{ ...left, end_date: addDays(row.start_date, -1) }] : []
  const after: AvailabilityRow[] = []
  if (right && right.end_date > row.end_date) {
    const id = isCutLeft && right === left ? newId() : right.id
    after.push({ ...right, id, start_date: addDays(row.end_date, 1) })
  }
  return rows.toSpliced(first, last - first + 1, ...before, row, ...after)
}
