import { findBookingHints } from '../changes/webhooks/deliveries-store.ts'
import type { WebhookDelivery } from '../changes/webhooks/model.ts'
import { listWebhooks } from '../changes/webhooks/store.ts'
import type { FaultName } from '../http/fault-rule.ts'
import { readHostClock } from '../versions/host-clock-store.ts'
import type { CaseName } from './cases.ts'
import { delivered } from './feed-reads.ts'
import { wait } from './next.ts'
import { play } from './play.ts'
import { wantedAfter } from './reads.ts'
import type { CourseStep, Look, Result, Run } from './step.ts'

const prepare: NonNullable<CourseStep['prepare']> = async ({ app, hostId }) => ({
  after: await readHostClock(app.db, hostId),
})
const playChange = (run: Run) => play(run, 'guest-books', { count: 1 })

/** Returns the attempted hints about the step's changes, oldest first. */
async function triedHints({ app, hostId, beganAt }: Run): Promise<WebhookDelivery[]> {
  const hints = await findBookingHints(app.db, hostId, beganAt)
  return hints.filter(({ attempts, in_flight }) => attempts > 0 && !in_flight)
}

async function isRead(run: Run): Promise<boolean> {
  const wanted = await wantedAfter(run, run.memo.after as Date)
  return wanted.length > 0 && (await delivered(run, wanted)).length === wanted.length
}

const endpoint: CourseStep = {
  name: 'endpoint',
  profile: 'webhooks',
  cases: [],
  byHand: [],
  next: {
    action: 'start',
    text: 'Register the endpoint of the product in the sandbox (`POST /sandbox/webhooks`), and keep the product running',
  },
  async look({ app, hostId }) {
    const webhooks = await listWebhooks(app.db, hostId)
    return { isDone: webhooks.some(({ enabled, events }) => enabled && events.includes('booking.changed')) }
  },
  late: () => '',
}

const hint: CourseStep = {
  name: 'hint',
  profile: 'webhooks',
  cases: ['webhooks.quick', 'webhooks.followed'],
  next: wait,
  prepare,
  play: playChange,
  async look(run) {
    const [first] = await triedHints(run)
    if (!first) return {}
    const { response_status, milliseconds, error } = first
    const isTaken = response_status !== null && response_status >= 200 && response_status < 300
    const isQuick = isTaken && (milliseconds ?? 0) <= run.bounds.quick
    const told =
      response_status === null
        ? `not answered (${error})`
        : `answered ${response_status} after ${milliseconds} ms`
    const quick: Result = isQuick
      ? { status: 'passed' }
      : { status: 'failed', because: `The hint was ${told}: answer 2xx at once, and read afterwards` }
    if (isQuick && (await isRead(run)))
      return { results: { 'webhooks.quick': quick, 'webhooks.followed': { status: 'passed' } }, isDone: true }
    if (!isQuick) {
      // A busy machine may have delayed the response.
      const isDoubtful = true
      const because = 'It cannot be told while the hint was not taken'
      return {
        results: { 'webhooks.quick': quick, 'webhooks.followed': { status: 'skipped', because } },
        isDone: true,
        isDoubtful,
      }
    }
    return { results: { 'webhooks.quick': quick }, progress: 1 }
  },
  serve: ({ followed }) => followed,
  late: () => 'Within a minute of the hint neither the feed nor the booking was read',
}

/** Returns a step in which a hint's first attempt meets a fault. */
function withFault(name: CaseName, fault: FaultName, grade: (tried: WebhookDelivery) => Result): CourseStep {
  return {
    name,
    profile: 'webhooks',
    cases: [name],
    next: wait,
    hintFault: fault,
    prepare,
    play: playChange,
    async look(run): Promise<Look> {
      const tried = (await triedHints(run)).find((one) => one.course_fault === fault)
      return tried ? { results: { [name]: grade(tried) }, isDone: true } : {}
    },
    late: () => 'No hint could be sent: is the endpoint on?',
  }
}

/** Returns a grader that passes only if the extra post was refused with 4xx. */
const refusedAs =
  (what: string) =>
  ({ extra_status }: WebhookDelivery): Result =>
    extra_status !== null && extra_status >= 400 && extra_status < 500
      ? { status: 'passed' }
      : {
          status: 'failed',
          because: `A hint ${what} was answered ${extra_status ?? 'with nothing'}, not 4xx: check signature and timestamp before anything else`,
        }

const takenTwice = ({ response_status, extra_status }: WebhookDelivery): Result =>
  [response_status, extra_status].every((status) => status !== null && status >= 200 && status < 300)
    ? { status: 'passed' }
    : {
        status: 'failed',
        because: `The same hint twice was answered ${response_status} and ${extra_status}: take both, it is a hint and no order`,
      }

const unheard: CourseStep = {
  name: 'unheard',
  profile: 'webhooks',
  cases: ['webhooks.lost'],
  next: wait,
  hintFault: 'hint_lost',
  serve: ({ unheard: milliseconds }) => milliseconds,
  prepare,
  play: playChange,
  async look(run) {
    return (await isRead(run)) ? { results: { 'webhooks.lost': { status: 'passed' } }, isDone: true } : {}
  },
  late: () => 'A change whose hint was lost was not read: poll the feed beside the hints, each few minutes',
}

/** The steps for a product that receives hints. */
export const webhookSteps: CourseStep[] = [
  endpoint,
  hint,
  withFault('webhooks.forged', 'hint_forged', refusedAs('with a wrong signature')),
  withFault('webhooks.old', 'hint_old', refusedAs('of ten minutes ago')),
  withFault('webhooks.doubled', 'hint_twice', takenTwice),
  unheard,
]
