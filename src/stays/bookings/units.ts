import { addDays, daysBetween } from '../../core/clock.ts'
import type { AvailabilityRow } from '../../inventory/availability/overlay.ts'

/** The part of a booking that occupies a unit. */
export interface Stay {
  checkin_at: string
  checkout_at: string
  created_sequence: number
}

/** Nights from one to another, both included. */
export interface Nights {
  from: string
  to: string
}

/** The nights of a stay. */
export function nightsOf({ checkin_at, checkout_at }: Pick<Stay, 'checkin_at' | 'checkout_at'>): Nights {
  return { from: checkin_at, to: addDays(checkout_at, -1) }
}

/** The units of a room type on one night; null where no row covers it, which leaves it open. */
export interface UnitNight {
  date: string
  available: number | null
  /** Active stays that count against `available`. */
  booked: number
  left: number | null
}

/**
 * The units of a room type, night by night (decisions §6): a night has `available` units of the row that covers it,
 * minus the active stays that cover the night and were made after that row was written. A night that no row covers is
 * open; the day of `checkout_at` is not a night of a stay.
 *
 * @param rows in force, without overlap
 * @param active may leave out stays that were made before every row, where open nights are of no interest
 */
export function unitsByNight({ from, to }: Nights, rows: AvailabilityRow[], active: Stay[]): UnitNight[] {
  const units = Array.from({ length: daysBetween(from, to) + 1 }, (_, index) => ({
    night: { date: addDays(from, index), available: null, booked: 0, left: null } as UnitNight,
    writtenAt: Number.NEGATIVE_INFINITY,
  }))
  const within = (first: string, last: string) =>
    units.slice(Math.max(0, daysBetween(from, first)), Math.max(0, daysBetween(from, last) + 1))
  for (const { start_date, end_date, available, sequence } of rows)
    for (const unit of within(start_date, end_date)) {
      unit.night.available = available
      unit.writtenAt = sequence
    }
  for (const { checkin_at, checkout_at, created_sequence } of active)
    for (const { night, writtenAt } of within(checkin_at, addDays(checkout_at, -1)))
      if (created_sequence > writtenAt) night.booked += 1
  return units.map(({ night }) => ({
    ...night,
    left: night.available === null ? null : night.available - night.booked,
  }))
}

/** The first night of a stay on which no unit is left, or null, by {@link unitsByNight}. */
export function firstFullNight(nights: Nights, rows: AvailabilityRow[], active: Stay[]): string | null {
  return unitsByNight(nights, rows, active).find(({ left }) => left !== null && left <= 0)?.date ?? null
}
