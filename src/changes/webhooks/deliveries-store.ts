import { Types } from 'mongoose'
import { DomainError, notFound } from '../../core/errors.ts'
import { keepNewest } from '../../platform/mongo/collections.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { type WebhookEvent, webhookEvents } from './hint.ts'
import { type Webhook, type WebhookDelivery, webhookDeliveryModel } from './model.ts'
import type { WebhookId } from './store.ts'

/** Number of an endpoint's deliveries that a partner sees (decisions §21). */
export const shownDeliveries = 100
const keptMilliseconds = 7 * 86_400_000

/** Returns the filter for one endpoint's deliveries. */
export const ofWebhook = ({ host_id, id: webhook_id }: WebhookId) => ({ host_id, webhook_id })

/** Returns a delivery's id, which is also its `webhook-id` and stays the same through retries and resends. */
export function deliveryId({ _id }: Pick<WebhookDelivery, '_id'>): string {
  return `msg_${_id.toHexString()}`
}

/** Returns a delivery that has not been attempted yet. */
export function newDelivery(
  webhook: WebhookId,
  payload: WebhookDelivery['payload'],
  now: Date,
): WebhookDelivery {
  return {
    _id: new Types.ObjectId(),
    ...ofWebhook(webhook),
    event: payload.type,
    payload,
    booking_id: payload.type === 'webhook.test' ? null : payload.data.booking_id,
    status: 'waiting',
    attempts: 0,
    in_flight: false,
    response_status: null,
    milliseconds: null,
    error: null,
    error_detail: null,
    fault: null,
    course_fault: null,
    extra_status: null,
    next_attempt_at: now,
    created_at: now,
    expires_at: new Date(now.getTime() + keptMilliseconds),
  }
}

/** Returns the oldest version among the waiting hints of each event; null if none is waiting. */
export async function oldestWaiting(
  db: Db,
  webhook: WebhookId,
): Promise<Record<WebhookEvent, string | null>> {
  const oldest: { _id: WebhookEvent; version: string }[] = await webhookDeliveryModel(db).aggregate([
    { $match: { ...ofWebhook(webhook), status: 'waiting', event: { $in: [...webhookEvents] } } },
    { $group: { _id: '$event', version: { $min: '$payload.data.version' } } },
  ])
  const of = (event: WebhookEvent) => oldest.find(({ _id }) => _id === event)?.version ?? null
  return { 'booking.changed': of('booking.changed'), 'message.created': of('message.created') }
}

/**
 * Gives up the waiting hints of some events that were created no later than `before`. Hints that were attempted stay in
 * the log as `failed`; the others are deleted.
 */
export async function dropWaiting(
  db: Db,
  webhook: WebhookId,
  before: Date,
  events: readonly WebhookEvent[] = webhookEvents,
): Promise<void> {
  const which = { created_at: { $lte: before }, event: { $in: [...events] } }
  const waiting = { ...ofWebhook(webhook), status: 'waiting', ...which } as const
  await webhookDeliveryModel(db).deleteMany({ ...waiting, attempts: 0 })
  await webhookDeliveryModel(db).updateMany(waiting, { $set: { status: 'failed', next_attempt_at: null } })
}

/** Stores a delivery. */
export async function insertDelivery(db: Db, delivery: WebhookDelivery): Promise<void> {
  await webhookDeliveryModel(db).create(delivery)
}

/** Returns an endpoint's deliveries that any process is attempting, except attempts presumed lost. */
export function findInFlight(
  db: Db,
  webhook: WebhookId,
  now: Date,
): Promise<Pick<WebhookDelivery, '_id' | 'booking_id'>[]> {
  const trying = { ...ofWebhook(webhook), status: 'waiting', in_flight: true, next_attempt_at: { $gt: now } }
  return webhookDeliveryModel(db).find(trying, { booking_id: 1 }).lean()
}

/** A delivery with a next attempt. */
export type WaitingDelivery = WebhookDelivery & { next_attempt_at: Date }

/** Returns the unexpired deliveries with the earliest next attempts, except those of bookings in `busy`. */
export function findWaiting(
  db: Db,
  webhook: WebhookId,
  { now, busy }: { now: Date; busy: number[] },
  limit: number,
): Promise<WaitingDelivery[]> {
  const waiting = { ...ofWebhook(webhook), status: 'waiting' }
  return webhookDeliveryModel(db)
    .collection.find<WaitingDelivery>({ ...waiting, booking_id: { $nin: busy }, expires_at: { $gt: now } })
    .sort({ next_attempt_at: 1, _id: 1 })
    .limit(limit)
    .toArray()
}

/**
 * Begins one attempt of each given delivery of an endpoint. If this process dies, the deliveries are due again at
 * `lostAt`. Returns the deliveries whose attempts have begun. Deliveries that have changed since they were found, or
 * that another process is attempting, are left out.
 */
export async function beginTries(
  db: Db,
  webhook: WebhookId,
  found: WaitingDelivery[],
  lostAt: Date,
): Promise<WaitingDelivery[]> {
  const asFound = found.map(({ _id, next_attempt_at, payload }) => ({ _id, next_attempt_at, payload }))
  const begun = { next_attempt_at: lostAt, in_flight: true }
  const { modifiedCount } = await webhookDeliveryModel(db).collection.updateMany(
    { ...ofWebhook(webhook), status: 'waiting', $or: asFound },
    { $set: begun, $inc: { attempts: 1 } },
  )
  if (modifiedCount === found.length)
    return found.map((delivery) => ({ ...delivery, ...begun, attempts: delivery.attempts + 1 }))
  const ids = found.map(({ _id }) => _id)
  return webhookDeliveryModel(db)
    .find({ ...ofWebhook(webhook), _id: { $in: ids }, ...begun })
    .lean<WaitingDelivery[]>()
}

/** The outcome of an attempt. */
export type Outcome = Pick<
  WebhookDelivery,
  | '_id'
  | 'host_id'
  | 'status'
  | 'response_status'
  | 'milliseconds'
  | 'error'
  | 'error_detail'
  | 'next_attempt_at'
> &
  Partial<Pick<WebhookDelivery, 'fault' | 'course_fault' | 'extra_status'>>

/**
 * Stores the outcomes of attempts. A successful attempt always marks its delivery as delivered. A failed attempt sets
 * the delivery's status and next attempt unless the delivery was given up meanwhile.
 */
export async function endTries(db: Db, outcomes: readonly Outcome[]): Promise<void> {
  const writes = outcomes.flatMap(({ _id, host_id, status, next_attempt_at, ...seen }) => {
    const ended = { ...seen, in_flight: false }
    const set = (state: Partial<WebhookDelivery>, change: Partial<WebhookDelivery>) => ({
      updateOne: { filter: { _id, host_id, ...state }, update: { $set: change } },
    })
    const whole = { ...ended, status, next_attempt_at }
    if (status === 'delivered') return [set({}, whole)]
    return [set({ status: 'waiting' }, whole), set({ in_flight: true }, ended)]
  })
  await webhookDeliveryModel(db).collection.bulkWrite(writes)
}

/** Returns the hints about changes to a host's bookings since a given time, for all endpoints, oldest first. */
export function findBookingHints(db: Db, hostId: number, since: Date): Promise<WebhookDelivery[]> {
  return webhookDeliveryModel(db)
    .find({ host_id: hostId, event: 'booking.changed', created_at: { $gte: since } })
    .sort({ _id: 1 })
    .lean()
}

/** Returns an endpoint's latest deliveries, newest first. */
export function listDeliveries(db: Db, webhook: WebhookId, now: Date): Promise<WebhookDelivery[]> {
  return webhookDeliveryModel(db)
    .find({ ...ofWebhook(webhook), expires_at: { $gt: now } })
    .sort({ _id: -1 })
    .limit(shownDeliveries)
    .lean()
}

/** Deletes an endpoint's finished deliveries except the newest ones, which are shown. */
export async function trimDeliveries(db: Db, webhook: WebhookId): Promise<void> {
  const ended = { ...ofWebhook(webhook), status: { $ne: 'waiting' } }
  await keepNewest(webhookDeliveryModel(db), ended, shownDeliveries)
}

/**
 * Makes a delivery due again, under the same `webhook-id`.
 *
 * @throws DomainError `not_found`, even for text that is not an id; `conflict` while the delivery is being attempted,
 * and if the endpoint is off
 */
export async function resendDelivery(
  db: Db,
  webhook: Webhook,
  id: string,
  now: Date,
): Promise<WebhookDelivery> {
  const [, hex] = /^msg_([0-9a-f]{24})$/.exec(id) ?? []
  if (hex === undefined) throw notFound('Delivery')
  const found = { ...ofWebhook(webhook), _id: new Types.ObjectId(hex), expires_at: { $gt: now } }
  if (!webhook.enabled) {
    if (!(await webhookDeliveryModel(db).exists(found))) throw notFound('Delivery')
    throw new DomainError('conflict', 'The webhook is off: turn it on first')
  }
  const again = { status: 'waiting', next_attempt_at: now } as const
  const delivery = await webhookDeliveryModel(db)
    .findOneAndUpdate({ ...found, in_flight: false }, { $set: again }, { new: true })
    .lean()
  if (delivery) return delivery
  if (await webhookDeliveryModel(db).exists(found))
    throw new DomainError('conflict', 'The delivery is being tried right now: see what becomes of it first')
  throw notFound('Delivery')
}
