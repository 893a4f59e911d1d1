import { daySeconds } from './days.ts'

/** How many seconds a zone's clocks are ahead of UTC, from a moment on. */
interface Transition {
  fromSeconds: number
  offsetSeconds: number
}

/** A zone of the IANA database. */
export interface Zone {
  /** Ascending; the first one also counts before its time. */
  transitions: Transition[]
}

export const utc: Zone = { transitions: [{ fromSeconds: 0, offsetSeconds: 0 }] }

/** Rules that are made for ever are not made for longer. */
const firstYear = '1970-01-01T00:00:00Z'
const lastYear = '2100-01-01T00:00:00Z'

/** Returns a zone by its name in the IANA database, in any case, or null if there is none. */
export function findZone(name: string): Zone | null {
  try {
    return { transitions: transitionsOf(name, firstYear, lastYear) }
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

function transitionsOf(name: string, from: string, until: string): Transition[] {
  const last = Temporal.Instant.from(until).epochMilliseconds
  const transitions: Transition[] = []
  let at: Temporal.ZonedDateTime | null = Temporal.Instant.from(from).toZonedDateTimeISO(name)
  while (at && at.epochMilliseconds < last) {
    transitions.push({
      fromSeconds: at.epochMilliseconds / 1000,
      offsetSeconds: at.offsetNanoseconds / 1e9,
    })
    at = at.getTimeZoneTransition('next')
  }
  return transitions
}

/** Returns what the zone's clocks show at a moment, as seconds since 1970 on these clocks. */
export function wallClockOf({ transitions }: Zone, seconds: number): number {
  let low = 0
  let high = transitions.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const begins = transitions[middle]?.fromSeconds ?? 0
    if (begins <= seconds) low = middle
    else high = middle - 1
  }
  return seconds + (transitions[low]?.offsetSeconds ?? 0)
}

/**
 * Returns the zone of a country, if all of the country's zones agree from a day on, otherwise null.
 *
 * @param country its ISO 3166-1 code
 */
export function zoneOfCountry(country: string, today: string): Zone | null {
  if (!/^[a-z]{2}$/i.test(country)) return null
  const names = new Intl.Locale('und', { region: country }).getTimeZones?.() ?? []
  const [first, ...others] = names
  if (first === undefined) return null
  const clocks = clocksFrom(first, today)
  const doAgree = others.every((other) => clocksFrom(other, today) === clocks)
  return doAgree ? findZone(first) : null
}

/** Returns what a zone's clocks do from a day on, to compare it. */
function clocksFrom(name: string, today: string): string {
  const from = Temporal.Instant.from(`${today}T00:00:00Z`)
  // The night before today may begin up to a day earlier in UTC.
  const since = from.subtract({ seconds: daySeconds })
  return JSON.stringify(transitionsOf(name, since.toString(), lastYear))
}
