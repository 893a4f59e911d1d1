import type { SandboxContext } from '../sandbox/context.ts'
import { courseOf } from './advance.ts'
import type { Certification } from './model.ts'
import type { Progress } from './schema.ts'
import { findLastRecord } from './store.ts'

/** Maximum number of missing bookings that are named. */
const namedBookings = 5

/**
 * Returns what a running certification has last seen of the product and which bookings it waits for, or null if it does
 * not run yet or no longer. Nothing is stored: the answer is derived from the recorded requests and deliveries.
 */
export async function progressOf(
  app: SandboxContext,
  certification: Certification,
): Promise<Progress | null> {
  const { _id, status, scope: hostId, step, profiles } = certification
  if (status !== 'running' || hostId === null || !step) return null
  const [last, missing = []] = await Promise.all([
    findLastRecord(app.db, _id),
    courseOf(profiles)[step.index]?.missing?.({ app, hostId, certification, step }),
  ])
  return { last, missing: missing.length, bookings: missing.slice(0, namedBookings).map(({ id }) => id) }
}
