import { notFound } from '../../core/errors.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { type Webhook, type WebhookSecret, webhookDeliveryModel, webhookModel } from './model.ts'

/** Identifies an endpoint. */
export type WebhookId = Pick<Webhook, 'host_id' | 'id'>

/** Returns a host's endpoints, sorted by id. */
export function listWebhooks(db: Db, hostId: number): Promise<Webhook[]> {
  return webhookModel(db).find({ host_id: hostId }, { _id: 0 }).sort({ id: 1 }).lean()
}

/** Returns the host's endpoint with this id, or null. */
export function findWebhookIfAny(
  db: Db,
  { host_id, id }: WebhookId,
  session: Session | null = null,
): Promise<Webhook | null> {
  return webhookModel(db).findOne({ host_id, id }, { _id: 0 }).session(session).lean()
}

/**
 * Returns the host's endpoint with this id.
 *
 * @throws DomainError `not_found`, even for an undefined id
 */
export async function findWebhook(db: Db, hostId: number, id: number | undefined): Promise<Webhook> {
  const webhook = id && (await findWebhookIfAny(db, { host_id: hostId, id }))
  if (!webhook) throw notFound('Webhook')
  return webhook
}

/** Stores a new endpoint. Fails with a duplicate-key error if its slot was taken in the meantime. */
export async function insertWebhook(db: Db, webhook: Webhook, session: Session): Promise<void> {
  await webhookModel(db).create([webhook], { session })
}

/**
 * Changes an endpoint and makes it due, so that the worker looks at it.
 *
 * @throws DomainError `not_found`
 */
export async function changeWebhook(
  db: Db,
  { host_id, id }: WebhookId,
  values: Partial<Webhook>,
  now: Date,
  session: Session | null = null,
): Promise<Webhook> {
  const changed = await webhookModel(db)
    .findOneAndUpdate(
      { host_id, id },
      { $set: { ...values, due_at: now } },
      { new: true, projection: { _id: 0 }, session },
    )
    .lean()
  if (!changed) throw notFound('Webhook')
  return changed
}

/** Begins a test. Returns false if another test is in progress. */
export async function beginTest(
  db: Db,
  { host_id, id }: WebhookId,
  now: Date,
  until: Date,
): Promise<boolean> {
  const { modifiedCount } = await webhookModel(db).updateOne(
    { host_id, id, testing_until: { $lte: now } },
    { $set: { testing_until: until } },
  )
  return modifiedCount === 1
}

/** Ends a test. */
export async function endTest(db: Db, { host_id, id }: WebhookId, now: Date): Promise<void> {
  await webhookModel(db).updateOne({ host_id, id }, { $set: { testing_until: now } })
}

/** Replaces the secrets that were read. Returns null if they have changed meanwhile or the endpoint is gone. */
export function replaceSecrets(
  db: Db,
  { host_id, id, secrets: [current] }: Webhook,
  secrets: WebhookSecret[],
  session: Session | null = null,
): Promise<Webhook | null> {
  const seen = { host_id, id, ...(current ? { 'secrets.0.sealed': current.sealed } : {}) }
  return webhookModel(db)
    .findOneAndUpdate(seen, { $set: { secrets } }, { new: true, projection: { _id: 0 }, session })
    .lean()
}

/**
 * Deletes an endpoint.
 *
 * @throws DomainError `not_found`
 */
export async function deleteWebhook(db: Db, { host_id, id }: WebhookId, session: Session): Promise<void> {
  const { deletedCount } = await webhookModel(db).deleteOne({ host_id, id }, { session })
  if (deletedCount === 0) throw notFound('Webhook')
}

/** Deletes an endpoint's delivery log, including the waiting deliveries. */
export async function deleteDeliveries(db: Db, { host_id, id: webhook_id }: WebhookId): Promise<void> {
  await webhookDeliveryModel(db).deleteMany({ host_id, webhook_id })
}

/** Returns all hosts' endpoints that are on. */
export function findAllOn(db: Db): Promise<WebhookId[]> {
  return webhookModel(db).find({ enabled: true }, { _id: 0, host_id: 1, id: 1 }).lean()
}

/** Returns the endpoints that are on and belong to one of these keys. */
export function findWebhooksOfKeys(db: Db, keyIds: number[]): Promise<Webhook[]> {
  return webhookModel(db)
    .find({ created_by: { $in: keyIds }, enabled: true }, { _id: 0 })
    .lean()
}

/** Records a URL's first failure after a success, and the versions after which hints may be missing. */
export async function noteFailing(
  db: Db,
  { host_id, id, url }: Webhook,
  failing: Pick<Webhook, 'failing_since' | 'undelivered_since'>,
): Promise<void> {
  await webhookModel(db).updateOne(
    { host_id, id, url, enabled: true, failing_since: null },
    { $set: failing },
  )
}

/** Clears a URL's recorded failure after a success. */
export async function noteWorking(db: Db, { host_id, id, url }: Webhook): Promise<void> {
  const working = { failing_since: null, undelivered_since: null }
  await webhookModel(db).updateOne({ host_id, id, url, enabled: true }, { $set: working })
}
