import { bookingSteps } from './booking-steps.ts'
import type { Profile } from './cases.ts'
import { feedSteps } from './feed-steps.ts'
import { inventorySteps } from './inventory-steps.ts'
import type { CourseStep } from './step.ts'
import { webhookSteps } from './webhook-steps.ts'

const stepsOf: Record<Profile, CourseStep[]> = {
  feed: feedSteps,
  inventory: inventorySteps,
  bookings: bookingSteps,
  webhooks: webhookSteps,
}

/** The steps of a certification, in their order. */
export function courseOf(chosen: readonly Profile[]): CourseStep[] {
  return chosen.flatMap((profile) => stepsOf[profile])
}
