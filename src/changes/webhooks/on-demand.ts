import { DomainError } from '../../core/errors.ts'
import type { AppContext } from '../../http/context.ts'
import type { Caller } from '../../http/request.ts'
import { insertDelivery, newDelivery, resendDelivery, trimDeliveries } from './deliveries-store.ts'
import type { WebhookDelivery } from './model.ts'
import { requireTurn } from './origin-limit.ts'
import { findOwnWebhook, hasUsableKey } from './owner.ts'
import { signAndPost } from './sign-and-post.ts'
import { beginTest, changeWebhook, endTest } from './store.ts'
import { isSuccess } from './try-delivery.ts'

type Context = Pick<
  AppContext,
  'db' | 'liveDb' | 'clock' | 'config' | 'secrets' | 'webhooks' | 'rateLimiter' | 'environment'
>

/** Time after which a test is presumed lost with its process; longer than any attempt. */
const maxTestMilliseconds = 20_000

/**
 * Sends one `webhook.test` immediately, even to an endpoint that is off, and returns the delivery with its outcome.
 *
 * @throws DomainError `not_found`; `forbidden` if the endpoint belongs to another usable key; `conflict` while another
 * test is in progress, if the endpoint's key has ended, and while sandboxes send too many hints to its origin
 */
export async function testWebhook(
  app: Context,
  caller: Caller,
  id: number | undefined,
): Promise<WebhookDelivery> {
  const webhook = await findOwnWebhook(app, caller, id)
  if (!(await hasUsableKey(app, webhook)))
    throw new DomainError('conflict', 'The key of the webhook has ended: take it over by turning it on')
  await requireTurn(app, webhook.url)
  const now = app.clock()
  if (!(await beginTest(app.db, webhook, now, new Date(now.getTime() + maxTestMilliseconds))))
    throw new DomainError('conflict', 'A test of this webhook is on its way: wait for its answer')
  const dated = app.clock(caller.hostId)
  const payload = {
    type: 'webhook.test',
    timestamp: `${dated.toISOString().slice(0, 19)}Z`,
    data: {},
  } as const
  const delivery = newDelivery(webhook, payload, dated)
  const result = await signAndPost(app, webhook, delivery)
  const done: WebhookDelivery = {
    ...delivery,
    status: isSuccess(result) ? 'delivered' : 'failed',
    attempts: 1,
    response_status: result.status,
    milliseconds: result.milliseconds,
    error: result.failure,
    error_detail: result.detail,
    next_attempt_at: null,
  }
  await insertDelivery(app.db, done)
  await endTest(app.db, webhook, now)
  await trimDeliveries(app.db, webhook)
  return done
}

/**
 * Makes a delivery due again, under the same `webhook-id`.
 *
 * @throws DomainError `not_found`; `forbidden` if the endpoint belongs to another usable key; `conflict` if the
 * endpoint is off, while the delivery is being attempted, and while sandboxes send too many hints to its origin
 */
export async function resend(
  app: Context,
  caller: Caller,
  id: number | undefined,
  deliveryId: string,
): Promise<WebhookDelivery> {
  const { db, clock, webhooks } = app
  const webhook = await findOwnWebhook(app, caller, id)
  await requireTurn(app, webhook.url)
  const delivery = await resendDelivery(db, webhook, deliveryId, clock(caller.hostId))
  await changeWebhook(db, webhook, {}, clock())
  webhooks.wake()
  return delivery
}
