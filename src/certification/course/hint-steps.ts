import { findBookingHints } from '../../changes/webhooks/deliveries-store.ts'
import type { FailureDetail, WebhookDelivery } from '../../changes/webhooks/model.ts'
import { listWebhooks } from '../../changes/webhooks/store.ts'
import type { FaultName } from '../../sandbox/faults/rule.ts'
import { arrivals, missingArrivals } from './arrivals.ts'
import type { CaseName } from './cases.ts'
import { playScenario } from './play.ts'
import { askToWait, type CourseStep, failed, passed, type Result, type Run, skipped } from './step.ts'

const playChange = (run: Run) => playScenario(run, 'guest-books', { count: 1 })

/** The steps for a product that receives hints. */
export const hintSteps: CourseStep[] = [
  {
    name: 'endpoint',
    cases: [],
    next: {
      action: 'start',
      text: 'Register the endpoint of the product in the sandbox (`POST /sandbox/webhooks`) and keep the product running',
    },
    async check({ app, certification }) {
      const webhooks = await listWebhooks(app.db, certification.sandbox_id)
      return {
        isDone: webhooks.some(({ enabled, events }) => enabled && events.includes('booking.changed')),
      }
    },
  },
  {
    name: 'hint',
    cases: ['webhooks.quick', 'webhooks.followed'],
    next: askToWait,
    play: playChange,
    async check(run) {
      const [first] = await triedHints(run)
      if (!first) return {}
      const problem = problemOf(first, run.bounds.quick)
      if (problem !== null)
        return {
          isDone: true,
          results: {
            'webhooks.quick': failed(problem),
            'webhooks.followed': skipped('Cannot be judged because the hint was not accepted'),
          },
        }
      if ((await arrivals(run)).isComplete)
        return { isDone: true, results: { 'webhooks.quick': passed, 'webhooks.followed': passed } }
      return { results: { 'webhooks.quick': passed }, progress: 1 }
    },
    missing: missingArrivals,
    timeout: ({ followed }) => followed,
    late: () => 'Neither the feed nor the booking was read within a minute after the hint',
  },
  withFault('webhooks.forged', 'hint_forged', (tried) => gradeRefusal('with a wrong signature', tried)),
  withFault('webhooks.old', 'hint_old', (tried) => gradeRefusal('signed ten minutes ago', tried)),
  withFault('webhooks.doubled', 'hint_twice', ({ response_status, extra_status }) => {
    if (isAccepted(response_status) && isAccepted(extra_status)) return passed
    return failed(
      `The same hint, sent twice, got ${responseOf(response_status)} and ${responseOf(extra_status)}; accept both, because a hint is not a command`,
    )
  }),
  {
    name: 'unheard',
    cases: ['webhooks.lost'],
    next: askToWait,
    hintFault: 'hint_lost',
    play: playChange,
    async check(run) {
      if (!(await hasAcceptedHint(run)))
        return {
          isDone: true,
          results: { 'webhooks.lost': skipped('Cannot be judged until a hint has been answered with 2xx') },
        }
      const isHintLost = (await hintsWith(run, 'hint_lost')).length > 0
      const { isComplete } = await arrivals(run)
      return isHintLost && isComplete ? { isDone: true, results: { 'webhooks.lost': passed } } : {}
    },
    missing: missingArrivals,
    timeout: ({ missedHintWindow }) => missedHintWindow,
    late: async (run) =>
      (await hintsWith(run, 'hint_lost')).length > 0
        ? 'A change whose hint was lost was not read; in addition to receiving hints, poll the feed every few minutes'
        : notSent,
  },
]

/** Reason given for a failed step in which no hint was sent. */
const notSent = 'No hint could be sent; check that the endpoint is on'

/** Returns a step that injects a fault into each hint's first attempt and grades the first such hint. */
function withFault(
  name: CaseName,
  hintFault: FaultName,
  grade: (tried: WebhookDelivery) => Result,
): CourseStep {
  return {
    name,
    cases: [name],
    next: askToWait,
    hintFault,
    play: playChange,
    async check(run) {
      const [tried] = await hintsWith(run, hintFault)
      if (!tried) return {}
      const isReached = tried.response_status !== null || tried.extra_status !== null
      const unreached = `Cannot be judged because the endpoint did not respond (${reasonOf(tried)})`
      return { isDone: true, results: { [name]: isReached ? grade(tried) : skipped(unreached) } }
    },
    late: () => notSent,
  }
}

/**
 * Returns what was wrong with the response to a genuine hint and what to change; null if it was a 2xx in time.
 *
 * @param quickMilliseconds time limit for the response
 */
function problemOf(hint: WebhookDelivery, quickMilliseconds: number): string | null {
  const { response_status, milliseconds } = hint
  if (response_status === null)
    return `The hint got no response (${reasonOf(hint)}): ${adviceWithoutResponse(hint)}`
  const answered = `The hint was answered with ${response_status} after ${milliseconds} ms`
  const isInTime = (milliseconds ?? 0) <= quickMilliseconds
  if (!isInTime) return `${answered}: ${respondFirst}`
  if (isAccepted(response_status)) return null
  if (hint.error_detail === 'redirect') return `${answered}: ${failureAdvice.redirect}`
  return `${answered}: respond 2xx to a hint whose signature and timestamp are correct`
}

const respondFirst = 'respond 2xx immediately and read the feed afterwards'
const failureAdvice: Record<FailureDetail, string> = {
  dns: 'the name of its host could not be resolved; check the `url` of the webhook',
  refused:
    'nothing accepts connections there; check the `url` of the webhook, and that the product is running',
  reset: 'the connection was closed before a response; respond 2xx to every genuine hint',
  tls: 'the TLS handshake failed; the server must speak TLS 1.2 or 1.3 with a public certificate',
  chain_incomplete:
    'the server does not send all intermediate certificates; configure the whole chain (often `fullchain.pem`)',
  untrusted: 'the certificate is self-signed or from an authority that is not public; use a public one',
  name_mismatch: 'the certificate is not valid for the host of the `url`',
  redirect: 'redirects are not followed; give the webhook the address that responds itself',
  expired: 'the certificate, or one of its chain, has expired; renew it',
}

/** Returns advice for an attempt without a response. Only a late response is a matter of speed. */
function adviceWithoutResponse({ error, error_detail }: WebhookDelivery): string {
  if (error === 'timeout') return respondFirst
  if (error === 'address') return 'the host of the `url` must have only public addresses'
  return error_detail ? failureAdvice[error_detail] : 'respond to hints as an HTTP/1.1 server does'
}

/** Returns the reason that an attempt got no response, worded as in the webhook's delivery log. */
function reasonOf({ error, error_detail }: WebhookDelivery): string {
  return error_detail ? `${error}: ${error_detail}` : String(error)
}

/** Returns the step's hints that have been attempted and are not in flight, oldest first. */
async function triedHints({ app, certification: { sandbox_id, step } }: Run): Promise<WebhookDelivery[]> {
  const hints = await findBookingHints(app.db, sandbox_id, step.began_at)
  return hints.filter(({ attempts, in_flight }) => attempts > 0 && !in_flight)
}

/** Returns the step's attempted hints into which the given fault was injected, oldest first. */
async function hintsWith(run: Run, fault: FaultName): Promise<WebhookDelivery[]> {
  return (await triedHints(run)).filter(({ hidden_fault }) => hidden_fault === fault)
}

/** Returns true if the product has accepted any hint since the certification started. */
async function hasAcceptedHint({ app, certification: { sandbox_id, started_at } }: Run): Promise<boolean> {
  const hints = await findBookingHints(app.db, sandbox_id, started_at)
  return hints.some(({ response_status }) => isAccepted(response_status))
}

function responseOf(status: number | null): string {
  return status === null ? 'no response' : `the response ${status}`
}

function isAccepted(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300
}

/** Passes if the product refused the extra hint with 4xx and accepted the genuine hint that followed. */
function gradeRefusal(hint: string, { response_status, extra_status }: WebhookDelivery): Result {
  if (extra_status === null || extra_status < 400 || extra_status >= 500)
    return failed(
      `A hint ${hint} got ${responseOf(extra_status)} instead of 4xx; check signature and timestamp first`,
    )
  return isAccepted(response_status)
    ? passed
    : skipped('Cannot be judged because genuine hints are refused too')
}
