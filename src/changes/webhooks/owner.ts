import { partnerActor, recordAction } from '../../access/audit/store.ts'
import { findHost } from '../../access/hosts/store.ts'
import type { ApiKey } from '../../access/keys/model.ts'
import { keyStatus } from '../../access/keys/status.ts'
import { findKeyIfAny, findKeysOfHost } from '../../access/keys/store.ts'
import { DomainError } from '../../core/errors.ts'
import type { AppContext } from '../../http/context.ts'
import type { Caller } from '../../http/request.ts'
import type { Session } from '../../platform/mongo/connection.ts'
import type { Webhook } from './model.ts'
import type { WebhookView } from './schema.ts'
import { serializeWebhook } from './serialize.ts'
import { findWebhook } from './store.ts'

type Keys = Pick<AppContext, 'liveDb' | 'clock'>

/** Returns true if the key is active and may read bookings. */
function isUsable(key: ApiKey | null, now: Date): boolean {
  return key !== null && keyStatus(key, now) === 'active' && key.permissions.includes('bookings.read')
}

/** Returns true if the endpoint's key is usable and its host not suspended; else nothing is sent (decisions §21). */
export async function hasUsableKey(
  { liveDb, clock }: Keys,
  { created_by }: Pick<Webhook, 'created_by'>,
): Promise<boolean> {
  const key = await findKeyIfAny(liveDb, created_by)
  return isUsable(key, clock()) && !(await findHost(liveDb, (key as ApiKey).host_id)).suspended_at
}

/**
 * Returns the host's endpoint with this id for a key that wants to change it. The endpoint must belong to that key, or
 * to a key that is no longer usable.
 *
 * @throws DomainError `not_found`; `forbidden` if the endpoint belongs to another usable key
 */
export async function findOwnWebhook(
  app: Keys & Pick<AppContext, 'db'>,
  { hostId, keyId }: Caller,
  id: number | undefined,
): Promise<Webhook> {
  const webhook = await findWebhook(app.db, hostId, id)
  if (webhook.created_by === keyId || !(await hasUsableKey(app, webhook))) return webhook
  const message = `The webhook belongs to the key with the id ${webhook.created_by}: use that one`
  throw new DomainError('forbidden', message, [{ path: 'created_by', code: 'forbidden', message }])
}

/**
 * Returns endpoints as a key of their host sees them. The URLs of other usable keys' endpoints are shown without their
 * query, which may hold a secret.
 */
export async function showWebhooks(
  { liveDb, clock }: Keys,
  { hostId, keyId }: Caller,
  webhooks: Webhook[],
): Promise<WebhookView[]> {
  const isOwn = ({ created_by }: Webhook) => created_by === keyId
  const keys = webhooks.every(isOwn) ? [] : await findKeysOfHost(liveDb, hostId)
  const usable = new Set(keys.filter((key) => isUsable(key, clock())).map(({ id }) => id))
  return webhooks.map((webhook) => {
    const view = serializeWebhook(webhook)
    if (isOwn(webhook) || !usable.has(webhook.created_by)) return view
    return { ...view, url: view.url.replace(/[?#].*$/s, '') }
  })
}

/**
 * Records a partner's action on an endpoint in the audit log, in the action's transaction. The sandbox has no audit log
 * (decisions §21).
 */
export async function recordWebhookAction(
  { db, clock, environment }: Pick<AppContext, 'db' | 'clock'> & { environment: { name: string } },
  caller: Caller,
  action: 'create' | 'change' | 'rotate' | 'delete',
  webhookId: number,
  session: Session,
): Promise<void> {
  if (environment.name !== 'live') return
  const entry = { action: `webhooks ${action}`, target: `webhook ${webhookId}`, actor: partnerActor(caller) }
  await recordAction(db, { host_id: caller.hostId, at: clock(), ...entry }, session)
}
