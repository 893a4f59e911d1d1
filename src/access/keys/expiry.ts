import { isCalendarDate, parseMoment } from '../../core/clock.ts'
import { invalidField } from '../../core/errors.ts'

/**
 * Parses an expiry time. A date alone means the end of that day in UTC, and a time without a zone is in UTC.
 *
 * @throws DomainError `validation` if the text is neither a date nor a time
 */
export function parseExpiry(text: string): Date {
  const moment = parseMoment(isCalendarDate(text) ? `${text}T23:59:59.999Z` : text)
  if (!moment) throw invalidField('expires', 'The expiry must be a date YYYY-MM-DD or an ISO time')
  return moment
}
