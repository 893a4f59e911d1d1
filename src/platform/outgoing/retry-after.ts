/** Maximum length of a `Retry-After` value that is parsed; an HTTP date has 29 characters. */
const maxLength = 40

/**
 * Returns the seconds to wait according to a `Retry-After` number or HTTP date; null if there is nothing to wait for.
 */
export function parseRetryAfter(value: string | null | undefined): number | null {
  const text = value?.trim() ?? ''
  if (text.length > maxLength) return null
  if (/^\d+$/.test(text)) return Number(text) || null
  const seconds = text.endsWith(' GMT') ? (Date.parse(text) - Date.now()) / 1000 : 0
  return seconds > 0 ? seconds : null
}
