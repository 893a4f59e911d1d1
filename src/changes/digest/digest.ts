import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { StatusWord } from '../../stays/bookings/status.ts'

/** What the digest says of a booking; each side has it. */
export interface DigestedBooking {
  booking_id: number
  status: StatusWord
  checkin_at: string
  checkout_at: string
}

/** How many bookings there are, and the hash of what they are (decisions §23). */
export interface Summary {
  count: number
  /** SHA-256 in lower-case hex of a line for each booking, by id. */
  sha256: string
}

/** A summary with that of each month or day of `checkin_at` in which there are bookings, in order. */
export interface Digest extends Summary {
  parts: ({ key: string } & Summary)[]
}

const keyLength = { month: 'YYYY-MM'.length, day: 'YYYY-MM-DD'.length } as const
/** How far apart the parts of a digest are. */
export type Level = keyof typeof keyLength

/** The month or day that a stay begins in. */
export function keyOf({ checkin_at }: Pick<DigestedBooking, 'checkin_at'>, level: Level): string {
  return checkin_at.slice(0, keyLength[level])
}

/** The order of a digest. */
export function byId(one: DigestedBooking, other: DigestedBooking): number {
  return one.booking_id - other.booking_id
}

/** Bookings summed up at once, so that other requests are served in between. */
const atOnce = 2500

/** @param bookings by id */
export async function digestOf(bookings: readonly DigestedBooking[], level: Level): Promise<Digest> {
  const whole = new Sum()
  const parts = new Map<string, Sum>()
  for (let start = 0; start < bookings.length; start += atOnce) {
    const some = bookings.slice(start, start + atOnce)
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
  private readonly hash = createHash('sha256')
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
