import { daysBetween } from '../../core/clock.ts'
import type { Problem } from '../../core/errors.ts'

const maxStayNights = 1095

/** Why two dates are not a valid stay (decisions §6): at most one problem, at `checkout_at`. */
export function stayProblems(checkinAt: string, checkoutAt: string): Problem[] {
  const nights = daysBetween(checkinAt, checkoutAt)
  const path = 'checkout_at'
  if (nights < 1) return [{ path, code: 'invalid', message: '"checkout_at" must be after "checkin_at"' }]
  if (nights <= maxStayNights) return []
  return [{ path, code: 'max', message: `A stay must be at most ${maxStayNights} nights long` }]
}
