import { setImmediate } from 'node:timers/promises'
import { toStatusWord } from '../../stays/bookings/status.ts'
import type { HeldBooking } from './held.ts'

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

/** Bookings summed up at once, so that other requests are served in between. */
const atOnce = 2500

/** @param bookings by id */
export async function digestOf(
  bookings: readonly HeldBooking[],
  level: keyof typeof keyLength,
): Promise<Digest> {
  const whole = new Sum()
  const parts = new Map<string, Sum>()
  for (let start = 0; start < bookings.length; start += atOnce) {
    const lines = bookings.slice(start, start + atOnce).map(toLine)
    whole.add(lines)
    for (const [key, ofPart] of Map.groupBy(lines, ({ day }) => day.slice(0, keyLength[level]))) {
      const part = parts.get(key) ?? new Sum()
      parts.set(key, part)
      part.add(ofPart)
    }
    await setImmediate()
  }
  const keys = [...parts.keys()].sort()
  return { ...whole.end(), parts: keys.map((key) => ({ key, ...(parts.get(key) as Sum).end() })) }
}

interface Line {
  text: string
  day: string
}

function toLine({ id, status, checkin_at, checkout_at }: HeldBooking): Line {
  return { text: `${id} ${toStatusWord(status)} ${checkin_at} ${checkout_at}\n`, day: checkin_at }
}

class Sum {
  private readonly hash = new Bun.CryptoHasher('sha256')
  private count = 0

  add(lines: Line[]): void {
    this.count += lines.length
    this.hash.update(lines.map(({ text }) => text).join(''))
  }

  end(): Summary {
    return { count: this.count, sha256: this.hash.digest('hex') }
  }
}
