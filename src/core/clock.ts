/**
 * Returns the current time. The clock is passed in as a dependency so that tests can move it.
 *
 * @param ownerId id of the host or sandbox whose data is being timestamped or checked for age. A sandbox's clock may be
 * ahead (decisions §22). If omitted, the clock returns the service's own time.
 */
export type Clock = (ownerId?: number) => Date

export const systemClock: Clock = () => new Date()

/** Formats a timestamp as the contract specifies: `2026-11-20T12:00:05.000000Z`. */
export function toTimestamp(date: Date): string {
  return `${date.toISOString().slice(0, -1)}000Z`
}

/** Like {@link toTimestamp}, but returns null for null or undefined. */
export function toTimestampOrNull(date: Date | null | undefined): string | null {
  return date ? toTimestamp(date) : null
}

/** Returns a date's UTC day as `YYYY-MM-DD`. */
export function toDay(date: Date): string {
  return date.toISOString().slice(0, 10)
}

/** Returns true for a real calendar date written `YYYY-MM-DD`, and false for a date such as `2026-02-30`. */
export function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/.test(text)) return false
  // Every month has at least 28 days. A large write has thousands of dates, so skipping the check below pays off.
  if (text.slice(8) <= '28') return true
  const parsed = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(parsed.getTime()) && toDay(parsed) === text
}

const version = /^(\d{4}-\d{2}-\d{2}) ([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/

/**
 * Returns true for a real date written `Y-m-d` or `Y-m-d H:i:s`. The ISO form with `T` is not accepted (decisions §9).
 */
export function isFeedTime(text: string): boolean {
  return isCalendarDate(version.exec(text)?.[1] ?? text)
}

/** Returns true for a real date and time written `Y-m-d H:i:s`. */
export function isVersion(text: string): boolean {
  return isCalendarDate(version.exec(text)?.[1] ?? '')
}

const moment =
  /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:\d{2})?| (\d{2}:\d{2}:\d{2}))?$/

/**
 * Parses a time in ISO 8601 or written `Y-m-d H:i:s`, in UTC unless the text names a time zone. A date without a time
 * means 00:00. Returns null for any other text.
 */
export function parseMoment(text: string): Date | null {
  const [, day = '', isoTime, zone = 'Z', time = '00:00'] = moment.exec(text) ?? []
  const parsed = new Date(`${day}T${isoTime ?? time}${zone}`)
  return isCalendarDate(day) && !Number.isNaN(parsed.getTime()) ? parsed : null
}

const dayMilliseconds = 86_400_000

/** Returns the number of days between two calendar dates, such as the nights from `checkin_at` to `checkout_at`. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / dayMilliseconds)
}

/** Returns the calendar date that is `days` days after `day`. */
export function addDays(day: string, days: number): string {
  return toDay(new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMilliseconds))
}

/** A process whose clock differs from the database's by more than this refuses writes (decisions §9). */
export const maxSkewSeconds = 60

/** Describes a clock difference in words, such as `12.3 s behind the service`. */
export function describeSkew(skewSeconds: number, other: string): string {
  return `${Math.abs(skewSeconds).toFixed(1)} s ${skewSeconds < 0 ? 'behind' : 'ahead of'} ${other}`
}
