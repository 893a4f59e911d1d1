import { digestBookings, type Schemas } from '../../../client/src/index.ts'
import type { PartnersBooking } from './bookings-file.ts'

/** A booking as the service stores it. */
type BookingHere = Schemas['DigestedBooking']
/** The fields of a booking that are compared. */
export type ComparedBooking = Pick<BookingHere, 'status' | 'checkin_at' | 'checkout_at'>

/** Requests the digest of all bookings, or of one month's or one day's bookings, from the service. */
export type FetchDigest = (part: {
  month?: string
  day?: string
  after?: string
}) => Promise<Schemas['BookingDigest']>

/** The differences between the service's bookings and a partner's. */
export interface Differences {
  /** The newest version at the time of the service's first response; null if there are no bookings. */
  version: string | null
  /** Number of bookings that the partner holds. */
  compared: number
  requests: number
  /** Bookings that only the service has. */
  missing: BookingHere[]
  /** Bookings that only the partner has. */
  extra: PartnersBooking[]
  different: { booking_id: number; here: BookingHere; there: PartnersBooking }[]
  /** Bookings that changed after the compared version and therefore do not count as differences. */
  newer: BookingHere[]
}

/**
 * Compares a partner's bookings with the service's. Requests only the months and days whose hashes differ (decisions
 * §23).
 *
 * @param since version after which a change does not count as a difference; by default the partner's newest version,
 *   or, if the partner keeps no versions, the newest version in the first response
 * @param onDay called with the number of days done and the number of days left
 */
export async function compare(
  ask: FetchDigest,
  held: readonly PartnersBooking[],
  since: string | undefined,
  onDay: (done: number, left: number) => void,
): Promise<Differences> {
  let requests = 0
  const counted: FetchDigest = (part) => {
    requests += 1
    return ask(part)
  }
  const bookings = held.toSorted((one, other) => one.booking_id - other.booking_id)
  const whole = await counted({})
  const mine = await digestBookings(bookings, 'month')
  const days: string[] = []
  if (whole.sha256 !== mine.sha256)
    for (const month of differing(whole.parts, mine.parts)) {
      const ofMonth = await digestBookings(
        bookings.filter(({ checkin_at }) => checkin_at.startsWith(month)),
        'day',
      )
      days.push(...differing((await counted({ month })).parts, ofMonth.parts))
    }
  const here: BookingHere[] = []
  for (const [done, day] of days.entries()) {
    onDay(done, days.length - done)
    here.push(...(await bookingsOf(day, counted)))
  }
  const differingDays = new Set(days)
  const there = bookings.filter(({ checkin_at }) => differingDays.has(checkin_at))
  const until = since ?? newestOf(held) ?? whole.version ?? ''
  const found = classifyBookings(here, there, until)
  return { version: whole.version, compared: held.length, requests, ...found }
}

/** Requests all bookings of a day. */
async function bookingsOf(day: string, ask: FetchDigest): Promise<BookingHere[]> {
  const found: BookingHere[] = []
  let rest: { after?: string } = {}
  while (true) {
    const { bookings = [], next_after = null } = await ask({ day, ...rest })
    found.push(...bookings)
    if (next_after === null) return found
    rest = { after: String(next_after) }
  }
}

type Parts = readonly { key: string; sha256: string }[]

/** Returns the keys of the parts that differ between the two sides, in order. */
function differing(here: Parts = [], there: Parts = []): string[] {
  const hashes = new Map(here.map(({ key, sha256 }) => [key, sha256]))
  const others = new Map(there.map(({ key, sha256 }) => [key, sha256]))
  const keys = new Set([...hashes.keys(), ...others.keys()])
  return [...keys].filter((key) => hashes.get(key) !== others.get(key)).sort()
}

function newestOf(held: readonly PartnersBooking[]): string | undefined {
  return held.reduce<string | undefined>(
    (newest, { version }) => (version && version > (newest ?? '') ? version : newest),
    undefined,
  )
}

/** Returns the differences between the two sides' bookings for the same days. */
function classifyBookings(here: BookingHere[], there: PartnersBooking[], until: string) {
  const others = new Map(there.map((booking) => [booking.booking_id, booking]))
  const missing: BookingHere[] = []
  const different: Differences['different'] = []
  const newer: BookingHere[] = []
  for (const booking of here.toSorted((one, other) => one.booking_id - other.booking_id)) {
    const { booking_id, version } = booking
    const other = others.get(booking_id)
    others.delete(booking_id)
    if (other && isSame(booking, other)) continue
    if (version > until) newer.push(booking)
    else if (other) different.push({ booking_id, here: booking, there: other })
    else missing.push(booking)
  }
  return { missing, extra: [...others.values()], different, newer }
}

function isSame(one: ComparedBooking, other: ComparedBooking): boolean {
  return (
    one.status === other.status &&
    one.checkin_at === other.checkin_at &&
    one.checkout_at === other.checkout_at
  )
}
