import { partnerActor } from '../../../access/audit/store.ts'
import { notFound } from '../../../core/errors.ts'
import type { AppContext } from '../../../http/context.ts'
import type { Caller } from '../../../http/request.ts'
import { dropWaiting, findWaitingIds } from '../deliveries-store.ts'
import type { HintGap, Webhook } from '../model.ts'
import { changeWebhook, findWebhook, inHostTransaction, newListeningId, positionsNow } from '../store.ts'
import { turnOff, undeliveredFrom } from '../turn-off.ts'
import { findOwnWebhook, recordWebhookAction } from './own.ts'
import type { WebhookPatch } from './schema.ts'
import { turnOn } from './turn-on.ts'

/**
 * Changes a webhook. If it is turned on, hints start with the next change, and the gap left while it was off is
 * returned, even if the request is repeated. Changing the origin also leaves a gap, because hints that are waiting for
 * the previous origin are dropped. If the webhook's key is no longer usable, the key that turns the webhook on takes
 * it over.
 *
 * @throws DomainError `not_found`; `forbidden` if the webhook belongs to another usable key
 */
export async function patchWebhook(
  app: Pick<AppContext, 'db' | 'liveDb' | 'clock' | 'environment'>,
  caller: Caller,
  id: number | undefined,
  { url, events, enabled }: WebhookPatch,
): Promise<{ webhook: Webhook; gap: HintGap | null }> {
  const { db } = app
  const { ownerId, keyId } = caller
  const found = await findOwnWebhook(app, caller, id)
  const actor = partnerActor(caller)
  const isMoved = url !== undefined && new URL(url).origin !== new URL(found.url).origin
  const dropped = isMoved ? await undeliveredFrom(db, found) : null
  if (enabled === false) await turnOff(app, found, { reason: 'partner' }, { actor })
  const added = (events ?? []).filter((event) => !found.events.includes(event))
  const removed = found.events.filter((event) => events && !events.includes(event))
  const { bookings_seen, messages_seen } = await positionsNow(db, ownerId)
  const values = {
    // An earlier URL's failures do not count against the new URL.
    ...(url === undefined || url === found.url ? {} : { url, failing_since: null }),
    ...(events && added.length + removed.length > 0 ? { events } : {}),
    ...(isMoved || added.includes('alarm.opened') ? { listening_id: newListeningId() } : {}),
    // Hints for an added event start with the next change, and so do all hints after a change of origin.
    ...(isMoved || added.includes('booking.changed') ? { bookings_seen } : {}),
    ...(isMoved || added.includes('message.created') ? { messages_seen } : {}),
    ...(enabled === true && found.created_by !== keyId ? { created_by: keyId } : {}),
  }
  if (Object.keys(values).length > 0) {
    const unwanted = await inHostTransaction(db, ownerId, async (session) => {
      await recordWebhookAction(app, session, { caller, verb: 'change', webhookId: found.id })
      if (!(await changeWebhook(db, { owner_id: ownerId, id: found.id }, values, session)))
        throw notFound('Webhook')
      return findWaitingIds(db, session, found, isMoved ? undefined : removed)
    })
    await dropWaiting(db, found, unwanted)
  }
  if (enabled === true) await turnOn(app, found, { actor })
  const webhook = await findWebhook(db, ownerId, id)
  return { webhook, gap: dropped ?? (enabled === true ? webhook.last_outage : null) }
}
