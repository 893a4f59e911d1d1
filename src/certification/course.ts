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
 * The start of a product that is not graded by how it starts. It may have nothing to ask the service before it is asked for
 * something itself, so the course goes on after the silence of a stop, too.
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

/** The steps of a certification, in their order: the first one always asks for the start of the product. */
export function courseOf(chosen: readonly Profile[]): CourseStep[] {
  const steps = chosen.flatMap((profile) => stepsOf[profile])
  const [first] = steps as [CourseStep]
  const asksForStart = typeof first.next !== 'function' && first.next.action === 'start'
  return asksForStart ? steps : [{ ...begin, profile: first.profile }, ...steps]
}
