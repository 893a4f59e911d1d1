import { byId, type DigestedBooking, digestOf, keyOf, type Level } from '../../src/changes/digest/digest.ts'
import type { PartnersBooking } from './bookings-file.ts'

/** A booking as the service stores it. */
export interface BookingHere extends DigestedBooking {
  version: string
}

/** Requests digests from the service and counts the requests. */
export interface DigestSource {
  requests: number
  whole(): Promise<HashedParts>
  month(month: string): Promise<HashedParts>
  /** Returns all bookings of a day. */
  day(day: string): Promise<BookingHere[]>
}

/** The hash of a set of bookings, and the hashes of its parts (months or days) with their keys. */
export interface HashedParts {
  version: string | null
  sha256: string
  parts: { key: string; sha256: string }[]
}

/** The differences between the service's bookings and a partner's. */
export interface Differences {
  /** The newest version at the time of the service's first answer; null if there are no bookings. */
  version: string | null
  /** Number of bookings that the partner holds. */
  compared: number
  requests: number
  /** Bookings that only the service has. */
  missing: BookingHere[]
  /** Bookings that only the partner has. */
  extra: PartnersBooking[]
  different: { booking_id: number; here: BookingHere; there: PartnersBooking }[]
  /** Bookings that changed after the compared version and so do not count as differences. */
  newer: BookingHere[]
}

/**
 * Compares a partner's bookings with the service's. Requests only the months and days whose hashes differ (decisions
 * §23).
 *
 * @param since version after which a change does not count as a difference; by default the partner's newest version, or
 *   that of the first answer if the partner keeps no versions
 * @param onDay receives the number of days done, and the number of days left
 */
export async function compare(
  source: DigestSource,
  held: readonly PartnersBooking[],
  since: string | undefined,
  onDay: (done: number, left: number) => void,
): Promise<Differences> {
  const bookings = held.toSorted(byId)
  const whole = await source.whole()
  const mine = await digestOf(bookings, 'month')
  const days: string[] = []
  if (whole.sha256 !== mine.sha256)
    for (const month of differing(whole.parts, mine.parts)) {
      const ofMonth = await digestOf(within(bookings, month, 'month'), 'day')
      days.push(...differing((await source.month(month)).parts, ofMonth.parts))
    }
  const here: BookingHere[] = []
  for (const [done, day] of days.entries()) {
    onDay(done, days.length - done)
    here.push(...(await source.day(day)))
  }
  const differingDays = new Set(days)
  const there = bookings.filter((booking) => differingDays.has(keyOf(booking, 'day')))
  const until = since ?? newestOf(held) ?? whole.version ?? ''
  const found = tell(here, there, until)
  return { version: whole.version, compared: held.length, requests: source.requests, ...found }
}

type Parts = HashedParts['parts']

/** Returns the keys of the parts that differ between the two sides, in order. */
function differing(here: Parts, there: Parts): string[] {
  const hashes = new Map(here.map(({ key, sha256 }) => [key, sha256]))
  const others = new Map(there.map(({ key, sha256 }) => [key, sha256]))
  const keys = new Set([...hashes.keys(), ...others.keys()])
  return [...keys].filter((key) => hashes.get(key) !== others.get(key)).sort()
}

function within(bookings: readonly PartnersBooking[], key: string, level: Level): PartnersBooking[] {
  return bookings.filter((booking) => keyOf(booking, level) === key)
}

function newestOf(held: readonly PartnersBooking[]): string | undefined {
  return held.reduce<string | undefined>(
    (newest, { version }) => (version && version > (newest ?? '') ? version : newest),
    undefined,
  )
}

/** Returns the differences between the two sides' bookings for the same days. */
function tell(here: BookingHere[], there: PartnersBooking[], until: string) {
  const others = new Map(there.map((booking) => [booking.booking_id, booking]))
  const found: Pick<Differences, 'missing' | 'extra' | 'different' | 'newer'> = {
    ...{ missing: [], extra: [], different: [], newer: [] },
  }
  for (const booking of here.toSorted(byId)) {
    const { booking_id, version } = booking
    const other = others.get(booking_id)
    others.delete(booking_id)
    if (other && isSame(booking, other)) continue
    if (version > until) found.newer.push(booking)
    else if (other) found.different.push({ booking_id, here: booking, there: other })
    else found.missing.push(booking)
  }
  return { ...found, extra: [...others.values()] }
}

function isSame(one: DigestedBooking, other: DigestedBooking): boolean {
  return (
    one.status === other.status &&
    one.checkin_at === other.checkin_at &&
    one.checkout_at === other.checkout_at
  )
}
