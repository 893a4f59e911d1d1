import type { AvailabilityRow } from '../availability/overlay.ts'
import { addDays } from '../clock.ts'

/** The part of a booking that occupies a unit. */
export interface Stay {
  checkin_at: string
  checkout_at: string
  created_sequence: number
}

/**
 * The first night of a stay on which no unit is left, or null (decisions §6): a night has `available` units of the row
 * that covers it, minus the active stays that cover the night and were made after that row was written. A night that
 * no row covers is open; the day of `checkout_at` is not a night of the stay.
 */
export function firstFullNight(
  stay: Omit<Stay, 'created_sequence'>,
  rows: AvailabilityRow[],
  active: Stay[],
): string | null {
  for (const row of rows) {
    const later = active.filter(({ created_sequence }) => created_sequence > row.sequence)
    const last = row.end_date < stay.checkout_at ? addDays(row.end_date, 1) : stay.checkout_at
    for (let night = max(row.start_date, stay.checkin_at); night < last; night = addDays(night, 1)) {
      const taken = later.filter(
        ({ checkin_at, checkout_at }) => checkin_at <= night && night < checkout_at,
      ).length
      if (taken >= row.available) return night
    }
  }
  return null
}

function max(one: string, other: string): string {
  return one > other ? one : other
}
