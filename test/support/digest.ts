import { createHash } from 'node:crypto'

/** A booking as a partner stores it. */
export interface HeldByPartner {
  booking_id: number
  status: string
  checkin_at: string
  checkout_at: string
}

/** Returns the hash of bookings, computed as the guide describes, without the service's code. */
export function hashOf(bookings: HeldByPartner[]): string {
  const hash = createHash('sha256')
  for (const { booking_id, status, checkin_at, checkout_at } of bookings.toSorted(
    (one, other) => one.booking_id - other.booking_id,
  ))
    hash.update(`${booking_id} ${status} ${checkin_at} ${checkout_at}\n`)
  return hash.digest('hex')
}

const summaryOf = (bookings: HeldByPartner[]) => ({ count: bookings.length, sha256: hashOf(bookings) })

/** Returns the digest of bookings. If `length` is given, it has a part for each `checkin_at` prefix of that length. */
export function digestOf(bookings: HeldByPartner[], length?: 7 | 10) {
  if (length === undefined) return summaryOf(bookings)
  const parts = Map.groupBy(bookings, ({ checkin_at }) => checkin_at.slice(0, length))
  const keys = [...parts.keys()].sort()
  return {
    ...summaryOf(bookings),
    parts: keys.map((key) => ({ key, ...summaryOf(parts.get(key) ?? []) })),
  }
}
