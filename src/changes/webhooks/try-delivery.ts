import { serviceActor } from '../../access/audit/store.ts'
import type { Environment } from '../../http/context.ts'
import type { Endings } from './endings.ts'
import type { Webhook, WebhookDelivery } from './model.ts'
import type { PostResult } from './post.ts'
import { postWithFault, type SendContext, signAndPost } from './sign-and-post.ts'
import { noteFailing, noteWorking } from './store.ts'
import { switchWebhook, undeliveredFrom } from './switch.ts'

/** The context of an attempt. */
export type TryContext = SendContext & { environment: Pick<Environment, 'name' | 'faultOfHint'> }

/** Returns true for a 2xx response. */
export function isSuccess({ status }: PostResult): boolean {
  return status !== null && status >= 200 && status < 300
}

/**
 * Attempts a delivery once and stores its outcome: delivered (returns true), to be retried, or given up. Turns off an
 * endpoint that responds 410 or that has failed for five days (decisions §21).
 *
 * @param mayBeFailing returns true if a failure may be on record that a success must clear
 */
export async function tryDelivery(
  app: TryContext,
  { endTry }: Pick<Endings, 'endTry'>,
  webhook: Webhook,
  delivery: WebhookDelivery,
  mayBeFailing: () => boolean,
): Promise<boolean> {
  const { _id, host_id } = delivery
  const fault = await faultOf(app, delivery)
  const { result, extraStatus } = fault
    ? await postWithFault(app, webhook, delivery, fault)
    : { result: await signAndPost(app, webhook, delivery), extraStatus: null }
  const { status: response_status, milliseconds, failure: error, detail: error_detail } = result ?? nothing
  const seen = {
    _id,
    host_id,
    response_status,
    milliseconds,
    error,
    error_detail,
    ...(fault ? { [fault.isSecret ? 'course_fault' : 'fault']: fault.fault, extra_status: extraStatus } : {}),
  }
  if (!result) {
    await endTry({ ...seen, status: 'delivered', next_attempt_at: null })
    return true
  }
  if (isSuccess(result)) {
    await endTry({ ...seen, status: 'delivered', next_attempt_at: null })
    if (mayBeFailing()) await noteWorking(app.db, webhook)
    return true
  }
  const now = app.clock(host_id)
  if (!webhook.failing_since)
    await noteFailing(app.db, webhook, {
      failing_since: now,
      undelivered_since: await undeliveredFrom(app.db, webhook),
    })
  const next_attempt_at = nextTry(delivery, result, now)
  await endTry({ ...seen, status: next_attempt_at ? 'waiting' : 'failed', next_attempt_at })
  if (response_status === 410) await turnOff(app, webhook, 'gone')
  else if (hasFailedTooLong(webhook, now)) await turnOff(app, webhook, 'failing')
  return false
}

/** Result when nothing was posted. */
const nothing = { status: null, milliseconds: null, failure: null, detail: null }

/** Returns the sandbox fault to inject into a delivery's first attempt; null for none and for later attempts. */
async function faultOf({ environment }: TryContext, { host_id, event, attempts }: WebhookDelivery) {
  return attempts === 1 && environment.faultOfHint ? environment.faultOfHint(host_id, event) : null
}

/** Returns the time of the next attempt; null for never. A test is never retried. */
function nextTry(
  { event, attempts }: WebhookDelivery,
  { retryAfterSeconds }: PostResult,
  now: Date,
): Date | null {
  return event === 'webhook.test' ? null : retryAt(now, attempts, retryAfterSeconds)
}

/** Returns true once five days have passed since the first failure after the last success. */
export function hasFailedTooLong({ failing_since }: Webhook, now: Date): boolean {
  return failing_since !== null && now.getTime() - failing_since.getTime() >= failingMilliseconds
}

/** Turns off an endpoint because of its responses or failures, or because its key is no longer usable. */
export function turnOff(
  app: TryContext,
  webhook: Webhook,
  reason: 'gone' | 'failing' | 'key_ended',
): Promise<void> {
  const to = { reason, url: webhook.url, createdBy: webhook.created_by }
  return switchWebhook(app, webhook, to, { actor: serviceActor() })
}

/** Pauses after each failed attempt, in seconds (decisions §21). */
const pauses = [5, 300, 1800, 7200, 18_000, 36_000, 50_400]
const maxRetryAfterSeconds = 3600
/** Time after which a failing endpoint is turned off. */
export const failingMilliseconds = 5 * 86_400_000

/**
 * Returns the time of the next attempt after a failed attempt; null for never.
 *
 * @param attempts number of attempts so far
 * @param retryAfterSeconds pause that the response asked for
 */
export function retryAt(now: Date, attempts: number, retryAfterSeconds: number | null): Date | null {
  const pause = pauses[attempts - 1]
  if (pause === undefined) return null
  const asked = Math.min(retryAfterSeconds ?? 0, maxRetryAfterSeconds)
  return new Date(now.getTime() + Math.max(pause, asked) * 1000)
}
