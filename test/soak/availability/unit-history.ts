/**
 * Judges a history of one room type as its partner and guests saw it: bookings, cancellations, and pushes that say up to
 * which version they are informed. Every event has a place in the order of the host's booking versions, so the units
 * left on a night can be computed for any moment without asking the service.
 */

/** A booking as the database has it in the end. Versions are text, which sorts by time. */
export interface MadeBooking {
  id: number
  /** First night, and the night of departure, as numbers. */
  from: number
  to: number
  created: string
  /** Version of its cancellation; null if it is active. */
  cancelled: string | null
}

/** A push that was applied. */
export interface AppliedPush {
  /** Units of each night. */
  available: number[]
  as_of: string
  /** Version of the newest booking when the push was applied. */
  newest: string
}

/** A booking that was refused because a night had no unit left. */
export interface Refusal {
  from: number
  to: number
  /** The latest version that had been acknowledged when the request was sent. */
  after: string
  /** A version that was the latest one at a moment after the response had come. */
  until: string
}

/** Returns a description of every moment at which a night had more active bookings than units. */
export function soldTwice(bookings: MadeBooking[], units: number, nights: number): string[] {
  const found: string[] = []
  for (const version of versionsOf(bookings))
    for (let night = 0; night < nights; night += 1) {
      const active = bookings.filter(
        (one) => covers(one, night) && one.created <= version && isActive(one, version),
      )
      if (active.length > units) found.push(`night ${night} has ${active.length} bookings at ${version}`)
    }
  return found
}

/**
 * Returns a description of every refusal for which no night of the stay was full at any moment between its request and
 * its response, according to the push in force then.
 */
export function closedWithoutCause(
  refusals: Refusal[],
  bookings: MadeBooking[],
  pushes: AppliedPush[],
): string[] {
  const versions = versionsOf(bookings)
  const ordered = pushes.toSorted(
    (one, other) => compare(one.newest, other.newest) || compare(one.as_of, other.as_of),
  )
  return refusals
    .filter(({ from, to, after, until }) => {
      const moments = versions.filter((version) => after <= version && version <= until)
      return !moments.some((version) =>
        inForceAt(ordered, version).some((push) =>
          range(from, to).some((night) => leftOn(night, version, push, bookings) <= 0),
        ),
      )
    })
    .map(({ from, to, after, until }) => `nights ${from} to ${to} were refused between ${after} and ${until}`)
}

/** Returns the pushes that may have been in force while a version was the newest one. */
function inForceAt(ordered: AppliedPush[], version: string): AppliedPush[] {
  const before = ordered.findLast(({ newest }) => newest < version)
  const during = ordered.filter(({ newest }) => newest === version)
  return before ? [before, ...during] : during
}

function leftOn(night: number, version: string, push: AppliedPush, bookings: MadeBooking[]): number {
  const counted = bookings.filter(
    (one) =>
      covers(one, night) && one.created > push.as_of && one.created <= version && isActive(one, version),
  )
  return (push.available[night] ?? 0) - counted.length
}

function versionsOf(bookings: MadeBooking[]): string[] {
  const all = bookings.flatMap(({ created, cancelled }) =>
    cancelled === null ? [created] : [created, cancelled],
  )
  return all.sort()
}

function covers({ from, to }: MadeBooking, night: number): boolean {
  return from <= night && night < to
}

function isActive({ cancelled }: MadeBooking, version: string): boolean {
  return cancelled === null || cancelled > version
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}

function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
