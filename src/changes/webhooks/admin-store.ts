import { notFound } from '../../core/errors.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { SecretBox } from '../../platform/secrets/secret-box.ts'
import { type Webhook, webhookDeliveryModel, webhookModel } from './model.ts'
import { replaceSecrets } from './store.ts'

/** Returns the endpoints of all hosts or of one host, sorted by host and id. */
export function listWebhooksOfAll(db: Db, hostId: number | undefined, limit: number): Promise<Webhook[]> {
  return webhookModel(db)
    .find(hostId === undefined ? {} : { host_id: hostId }, { _id: 0 })
    .sort({ host_id: 1, id: 1 })
    .limit(limit)
    .lean()
}

/**
 * Returns an endpoint by its id alone, for administrators, who are not limited to one host.
 *
 * @throws DomainError `not_found`
 */
export async function findWebhookOfAnyHost(db: Db, id: number): Promise<Webhook> {
  const webhook = await webhookModel(db).findOne({ id }, { _id: 0 }).lean()
  if (!webhook) throw notFound('Webhook')
  return webhook
}

/** Webhook figures for operators. */
export interface WebhookState {
  off: number
  /** Age in seconds of the oldest waiting hint; 0 if there is none. */
  oldestSeconds: number
}

/** Returns how many endpoints are off, and how long the oldest hint has been waiting. */
export async function webhookState(db: Db, now: Date): Promise<WebhookState> {
  const [off, oldest] = await Promise.all([
    webhookModel(db).countDocuments({ enabled: false }),
    webhookDeliveryModel(db).findOne({ status: 'waiting' }, { created_at: 1 }).sort({ created_at: 1 }).lean(),
  ])
  return { off, oldestSeconds: oldest ? (now.getTime() - oldest.created_at.getTime()) / 1000 : 0 }
}

/** Re-encrypts webhook secrets that are not encrypted under the current secret. Returns how many changed. */
export async function reencryptWebhookSecrets(db: Db, box: SecretBox): Promise<number> {
  let count = 0
  for await (const webhook of webhookModel(db).find().lean().cursor()) {
    const { secrets } = webhook
    if (secrets.every((secret) => box.isCurrent(secret))) continue
    const sealed = secrets.map((secret) => ({ ...box.seal(box.open(secret)), ends_at: secret.ends_at }))
    // Webhook secrets that were rotated meanwhile are already encrypted under the current secret.
    if (await replaceSecrets(db, webhook, sealed)) count += 1
  }
  return count
}
