import { notFound } from '../../core/errors.ts'
import { hostQueue, nextSequence, readHostClock } from '../../host-clock/store.ts'
import { setFields } from '../../platform/mongo/collections.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { busy } from '../../platform/mongo/errors.ts'
import { inTransaction } from '../../platform/mongo/turns/transactions.ts'
import type { WorkSource } from '../../platform/mongo/turns/work-watch.ts'
import type { SecretBox } from '../../platform/secrets/secret-box.ts'
import { alarmEvents } from './hint.ts'
import { type Webhook, webhookDeliveryModel, webhookModel } from './model.ts'

/** Maximum number of webhooks per host (decisions §21). */
export const webhooksPerHost = 5

/** Identifies a webhook. */
export type WebhookId = Pick<Webhook, 'owner_id' | 'id'>

/**
 * Changes a host's webhooks in a transaction that also moves the host's clock. The clock serializes such changes, even
 * across processes, and its change event notifies the hint sender.
 *
 * @throws DomainError `conflict` if the host's clock is gone because its sandbox was cleared
 */
export function inHostTransaction<T>(
  db: Db,
  ownerId: number,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  return inTransaction(db, hostQueue(ownerId), async (session) => {
    await nextSequence(db, session, ownerId)
    return work(session)
  })
}

/** Returns the webhooks of a host, or of all hosts for administrators, sorted by host and id. */
export function listWebhooks(db: Db, ownerId: number | 'all', limit = 0): Promise<Webhook[]> {
  return webhookModel(db)
    .find(ownerId === 'all' ? {} : { owner_id: ownerId }, { _id: 0 })
    .sort({ owner_id: 1, id: 1 })
    .limit(limit)
    .lean()
}

/** Returns the number of a host's webhooks. */
export function countWebhooks(db: Db, ownerId: number, session: Session): Promise<number> {
  return webhookModel(db).countDocuments({ owner_id: ownerId }, { session })
}

/** Returns the host's webhook with this id, or null. */
export function findWebhookIfAny(
  db: Db,
  { owner_id, id }: WebhookId,
  session: Session | null = null,
): Promise<Webhook | null> {
  return webhookModel(db).findOne({ owner_id, id }, { _id: 0 }).session(session).lean()
}

/**
 * Returns the host's webhook with this id.
 *
 * @throws DomainError `not_found`, even for an undefined id
 */
export async function findWebhook(
  db: Db,
  ownerId: number,
  id: number | undefined,
  session: Session | null = null,
): Promise<Webhook> {
  const webhook = id ? await findWebhookIfAny(db, { owner_id: ownerId, id }, session) : null
  if (!webhook) throw notFound('Webhook')
  return webhook
}

/** Returns the enabled webhooks, optionally only those of the given hosts and keys. */
export function findEnabledWebhooks(
  db: Db,
  of: { hosts?: number[]; keys?: number[] } = {},
): Promise<Webhook[]> {
  const { hosts, keys } = of
  const which = {
    ...(hosts ? { owner_id: { $in: hosts } } : {}),
    ...(keys ? { created_by: { $in: keys } } : {}),
  }
  return webhookModel(db)
    .collection.find<Webhook>({ ...which, enabled: true }, { projection: { _id: 0 } })
    .toArray()
}

/** Returns all webhooks of some keys, on or off, in any order. */
export function findWebhooksOfKeys(
  db: Db,
  readers: { ownerId: number; keyId: number }[],
): Promise<Webhook[]> {
  const owner_id = { $in: [...new Set(readers.map(({ ownerId }) => ownerId))] }
  const created_by = { $in: readers.map(({ keyId }) => keyId) }
  return webhookModel(db)
    .collection.find<Webhook>({ owner_id, created_by }, { projection: { _id: 0 } })
    .toArray()
}

/** The fields of a webhook that decide which alarms it is told of. */
export type AlarmWebhook = Pick<Webhook, 'owner_id' | 'id' | 'created_by' | 'events' | 'listening_id'>
const wantsAlarms = { events: { $in: [...alarmEvents] }, enabled: true }
const alarmFields = { _id: 0, owner_id: 1, id: 1, created_by: 1, events: 1, listening_id: 1 }

/** Returns the webhooks that are on and ask for alarms, of some owners or of all. */
export function findAlarmWebhooks(db: Db, ownerIds?: number[]): Promise<AlarmWebhook[]> {
  const which = ownerIds ? { owner_id: { $in: ownerIds } } : {}
  return webhookModel(db)
    .collection.find<AlarmWebhook>({ ...which, ...wantsAlarms }, { projection: alarmFields })
    .toArray()
}

/** Returns an owner's webhooks that are on and ask for alarms, in a transaction if there is a session. */
export function findOwnAlarmWebhooks(
  db: Db,
  session: Session | null,
  ownerId: number,
): Promise<AlarmWebhook[]> {
  const options = { projection: alarmFields, ...(session ? { session } : {}) }
  return webhookModel(db)
    .collection.find<AlarmWebhook>({ owner_id: ownerId, ...wantsAlarms }, options)
    .toArray()
}

/** Shows that a webhook asks for alarms. */
export const anyAlarmWebhook: WorkSource = { model: webhookModel, filter: () => wantsAlarms }

/** Shows that any host has a webhook. */
export const anyWebhook: WorkSource = { model: webhookModel, filter: () => ({}) }

/** Returns the ids of the hosts that have an enabled webhook. */
export function findHostsWithWebhooks(db: Db): Promise<number[]> {
  return webhookModel(db).distinct('owner_id', { enabled: true })
}

/** What is known of a webhook when it is created. */
type NewWebhook = Pick<
  Webhook,
  | 'owner_id'
  | 'id'
  | 'url'
  | 'events'
  | 'created_by'
  | 'created_at'
  | 'secrets'
  | 'bookings_seen'
  | 'messages_seen'
>

/** Returns the id of a webhook that listens anew. */
export function newListeningId(): string {
  return crypto.randomUUID()
}

/** Returns a new webhook, which is on and has never failed. */
export function newWebhook(start: NewWebhook): Webhook {
  return {
    owner_id: start.owner_id,
    id: start.id,
    url: start.url,
    events: start.events,
    enabled: true,
    disabled_at: null,
    disabled_reason: null,
    created_by: start.created_by,
    created_at: start.created_at,
    secrets: start.secrets,
    bookings_seen: start.bookings_seen,
    messages_seen: start.messages_seen,
    listening_id: newListeningId(),
    failing_since: null,
    undelivered_since: null,
    last_outage: null,
  }
}

/** Stores a new webhook. */
export async function insertWebhook(db: Db, webhook: Webhook, session: Session): Promise<void> {
  await webhookModel(db).create([webhook], { session })
}

/**
 * Changes a webhook and returns its new state. Changes nothing and returns null if it is gone or no longer matches
 * `seen`.
 */
export function changeWebhook(
  db: Db,
  seen: WebhookId & Partial<Webhook>,
  values: Partial<Webhook>,
  session: Session,
): Promise<Webhook | null> {
  return webhookModel(db)
    .findOneAndUpdate(seen, { $set: values }, { new: true, projection: { _id: 0 }, session })
    .lean()
}

/**
 * Deletes a webhook.
 *
 * @throws DomainError `not_found`
 */
export async function deleteWebhook(db: Db, { owner_id, id }: WebhookId, session: Session): Promise<void> {
  const { deletedCount } = await webhookModel(db).deleteOne({ owner_id, id }, { session })
  if (deletedCount === 0) throw notFound('Webhook')
}

/** Deletes a webhook's delivery log, including the waiting deliveries. */
export async function deleteDeliveries(db: Db, { owner_id, id: webhook_id }: WebhookId): Promise<void> {
  await webhookDeliveryModel(db).deleteMany({ owner_id, webhook_id })
}

/** The versions up to which a webhook's hints have been created. */
export type Positions = Pick<Webhook, 'bookings_seen' | 'messages_seen'>

/** Returns the feeds' latest versions, after which a new or re-enabled webhook's hints start. */
export async function positionsNow(db: Db, ownerId: number): Promise<Positions> {
  const [bookings_seen, messages_seen] = await Promise.all([
    readHostClock(db, ownerId, 'last'),
    readHostClock(db, ownerId, 'messages_last'),
  ])
  return { bookings_seen, messages_seen }
}

/**
 * Moves the positions of a host's webhooks.
 *
 * @throws DomainError `conflict` if a webhook is off or another process has moved its positions
 */
export async function movePositions(
  db: Db,
  session: Session,
  moves: { webhook: Webhook; seen: Positions }[],
): Promise<void> {
  const changes = moves.map(({ webhook: { owner_id, id, bookings_seen, messages_seen }, seen }) => ({
    filter: { owner_id, id, enabled: true, bookings_seen, messages_seen },
    set: seen,
  }))
  if ((await setFields(webhookModel(db), session, changes)) < moves.length) throw busy()
}

/** Records a URL's first failure after a success, and the versions after which hints may be missing. */
export async function recordFirstFailure(
  db: Db,
  { owner_id, id, url }: Webhook,
  failing: Pick<Webhook, 'failing_since' | 'undelivered_since'>,
): Promise<void> {
  await webhookModel(db).updateOne(
    { owner_id, id, url, enabled: true, failing_since: null },
    { $set: failing },
  )
}

/** Clears a URL's recorded failure after a success. */
export async function clearRecordedFailure(db: Db, { owner_id, id, url }: Webhook): Promise<void> {
  const working = { failing_since: null, undelivered_since: null }
  await webhookModel(db).updateOne({ owner_id, id, url, enabled: true }, { $set: working })
}

/**
 * Returns a webhook by its id alone, for administrators, who are not limited to one host.
 *
 * @throws DomainError `not_found`
 */
export async function findWebhookOfAnyHost(db: Db, id: number): Promise<Webhook> {
  const webhook = await webhookModel(db).findOne({ id }, { _id: 0 }).lean()
  if (!webhook) throw notFound('Webhook')
  return webhook
}

/**
 * Re-encrypts webhook secrets that are not encrypted under the current `SECRET_KEY`. Returns the number of changed
 * webhooks.
 */
export async function reencryptWebhookSecrets(db: Db, box: SecretBox): Promise<number> {
  let count = 0
  for await (const { owner_id, id, secrets } of webhookModel(db).find().lean().cursor()) {
    if (secrets.every((secret) => box.isCurrent(secret))) continue
    const sealed = secrets.map((secret) => ({ ...box.seal(box.open(secret)), ends_at: secret.ends_at }))
    // Webhook secrets that were rotated in the meantime are already encrypted under the current `SECRET_KEY`.
    const seen = { owner_id, id, 'secrets.0.sealed': secrets[0]?.sealed }
    const { modifiedCount } = await webhookModel(db).updateOne(seen, { $set: { secrets: sealed } })
    count += modifiedCount
  }
  return count
}

/**
 * Returns the number of webhooks that are off, and the age of the oldest waiting hint in seconds (0 if none is
 * waiting).
 */
export async function webhookState(db: Db, now: Date): Promise<{ off: number; oldestSeconds: number }> {
  const [off, oldest] = await Promise.all([
    webhookModel(db).countDocuments({ enabled: false }),
    webhookDeliveryModel(db).findOne({ status: 'waiting' }, { created_at: 1 }).sort({ created_at: 1 }).lean(),
  ])
  return { off, oldestSeconds: oldest ? (now.getTime() - oldest.created_at.getTime()) / 1000 : 0 }
}
