import { partnerActor, recordAction } from '../../../access/audit/store.ts'
import { DomainError } from '../../../core/errors.ts'
import type { AppContext } from '../../../http/context.ts'
import type { Caller } from '../../../http/request.ts'
import type { Session } from '../../../platform/mongo/connection.ts'
import { hasUsableKey } from '../keys.ts'
import type { Webhook } from '../model.ts'
import { findWebhook } from '../store.ts'

/**
 * Returns the host's webhook with this id if the key may change it. A key may change its own webhooks and the
 * webhooks of keys that are no longer usable.
 *
 * @throws DomainError `not_found`; `forbidden` if the webhook belongs to another usable key
 */
export async function findOwnWebhook(
  app: Pick<AppContext, 'liveDb' | 'db' | 'clock'>,
  { ownerId, keyId }: Caller,
  id: number | undefined,
): Promise<Webhook> {
  const webhook = await findWebhook(app.db, ownerId, id)
  if (webhook.created_by === keyId || !(await hasUsableKey(app, webhook))) return webhook
  const message = `The webhook belongs to the key with id ${webhook.created_by}; use that key`
  throw new DomainError('forbidden', message, [{ path: 'created_by', code: 'forbidden', message }])
}

/**
 * Records a partner's action on a webhook in the audit log, in the action's transaction. The sandbox has no audit log
 * (decisions §21).
 */
export async function recordWebhookAction(
  { db, clock, environment }: Pick<AppContext, 'db' | 'clock' | 'environment'>,
  session: Session,
  { caller, verb, webhookId }: PartnerAction,
): Promise<void> {
  if (environment.name !== 'live') return
  const action = {
    owner_id: caller.ownerId,
    at: clock(),
    action: `webhooks ${verb}`,
    target: `webhook ${webhookId}`,
    actor: partnerActor(caller),
  }
  await recordAction(db, action, session)
}

/** What a partner does to a webhook. */
interface PartnerAction {
  caller: Caller
  verb: 'create' | 'change' | 'rotate' | 'delete'
  webhookId: number
}
