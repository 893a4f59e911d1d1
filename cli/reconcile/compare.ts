import { byId, type DigestedBooking, digestOf, keyOf, type Level } from '../../src/changes/digest/digest.ts'
import type { PartnersBooking } from './bookings-file.ts'

/** A booking as the service has it. */
export interface BookingHere extends DigestedBooking {
  version: string
}

/** Asks the service for a digest, and counts the requests. */
export interface DigestSource {
  requests: number
  whole(): Promise<HashedParts>
  month(month: string): Promise<HashedParts>
  /** All bookings of a day. */
  day(day: string): Promise<BookingHere[]>
}

/** Hashes by key. */
export interface HashedParts {
  version: string | null
  sha256: string
  parts: { key: string; sha256: string }[]
}

/** What differs between the service and a partner. */
export interface Differences {
  /** The newest version when the first answer was made. */
  version: string | null
  /** How many bookings the partner holds. */
  compared: number
  requests: number
  /** Here and not there. */
  missing: BookingHere[]
  /** There and not here. */
  extra: PartnersBooking[]
  different: { booking_id: number; here: BookingHere; there: PartnersBooking }[]
  /** Newer than what is compared, and so no difference. */
  newer: BookingHere[]
}

/**
 * Compares the bookings of a partner with those of the service. Asks for months and days only where hashes differ
 * (decisions §23).
 *
 * @param since what is newer is no difference; else the newest version of the partner, else that of the first answer
 * @param onDay told how many days are done, and how many are known to be left
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

/** The keys of parts that are not the same on both sides, in order. */
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

/** What differs between the bookings of the same days. */
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
