import { bookingSteps } from './booking-steps.ts'
import type { Profile } from './cases.ts'
import { feedSteps } from './feed-steps.ts'
import { inventorySteps } from './inventory-steps.ts'
import { start } from './next.ts'
import type { CourseStep } from './step.ts'
import { webhookSteps } from './webhook-steps.ts'

const stepsOf: Record<Profile, CourseStep[]> = {
  feed: feedSteps,
  inventory: inventorySteps,
  bookings: bookingSteps,
  webhooks: webhookSteps,
}

/**
 * The first step for a product whose start is not graded. The product may send no request until it is asked for
 * something, so the course also continues after `bounds.silence`.
 */
const begin: Omit<CourseStep, 'profile'> = {
  name: 'begin',
  cases: [],
  next: start,
  look: async ({ records, now, beganAt, bounds }) => ({
    isDone: records.length > 0 || now.getTime() - beganAt.getTime() > bounds.silence,
  }),
  late: () => '',
}

/** Returns a certification's steps in order. The first one always asks for the product to be started. */
export function courseOf(chosen: readonly Profile[]): CourseStep[] {
  const steps = chosen.flatMap((profile) => stepsOf[profile])
  const [first] = steps as [CourseStep]
  const asksForStart = typeof first.next !== 'function' && first.next.action === 'start'
  return asksForStart ? steps : [{ ...begin, profile: first.profile }, ...steps]
}
