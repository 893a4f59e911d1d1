/** The longest value that is looked at: a date as HTTP writes it has 29 characters. */
const maxLength = 40

/** Seconds that a `Retry-After` asks to wait, whether a number or a date as HTTP writes it; null for anything else. */
export function parseRetryAfter(value: string | null | undefined): number | null {
  const text = value?.trim() ?? ''
  if (text.length > maxLength) return null
  if (/^\d+$/.test(text)) return Number(text) || null
  const seconds = text.endsWith(' GMT') ? (Date.parse(text) - Date.now()) / 1000 : 0
  return seconds > 0 ? seconds : null
}
