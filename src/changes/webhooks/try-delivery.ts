import { serviceActor } from '../../access/audit/store.ts'
import type { Environment } from '../../http/context.ts'
import type { Endings } from './endings.ts'
import type { Webhook, WebhookDelivery } from './model.ts'
import type { PostResult } from './post.ts'
import { postWithFault, type SendContext, signAndPost } from './sign-and-post.ts'
import { noteFailing, noteWorking } from './store.ts'
import { switchWebhook, undeliveredFrom } from './switch.ts'

/** The context of a try. */
export type TryContext = SendContext & { environment: Pick<Environment, 'name' | 'faults'> }

/** True for a response that took the hint. */
export function isSuccess({ status }: PostResult): boolean {
  return status !== null && status >= 200 && status < 300
}

/**
 * Tries a delivery once, and stores what became of it: delivered (true), to be tried again, or given up. An endpoint that is
 * gone, or that has failed for five days, is turned off (decisions §21).
 *
 * @param mayBeFailing a failure may have been noted that a success ends
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

/** What was not posted got this. */
const nothing = { status: null, milliseconds: null, failure: null, detail: null }

/** The fault of the sandbox that a delivery meets, which only first tries do; null for none. */
async function faultOf({ environment }: TryContext, { host_id, event, attempts }: WebhookDelivery) {
  return attempts === 1 && environment.faults ? environment.faults.ofHint(host_id, event) : null
}

/** A test is never tried again. */
function nextTry(
  { event, attempts }: WebhookDelivery,
  { retryAfterSeconds }: PostResult,
  now: Date,
): Date | null {
  return event === 'webhook.test' ? null : retryAt(now, attempts, retryAfterSeconds)
}

/** True five days after the first failure since the last success. */
export function hasFailedTooLong({ failing_since }: Webhook, now: Date): boolean {
  return failing_since !== null && now.getTime() - failing_since.getTime() >= failingMilliseconds
}

/** Turns an endpoint off because of what it responds, or because nobody may see its hints any more. */
export function turnOff(
  app: TryContext,
  webhook: Webhook,
  reason: 'gone' | 'failing' | 'key_ended',
): Promise<void> {
  const to = { reason, url: webhook.url, createdBy: webhook.created_by }
  return switchWebhook(app, webhook, to, { actor: serviceActor() })
}

/** Pauses after each failed try, in seconds (decisions §21). */
const pauses = [5, 300, 1800, 7200, 18_000, 36_000, 50_400]
const maxRetryAfterSeconds = 3600
/** An endpoint that has failed for so long is turned off. */
export const failingMilliseconds = 5 * 86_400_000

/**
 * When to try again after a try that failed; null for never.
 *
 * @param attempts tries so far
 * @param retryAfterSeconds what the response asked for
 */
export function retryAt(now: Date, attempts: number, retryAfterSeconds: number | null): Date | null {
  const pause = pauses[attempts - 1]
  if (pause === undefined) return null
  const asked = Math.min(retryAfterSeconds ?? 0, maxRetryAfterSeconds)
  return new Date(now.getTime() + Math.max(pause, asked) * 1000)
}
