import { bookingSteps } from './booking-steps.ts'
import type { Profile } from './cases.ts'
import { feedSteps } from './feed-steps.ts'
import { hintSteps } from './hint-steps.ts'
import { inventorySteps } from './inventory-steps.ts'
import { askToStart, type CourseStep } from './step.ts'

/** Returns a certification's steps in order. The first step always asks the partner to start the product. */
export function courseOf(chosen: readonly Profile[]): CourseStep[] {
  const steps = chosen.flatMap((profile) => stepsOf[profile])
  return steps[0]?.next === askToStart ? steps : [startStep, ...steps]
}

const stepsOf: Record<Profile, CourseStep[]> = {
  feed: feedSteps,
  inventory: inventorySteps,
  bookings: bookingSteps,
  webhooks: hintSteps,
}

/**
 * The first step of a course whose first profile does not grade the product's start. The product may send no request
 * until it is asked to take an action, so the step also completes after `bounds.silence`.
 */
export const startStep: CourseStep = {
  name: 'begin',
  cases: [],
  next: askToStart,
  check: async ({ records, now, certification: { step }, bounds }) => ({
    isDone: records.length > 0 || now.getTime() - step.began_at.getTime() > bounds.silence,
  }),
}
