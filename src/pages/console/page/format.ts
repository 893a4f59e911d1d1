import type { Environment } from './api.ts'

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
  const { count, unit } = countSteps((now - Date.parse(at)) / 1000)
  return relative.format(-count, unit)
}

/** Describes how long it is until a timestamp. */
export function showWait(at: string, now = Date.now()): string {
  const { count, unit } = countSteps((Date.parse(at) - now) / 1000)
  return relative.format(count, unit)
}

function countSteps(given: number) {
  const seconds = Math.max(0, given)
  const step = steps.find(({ below }) => seconds < below) ?? steps[3]
  return { count: Math.floor(seconds / step.seconds), unit: step.unit }
}

/** Shows when something happened: its age on live data, its time in the sandbox, whose clock may be ahead. */
export function showMoment(at: string, environment: Environment): string {
  return environment === 'live' ? showAge(at) : showTime(at)
}

/** Converts a feed version, `Y-m-d H:i:s` in UTC, to a timestamp. */
export function versionToTimestamp(version: string): string {
  return `${version.replace(' ', 'T')}Z`
}
