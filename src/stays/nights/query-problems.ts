import { daysBetween } from '../../core/clock.ts'
import type { Problem } from '../../core/errors.ts'

/** The most nights of one request (decisions §20). */
const maxNights = 366

/** Checks the days of a query for nights, both included. */
export function nightsProblems(start: string, end: string): Problem[] {
  const path = 'end_date'
  if (end < start) return [{ path, code: 'invalid', message: '"end_date" must not be before "start_date"' }]
  if (daysBetween(start, end) < maxNights) return []
  return [{ path, code: 'max', message: `"end_date" must be at most ${maxNights} nights from "start_date"` }]
}
