import { toVersion } from '../../host-clock/format.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { BookingCache, type HostBookings } from './booking-cache.ts'
import { type Digest, digestOf } from './digest.ts'
import type { CachedBooking } from './packed.ts'
import type { DigestQuery, DigestView } from './schema.ts'

const maxBookings = 10_000

/** Answers digest queries about hosts' bookings (decisions §23). */
export class Digests {
  private readonly cache: BookingCache
  /** Each host's digest by month. Pollers repeat this query, so the digest is cached until a booking changes. */
  private readonly wholes = new WeakMap<HostBookings, Promise<Digest>>()

  /** @param patienceMilliseconds maximum time that a request waits for another request for the same host to finish */
  constructor(db: Db, patienceMilliseconds: number) {
    this.cache = new BookingCache(db, patienceMilliseconds)
  }

  /** Returns the requested digest, computed from a consistent snapshot of the host's bookings. */
  async answer(ownerId: number, { listing_id, month, day, after }: DigestQuery): Promise<DigestView> {
    const now = await this.cache.read(ownerId)
    const version = now.version ? toVersion(now.version) : null
    const start = day ?? month
    if (listing_id === undefined && start === undefined) return { version, ...(await this.wholeOf(now)) }
    const wanted = now.bookings.filter(
      (booking) =>
        (listing_id === undefined || booking.listing_id === listing_id) &&
        (start === undefined || booking.checkin_at.startsWith(start)),
    )
    const { parts, ...summary } = await digestOf(wanted, month === undefined ? 'month' : 'day')
    if (day === undefined) return { version, ...summary, parts }
    return { version, ...summary, ...pageOf(wanted, after ?? 0) }
  }

  private wholeOf(now: HostBookings): Promise<Digest> {
    const whole = this.wholes.get(now) ?? digestOf(now.bookings, 'month')
    this.wholes.set(now, whole)
    return whole
  }
}

function pageOf(bookings: readonly CachedBooking[], after: number) {
  const left = bookings.filter(({ booking_id }) => booking_id > after)
  const page = left.slice(0, maxBookings)
  return {
    bookings: page.map(({ listing_id: _, version, ...booking }) => ({
      ...booking,
      version: toVersion(new Date(version)),
    })),
    next_after: left.length > page.length ? (page.at(-1)?.booking_id ?? null) : null,
  }
}
