import { setImmediate } from 'node:timers/promises'
import type { StatusWord } from '../../stays/bookings/status.ts'

/** The booking fields that a digest covers. Both the host and the partner know them. */
export interface DigestedBooking {
  booking_id: number
  status: StatusWord
  checkin_at: string
  checkout_at: string
}

/** The number of bookings and their hash (decisions §23). */
export interface Summary {
  count: number
  /** SHA-256, in lower-case hex, of one line per booking, sorted by id. */
  sha256: string
}

/** A summary of all bookings, and one for each month or day with check-ins, in chronological order. */
export interface Digest extends Summary {
  parts: ({ key: string } & Summary)[]
}

const keyLength = { month: 'YYYY-MM'.length, day: 'YYYY-MM-DD'.length } as const
/** Granularity of a digest's parts. */
export type Level = keyof typeof keyLength

/** Returns the month (`YYYY-MM`) or day (`YYYY-MM-DD`) of a booking's check-in. */
export function keyOf({ checkin_at }: Pick<DigestedBooking, 'checkin_at'>, level: Level): string {
  return checkin_at.slice(0, keyLength[level])
}

/** Number of bookings to hash before yielding to other requests. */
const batchSize = 2500

/**
 * Computes the digest of bookings.
 *
 * @param bookings bookings sorted by id, as an array or any other object that can be read in slices
 */
export async function digestOf(
  bookings: { length: number; slice(start: number, end: number): readonly DigestedBooking[] },
  level: Level,
): Promise<Digest> {
  const whole = new Sum()
  const parts = new Map<string, Sum>()
  for (let start = 0; start < bookings.length; start += batchSize) {
    const some = bookings.slice(start, start + batchSize)
    whole.add(some)
    for (const [key, ofPart] of Map.groupBy(some, (booking) => keyOf(booking, level))) {
      const part = parts.get(key) ?? new Sum()
      parts.set(key, part)
      part.add(ofPart)
    }
    await setImmediate()
  }
  const inOrder = [...parts].sort(([one], [other]) => (one < other ? -1 : 1))
  return { ...whole.end(), parts: inOrder.map(([key, part]) => ({ key, ...part.end() })) }
}

class Sum {
  private readonly hash = new Bun.CryptoHasher('sha256')
  private count = 0

  add(bookings: readonly DigestedBooking[]): void {
    this.count += bookings.length
    this.hash.update(bookings.map(toLine).join(''))
  }

  end(): Summary {
    return { count: this.count, sha256: this.hash.digest('hex') }
  }
}

function toLine({ booking_id, status, checkin_at, checkout_at }: DigestedBooking): string {
  return `${booking_id} ${status} ${checkin_at} ${checkout_at}\n`
}
