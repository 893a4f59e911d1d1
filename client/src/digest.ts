import type { Schemas } from './call.ts'

/** The fields of a booking that a digest covers. Both the host and the partner know them. */
export type DigestedBooking = Pick<
  Schemas['DigestedBooking'],
  'booking_id' | 'status' | 'checkin_at' | 'checkout_at'
>

/** The number of bookings, and a hash of them. */
export interface DigestSummary {
  count: number
  /** SHA-256, in lower-case hex, of one line per booking, sorted by id. */
  sha256: string
}

/** A summary of all bookings, and one for each month or day with check-ins, in chronological order. */
export interface OwnDigest extends DigestSummary {
  parts: ({ key: string } & DigestSummary)[]
}

const keyLength = { month: 'YYYY-MM'.length, day: 'YYYY-MM-DD'.length } as const

/**
 * Computes the digest of your own bookings, to compare it with `bookings.digest()`. Equal hashes mean equal bookings;
 * otherwise, the parts say in which months or days they differ.
 */
export async function digestBookings(
  bookings: readonly DigestedBooking[],
  level: keyof typeof keyLength,
): Promise<OwnDigest> {
  const sorted = [...bookings].sort((one, other) => one.booking_id - other.booking_id)
  const byKey = new Map<string, DigestedBooking[]>()
  for (const booking of sorted) {
    const key = booking.checkin_at.slice(0, keyLength[level])
    const ofKey = byKey.get(key) ?? []
    byKey.set(key, ofKey)
    ofKey.push(booking)
  }
  const parts: OwnDigest['parts'] = []
  for (const key of [...byKey.keys()].sort()) parts.push({ key, ...(await summaryOf(byKey.get(key) ?? [])) })
  return { ...(await summaryOf(sorted)), parts }
}

async function summaryOf(bookings: readonly DigestedBooking[]): Promise<DigestSummary> {
  const lines = bookings.map(toLine).join('')
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(lines)))
  const sha256 = Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return { count: bookings.length, sha256 }
}

function toLine({ booking_id, status, checkin_at, checkout_at }: DigestedBooking): string {
  return `${booking_id} ${status} ${checkin_at} ${checkout_at}\n`
}
