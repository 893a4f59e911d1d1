import { findWebhookIfAny, newListeningId, positionsNow, type WebhookId } from '../store.ts'
import { changeSwitch, type SwitchContext, type SwitchedBy } from '../turn-off.ts'

/**
 * Turns a webhook on, drops its waiting hints, and records this in the audit log, except in the sandbox, which has no
 * audit log. Hints start with the next change. Does nothing if the webhook is already on or is gone.
 */
export async function turnOn(app: SwitchContext, webhook: WebhookId, by: SwitchedBy = {}): Promise<void> {
  const { db, clock } = app
  const { owner_id, id } = webhook
  const now = clock(owner_id)
  const found = await findWebhookIfAny(db, { owner_id, id })
  if (!found || found.enabled) return
  const positions = await positionsNow(db, owner_id)
  await changeSwitch(app, {
    seen: { owner_id, id, enabled: false },
    values: {
      enabled: true,
      disabled_at: null,
      disabled_reason: null,
      listening_id: newListeningId(),
      bookings_seen: positions.bookings_seen,
      messages_seen: positions.messages_seen,
      undelivered_since: null,
      last_outage: found.undelivered_since,
    },
    action: {
      owner_id,
      at: now,
      action: 'webhooks enable',
      target: `webhook ${id}`,
      reason: by.reason ?? null,
      ...(by.actor ? { actor: by.actor } : {}),
    },
  })
}
