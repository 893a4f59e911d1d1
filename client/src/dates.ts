/** Returns true for a real calendar date written `YYYY-MM-DD`, and false for a date such as `2026-02-30`. */
export function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const parsed = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().slice(0, 10) === text
}

const version = /^(\d{4}-\d{2}-\d{2}) ([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/

/** Returns true for the version of a change, which is a real date and time written `YYYY-MM-DD HH:MM:SS`. */
export function isVersion(text: string): boolean {
  return isCalendarDate(version.exec(text)?.[1] ?? '')
}
