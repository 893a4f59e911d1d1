import { isCalendarDate } from '../../client/src/index.ts'

/** Returns a date's UTC day as `YYYY-MM-DD`. */
export function toDay(date: Date): string {
  return date.toISOString().slice(0, 10)
}

const dayMilliseconds = 86_400_000

/** Returns the calendar date that is `days` days after `day`. */
export function addDays(day: string, days: number): string {
  return toDay(new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMilliseconds))
}

/** Writes a feed time out in full: a date without a time means `00:00:00`. */
export function versionOf(feedTime: string): string {
  return isCalendarDate(feedTime) ? `${feedTime} 00:00:00` : feedTime
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
