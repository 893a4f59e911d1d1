import { toTimestamp } from '../../../core/clock.ts'
import { DomainError } from '../../../core/errors.ts'
import type { AppContext } from '../../../http/context.ts'
import type { Caller } from '../../../http/request.ts'
import { acquireLease, releaseLease } from '../../../platform/mongo/turns/lease.ts'
import { freshTurn } from '../../../platform/outgoing/turns.ts'
import { insertDelivery, newDelivery, trimDeliveries } from '../deliveries-store.ts'
import { testText } from '../hint.ts'
import { hasUsableKey } from '../keys.ts'
import type { WebhookDelivery } from '../model.ts'
import { fieldsOf, isSuccess, type PostContext, postInTurn, signPost } from '../send/attempt.ts'
import { requireTurn } from '../send/turns.ts'
import { findOwnWebhook } from './own.ts'

/** Time after which a test's process is presumed dead; longer than any attempt. */
const maxTestMilliseconds = 20_000

/**
 * Sends one `webhook.test` immediately, even to a webhook that is off, and returns the delivery with its outcome, and
 * the origin that the response redirected to.
 *
 * @throws DomainError `not_found`; `forbidden` if the webhook belongs to another usable key; `conflict` while another
 * test is in progress, if the webhook's key is no longer usable, or if the rate limit would delay the test by more
 * than five seconds
 */
export async function testWebhook(
  app: PostContext & Pick<AppContext, 'liveDb' | 'clockWatch'>,
  caller: Caller,
  id: number | undefined,
): Promise<{ delivery: WebhookDelivery; redirectOrigin: string | null }> {
  const { db, clock, clockWatch } = app
  const webhook = await findOwnWebhook(app, caller, id)
  if (!(await hasUsableKey(app, webhook)))
    throw new DomainError(
      'conflict',
      'The key of the webhook is no longer usable; turn the webhook on to take it over',
    )
  const turn = await requireTurn(app, webhook)
  const lease = { name: `webhook-test/${webhook.id}`, owner: crypto.randomUUID() }
  try {
    const now = clockWatch.databaseNow()
    if (!(await acquireLease(db, lease, now, new Date(now.getTime() + maxTestMilliseconds))))
      throw new DomainError('conflict', 'A test of this webhook is in progress; wait for its result')
    const dated = clock(caller.ownerId)
    const delivery = newDelivery({
      webhook,
      payload: { type: 'webhook.test', timestamp: toTimestamp(dated), data: { text: testText } },
      now: dated,
      begins: false,
      trace: null,
    })
    const fresh = await freshTurn(turn, () => requireTurn(app, webhook))
    const result = await postInTurn(fresh, signPost(app, webhook, delivery))
    const done: WebhookDelivery = {
      ...delivery,
      ...fieldsOf(result),
      attempts: 1,
      next_attempt_at: null,
      status: isSuccess(result) ? 'delivered' : 'failed',
    }
    await insertDelivery(db, done)
    await trimDeliveries(db, webhook)
    return { delivery: done, redirectOrigin: result.redirectOrigin }
  } finally {
    turn.giveBack()
    // Releases only a lease that this test holds.
    await releaseLease(db, lease)
  }
}
