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
  const before = rows.flatMap((under) => {
    if (under.start_date >= row.start_date) return []
    return under.end_date < row.start_date ? [under] : [{ ...under, end_date: addDays(row.start_date, -1) }]
  })
  const after = rows.flatMap((under) => {
    if (under.end_date <= row.end_date) return []
    if (under.start_date > row.end_date) return [under]
    const isSplit = under.start_date < row.start_date
    return [{ ...under, id: isSplit ? newId() : under.id, start_date: addDays(row.end_date, 1) }]
  })
  return [...before, row, ...after]
}
