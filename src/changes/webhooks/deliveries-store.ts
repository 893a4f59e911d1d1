import { Types } from 'mongoose'
import { DomainError, notFound } from '../../core/errors.ts'
import { keepNewest } from '../../platform/mongo/collections.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { type WebhookEvent, webhookEvents } from './hint.ts'
import { type Webhook, type WebhookDelivery, webhookDeliveryModel } from './model.ts'
import type { WebhookId } from './store.ts'

/** How many deliveries a partner sees of an endpoint (decisions §21). */
export const shownDeliveries = 100
const keptMilliseconds = 7 * 86_400_000

/** Filter for one endpoint's deliveries. */
export const ofWebhook = ({ host_id, id: webhook_id }: WebhookId) => ({ host_id, webhook_id })

/** The id of a delivery, and its `webhook-id`: stays through retries and resends. */
export function deliveryId({ _id }: Pick<WebhookDelivery, '_id'>): string {
  return `msg_${_id.toHexString()}`
}

/** A delivery that was not tried yet. */
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

/** The oldest versions that hints wait for; null where none waits. */
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

/** Gives up what waits since before a moment, of some events: what was tried stays in the log. */
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

/** The deliveries of an endpoint that are being tried, by whichever process; not those given up for lost. */
export function findInFlight(
  db: Db,
  webhook: WebhookId,
  now: Date,
): Promise<Pick<WebhookDelivery, '_id' | 'booking_id'>[]> {
  const trying = { ...ofWebhook(webhook), status: 'waiting', in_flight: true, next_attempt_at: { $gt: now } }
  return webhookDeliveryModel(db).find(trying, { booking_id: 1 }).lean()
}

/** A delivery with a next try. */
export type WaitingDelivery = WebhookDelivery & { next_attempt_at: Date }

/** The deliveries whose next try is the first, none of a booking that is being tried, nor one that is kept no longer. */
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
 * Begins a try of each of some deliveries of an endpoint: if this process dies, they are due again at `lostAt`. Returns
 * those that were begun; not one that has changed since it was found, or that another process has begun.
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

/** What became of a try. */
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
 * Stores what became of tries: of one that failed, when the next is, unless the delivery was given up meanwhile; of one that
 * was taken, that it was, in any case.
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

/** The hints of changes of a host's bookings from a moment on, to whichever endpoint, oldest first. */
export function findBookingHints(db: Db, hostId: number, since: Date): Promise<WebhookDelivery[]> {
  return webhookDeliveryModel(db)
    .find({ host_id: hostId, event: 'booking.changed', created_at: { $gte: since } })
    .sort({ _id: 1 })
    .lean()
}

/** The latest deliveries of an endpoint, newest first. */
export function listDeliveries(db: Db, webhook: WebhookId, now: Date): Promise<WebhookDelivery[]> {
  return webhookDeliveryModel(db)
    .find({ ...ofWebhook(webhook), expires_at: { $gt: now } })
    .sort({ _id: -1 })
    .limit(shownDeliveries)
    .lean()
}

/** Removes what is not shown any more, as far as it does not wait. */
export async function trimDeliveries(db: Db, webhook: WebhookId): Promise<void> {
  const ended = { ...ofWebhook(webhook), status: { $ne: 'waiting' } }
  await keepNewest(webhookDeliveryModel(db), ended, shownDeliveries)
}

/**
 * Makes a delivery due again, under the same `webhook-id`.
 *
 * @throws DomainError `not_found`, also for anything that is not an id; `conflict` while it is being tried, and for an
 * endpoint that is off
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
