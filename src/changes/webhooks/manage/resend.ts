import type { AppContext } from '../../../http/context.ts'
import type { Caller } from '../../../http/request.ts'
import { resendDelivery } from '../deliveries-store.ts'
import type { WebhookDelivery } from '../model.ts'
import { type OriginContext, requireTurn } from '../send/turns.ts'
import { inHostTransaction } from '../store.ts'
import { findOwnWebhook } from './own.ts'

/**
 * Makes a delivery due again, under the same `webhook-id`.
 *
 * @throws DomainError `not_found`; `forbidden` if the webhook belongs to another usable key; `conflict` if the
 * webhook is off, while the delivery is being attempted, or if the rate limit would delay the request by more than
 * five seconds
 */
export async function resend(
  app: OriginContext & Pick<AppContext, 'db' | 'liveDb' | 'clock'>,
  caller: Caller,
  id: number | undefined,
  deliveryId: string,
): Promise<WebhookDelivery> {
  const { db, clock } = app
  const webhook = await findOwnWebhook(app, caller, id)
  const turn = await requireTurn(app, webhook)
  // The process that sends the hints takes a turn for the post itself.
  turn.giveBack()
  return inHostTransaction(db, caller.ownerId, (session) =>
    resendDelivery(db, session, { webhook, id: deliveryId, now: clock(caller.ownerId) }),
  )
}
