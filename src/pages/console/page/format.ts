const dateTime = new Intl.DateTimeFormat('en-GB', {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
} as const)
/** Name of the reader's time zone, such as `Europe/Madrid`. */
export const timeZone = dateTime.resolvedOptions().timeZone
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const numbers = new Intl.NumberFormat('en')

/** Formats a timestamp in the reader's time zone, with the zone's name. */
export function showTime(at: string): string {
  return dateTime.format(new Date(at))
}

/** Formats a count with thousands separators. */
export function showCount(count: number): string {
  return numbers.format(count)
}

const steps = [
  { unit: 'second', seconds: 1, below: 60 },
  { unit: 'minute', seconds: 60, below: 3600 },
  { unit: 'hour', seconds: 3600, below: 172_800 },
  { unit: 'day', seconds: 86_400, below: Number.POSITIVE_INFINITY },
] as const

/** Describes how long ago a timestamp was. */
export function showAge(at: string, now = Date.now()): string {
  const seconds = Math.max(0, (now - Date.parse(at)) / 1000)
  const step = steps.find(({ below }) => seconds < below) ?? steps[3]
  return relative.format(-Math.floor(seconds / step.seconds), step.unit)
}

/** Converts a feed version, `Y-m-d H:i:s` in UTC, to a timestamp. */
export function versionToTimestamp(version: string): string {
  return `${version.replace(' ', 'T')}Z`
}
