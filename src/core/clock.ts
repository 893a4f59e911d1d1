/**
 * Returns the current time; a dependency, so that tests can move it.
 *
 * @param hostId whose data is dated, or asked for its age: a sandbox's clock may be ahead (decisions §22). Without one it is
 * the time that processes need for their own work.
 */
export type Clock = (hostId?: number) => Date

export const systemClock: Clock = () => new Date()

/** A timestamp as the contract writes it: `2026-11-20T12:00:05.000000Z`. */
export function toTimestamp(date: Date): string {
  return `${date.toISOString().slice(0, -1)}000Z`
}

/** {@link toTimestamp}, with null kept. */
export function toTimestampOrNull(date: Date | null | undefined): string | null {
  return date ? toTimestamp(date) : null
}

/** The UTC day of a moment: `YYYY-MM-DD`. */
export function toDay(date: Date): string {
  return date.toISOString().slice(0, 10)
}

/** True for a real calendar date written `YYYY-MM-DD`; `2026-02-30` is not one. */
export function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const parsed = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(parsed.getTime()) && toDay(parsed) === text
}

const moment =
  /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:\d{2})?| (\d{2}:\d{2}:\d{2}))?$/

/** A moment in ISO 8601 or written `Y-m-d H:i:s`, in UTC unless it names a zone; a date alone is its beginning. */
export function parseMoment(text: string): Date | null {
  const [, day = '', isoTime, zone = 'Z', time = '00:00'] = moment.exec(text) ?? []
  const parsed = new Date(`${day}T${isoTime ?? time}${zone}`)
  return isCalendarDate(day) && !Number.isNaN(parsed.getTime()) ? parsed : null
}

const dayMilliseconds = 86_400_000

/** Days from one calendar date to another; the nights of a stay from `checkin_at` to `checkout_at`. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / dayMilliseconds)
}

/** The calendar date `days` after another one. */
export function addDays(day: string, days: number): string {
  return toDay(new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMilliseconds))
}

/** A process whose clock differs from the database's by more than this writes nothing (decisions §9). */
export const maxSkewSeconds = 60
