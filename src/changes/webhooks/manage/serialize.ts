import { findKeysOfHost } from '../../../access/keys/store.ts'
import { toTimestampOrNull } from '../../../core/clock.ts'
import type { AppContext } from '../../../http/context.ts'
import type { Caller } from '../../../http/request.ts'
import { deliveryId } from '../deliveries-store.ts'
import { isUsable } from '../keys.ts'
import type { Webhook, WebhookDelivery } from '../model.ts'
import type { DeliveryView, WebhookView } from './schema.ts'

/** Returns a webhook as partners see it, without its secrets. */
export function serializeWebhook(webhook: Webhook): WebhookView {
  const { id, url, events, enabled, disabled_at, disabled_reason, created_by } = webhook
  return {
    id,
    url,
    events,
    enabled,
    disabled_at: toTimestampOrNull(disabled_at),
    disabled_reason,
    created_by,
  }
}

/**
 * Returns webhooks as one of the host's keys sees them. If a webhook belongs to another usable key, its URL is shown
 * without its query or fragment, which may contain a secret.
 */
export async function showWebhooks(
  { liveDb, clock }: Pick<AppContext, 'liveDb' | 'clock'>,
  { ownerId, keyId }: Pick<Caller, 'ownerId' | 'keyId'>,
  webhooks: Webhook[],
): Promise<WebhookView[]> {
  const isOwn = ({ created_by }: Webhook) => created_by === keyId
  const keys = webhooks.every(isOwn) ? [] : await findKeysOfHost(liveDb, ownerId)
  const usable = new Set(keys.filter((key) => isUsable(key, clock())).map(({ id }) => id))
  return webhooks.map((webhook) => {
    const view = serializeWebhook(webhook)
    if (isOwn(webhook) || !usable.has(webhook.created_by)) return view
    return { ...view, url: view.url.replace(/[?#].*$/s, '') }
  })
}

function messageIdOf({ payload }: WebhookDelivery): number | null {
  return payload.type === 'message.created' ? (payload.data.message_id ?? null) : null
}

/** Returns a delivery as partners see it. */
export function serializeDelivery(delivery: WebhookDelivery): DeliveryView {
  return {
    id: deliveryId(delivery),
    event: delivery.event,
    booking_id: delivery.booking_id,
    message_id: messageIdOf(delivery),
    status: delivery.status,
    attempts: delivery.attempts,
    response_status: delivery.response_status,
    milliseconds: delivery.milliseconds,
    error: delivery.error,
    error_detail: delivery.error_detail,
    fault: delivery.fault,
    next_attempt_at: delivery.in_flight ? null : toTimestampOrNull(delivery.next_attempt_at),
  }
}
