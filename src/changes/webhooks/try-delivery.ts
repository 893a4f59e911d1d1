import { serviceActor } from '../../access/audit/store.ts'
import type { AppContext } from '../../http/context.ts'
import type { SecretBox } from '../../platform/secrets/secret-box.ts'
import { deliveryId, endDelivered, endFailed } from './deliveries-store.ts'
import type { Webhook, WebhookDelivery } from './model.ts'
import { type PostResult, postHint } from './post.ts'
import { failingMilliseconds, retryAt } from './schedule.ts'
import { signatureHeaders } from './signature.ts'
import { noteFailing, noteWorking } from './store.ts'
import { switchWebhook, undeliveredFrom } from './switch.ts'

type SendContext = Pick<AppContext, 'db' | 'clock' | 'config' | 'secrets'>
/** The context of a try. */
export type TryContext = SendContext & { environment: Pick<AppContext['environment'], 'name'> }

/** The secrets that sign at a moment: after a rotation two, until the one of before ends. */
function signingSecrets(secrets: SecretBox, webhook: Webhook, now: Date): string[] {
  return webhook.secrets
    .filter(({ ends_at }) => ends_at === null || ends_at > now)
    .map((secret) => secrets.open(secret))
}

/** Posts a delivery to its endpoint, once. */
export function signAndPost(
  { clock, config, secrets }: SendContext,
  webhook: Webhook,
  delivery: Pick<WebhookDelivery, '_id' | 'payload'>,
): Promise<PostResult> {
  const now = clock()
  const body = JSON.stringify(delivery.payload)
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'partner-interface',
    ...signatureHeaders({ id: deliveryId(delivery), at: now, body }, signingSecrets(secrets, webhook, now)),
  }
  return postHint({ url: new URL(webhook.url), headers, body, allowsPrivate: config.webhooksAllowPrivate })
}

/** True for a response that took the hint. */
export function isSuccess({ status }: PostResult): boolean {
  return status !== null && status >= 200 && status < 300
}

/**
 * Tries a delivery once, and stores what became of it: delivered, to be tried again, or given up. An endpoint that is gone,
 * or that has failed for five days, is turned off (decisions §21).
 *
 * @param mayBeFailing a failure may have been noted that a success ends
 */
export async function tryDelivery(
  app: TryContext,
  webhook: Webhook,
  delivery: WebhookDelivery,
  mayBeFailing: () => boolean,
): Promise<PostResult> {
  const result = await signAndPost(app, webhook, delivery)
  const { status: response_status, milliseconds, failure: error } = result
  const seen = { response_status, milliseconds, error }
  if (isSuccess(result)) {
    await endDelivered(app.db, delivery, seen)
    if (mayBeFailing()) await noteWorking(app.db, webhook)
    return result
  }
  const now = app.clock()
  if (!webhook.failing_since)
    await noteFailing(app.db, webhook, {
      failing_since: now,
      undelivered_since: await undeliveredFrom(app.db, webhook),
    })
  await endFailed(app.db, delivery, seen, nextTry(delivery, result, now))
  if (response_status === 410) await turnOff(app, webhook, 'gone')
  else if (hasFailedTooLong(webhook, now)) await turnOff(app, webhook, 'failing')
  return result
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
  return switchWebhook(app, webhook, to, serviceActor())
}
