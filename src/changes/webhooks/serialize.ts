import { toTimestampOrNull } from '../../core/clock.ts'
import { deliveryId } from './deliveries-store.ts'
import type { Webhook, WebhookDelivery } from './model.ts'
import type { DeliveryView, WebhookView } from './schema.ts'

/** Converts an endpoint to its response, which does not contain the secrets. */
export function serializeWebhook(webhook: Webhook): WebhookView {
  const { id, url, events, enabled, disabled_at, disabled_reason, created_by } = webhook
  return {
    ...{ id, url, events, enabled },
    disabled_at: toTimestampOrNull(disabled_at),
    ...{ disabled_reason, created_by },
  }
}

/** Converts a delivery to its response. */
export function serializeDelivery(delivery: WebhookDelivery): DeliveryView {
  const { event, status, attempts, response_status, milliseconds, next_attempt_at, in_flight } = delivery
  const { error, error_detail, fault } = delivery
  return {
    id: deliveryId(delivery),
    ...{ event, status, attempts, response_status, milliseconds, error, error_detail, fault },
    next_attempt_at: in_flight ? null : toTimestampOrNull(next_attempt_at),
  }
}
