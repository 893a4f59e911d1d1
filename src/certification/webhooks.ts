import { findBookingHints } from '../changes/webhooks/deliveries-store.ts'
import type { WebhookDelivery } from '../changes/webhooks/model.ts'
import { listWebhooks } from '../changes/webhooks/store.ts'
import type { FaultName } from '../sandbox/faults/rule.ts'
import type { CaseName } from './cases.ts'
import { arrivals } from './deliveries.ts'
import { play } from './play.ts'
import { type CourseStep, done, failed, passed, type Result, type Run, skipped, wait } from './step.ts'

const playChange = (run: Run) => play(run, 'guest-books', { count: 1 })

/** The steps for a product that receives hints. */
export const webhookSteps: CourseStep[] = [
  {
    name: 'endpoint',
    cases: [],
    next: {
      action: 'start',
      text: 'Register the endpoint of the product in the sandbox (`POST /sandbox/webhooks`), and keep the product running',
    },
    async look({ app, hostId }) {
      const webhooks = await listWebhooks(app.db, hostId)
      return {
        isDone: webhooks.some(({ enabled, events }) => enabled && events.includes('booking.changed')),
      }
    },
  },
  {
    name: 'hint',
    cases: ['webhooks.quick', 'webhooks.followed'],
    next: wait,
    play: playChange,
    async look(run) {
      const [first] = await triedHints(run)
      if (!first) return {}
      const { response_status, milliseconds, error } = first
      if (!isTaken(response_status) || (milliseconds ?? 0) > run.bounds.quick) {
        const told =
          response_status === null
            ? `not answered (${error})`
            : `answered ${response_status} after ${milliseconds} ms`
        return done({
          'webhooks.quick': failed(`The hint was ${told}: answer 2xx at once, and read afterwards`),
          'webhooks.followed': skipped('It cannot be told while the hint was not taken'),
        })
      }
      if ((await arrivals(run)).isComplete)
        return done({ 'webhooks.quick': passed, 'webhooks.followed': passed })
      return { results: { 'webhooks.quick': passed }, progress: 1 }
    },
    timeout: ({ followed }) => followed,
    late: () => 'Within a minute of the hint neither the feed nor the booking was read',
  },
  withFault('webhooks.forged', 'hint_forged', ({ extra_status }) =>
    gradeRefusal('with a wrong signature', extra_status),
  ),
  withFault('webhooks.old', 'hint_old', ({ extra_status }) =>
    gradeRefusal('of ten minutes ago', extra_status),
  ),
  withFault('webhooks.doubled', 'hint_twice', ({ response_status, extra_status }) =>
    isTaken(response_status) && isTaken(extra_status)
      ? passed
      : failed(
          `The same hint twice was answered ${response_status} and ${extra_status}: take both, it is a hint and no order`,
        ),
  ),
  {
    name: 'unheard',
    cases: ['webhooks.lost'],
    next: wait,
    hintFault: 'hint_lost',
    play: playChange,
    look: async (run) => ((await arrivals(run)).isComplete ? done({ 'webhooks.lost': passed }) : {}),
    timeout: ({ missedHintWindow }) => missedHintWindow,
    late: () => 'A change whose hint was lost was not read: poll the feed beside the hints, each few minutes',
  },
]

/** Returns a step that injects a fault into each hint's first attempt and grades one such hint. */
function withFault(
  name: CaseName,
  hintFault: FaultName,
  grade: (tried: WebhookDelivery) => Result,
): CourseStep {
  return {
    name,
    cases: [name],
    next: wait,
    hintFault,
    play: playChange,
    async look(run) {
      const tried = (await triedHints(run)).find(({ hidden_fault }) => hidden_fault === hintFault)
      return tried ? done({ [name]: grade(tried) }) : {}
    },
    late: () => 'No hint could be sent: is the endpoint on?',
  }
}

/** Returns the attempted hints about the step's changes, oldest first. */
async function triedHints({ app, hostId, step }: Run): Promise<WebhookDelivery[]> {
  const hints = await findBookingHints(app.db, hostId, step.began_at)
  return hints.filter(({ attempts, in_flight }) => attempts > 0 && !in_flight)
}

function isTaken(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300
}

/** Passes a product that has refused the extra hint with 4xx. */
function gradeRefusal(hint: string, status: number | null): Result {
  return status !== null && status >= 400 && status < 500
    ? passed
    : failed(
        `A hint ${hint} was answered ${status ?? 'with nothing'}, not 4xx: check signature and timestamp before anything else`,
      )
}
