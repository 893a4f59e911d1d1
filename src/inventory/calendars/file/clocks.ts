import { LRUCache } from 'lru-cache'
import type { CalendarHead } from './event.ts'
import type { Moment } from './property.ts'
import { findZone, utc, wallClockOf, type Zone, zoneOfCountry } from './zones.ts'

/** The zones that files named last. A name that is no zone's is kept too, as the zone null. */
const known = new LRUCache<string, { zone: Zone | null }>({ max: 200 })

function zoneNamed(name: string): Zone | null {
  const key = name.slice(0, 64)
  const cached = known.get(key)
  if (cached) return cached.zone
  const zone = key === name ? findZone(name) : null
  known.set(key, { zone })
  return zone
}

/** The zones of the countries that were asked for last, by country and day. */
const ofCountries = new LRUCache<string, { zone: Zone | null }>({ max: 100 })

function zoneOf(country: string, today: string): Zone | null {
  const key = `${country.slice(0, 8)} ${today}`
  const cached = ofCountries.get(key)
  if (cached) return cached.zone
  const zone = zoneOfCountry(country, today)
  ofCountries.set(key, { zone })
  return zone
}

/**
 * What a wall clock shows at the moments that a file names in UTC (decisions §31). Times that name a zone, and those
 * that name none, already are what a wall clock shows.
 */
export class Clocks {
  /** For each `VTIMEZONE` of the file, by its name: how many seconds its clocks are ahead of UTC. */
  private readonly described: Map<string, Set<number>>
  private readonly fallback: Zone
  private readonly ofCalendar = new Map<CalendarHead, Zone>()

  constructor(
    heads: CalendarHead[],
    described: Map<string, Set<number>>,
    place: { today: string; country: string | null },
  ) {
    this.described = described
    const named = heads.map(({ zone }) => (zone === null ? null : zoneNamed(zone)))
    const ofFile = named.find((zone) => zone !== null)
    const ofCountry = place.country === null ? null : zoneOf(place.country, place.today)
    this.fallback = ofFile ?? ofCountry ?? utc
    for (const [index, head] of heads.entries()) {
      const zone = named[index]
      if (zone) this.ofCalendar.set(head, zone)
    }
  }

  /** Returns a moment as the wall clock shows it, in seconds since 1970. */
  wallClock({ form, seconds }: Moment, calendar: CalendarHead): number {
    return form === 'utc' ? wallClockOf(this.zoneOf(calendar), seconds) : seconds
  }

  /**
   * Returns what a clock of an event may show at a moment that stands for an occurrence of it. Of a zone that only the
   * file knows, summer and winter are both tried: an event that repeats at most once a day has one occurrence near it.
   */
  eventClock(moment: Moment, event: { start: Moment; calendar: CalendarHead }): number[] {
    const { zone: name } = event.start
    if (moment.form !== 'utc' || name === null) return [this.wallClock(moment, event.calendar)]
    const zone = zoneNamed(name)
    if (zone) return [wallClockOf(zone, moment.seconds)]
    const offsets = this.described.get(name)
    if (offsets) return [...offsets].map((offset) => moment.seconds + offset)
    return [this.wallClock(moment, event.calendar)]
  }

  private zoneOf(calendar: CalendarHead): Zone {
    return this.ofCalendar.get(calendar) ?? this.fallback
  }
}
