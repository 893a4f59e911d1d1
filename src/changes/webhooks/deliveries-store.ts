import { Types } from 'mongoose'
import { DomainError, notFound } from '../../core/errors.ts'
import { keepNewest } from '../../platform/mongo/collections.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { type Hint, isHintEvent, type WebhookEvent, webhookEvents } from './hint.ts'
import { type Webhook, type WebhookDelivery, webhookDeliveryModel } from './model.ts'
import type { WebhookId } from './store.ts'

/** Maximum number of a webhook's deliveries that are shown to a partner (decisions §21). */
export const shownDeliveries = 100
const keptMilliseconds = 7 * 86_400_000

/** Returns the filter for one webhook's deliveries. */
const webhookFilter = ({ owner_id, id: webhook_id }: WebhookId) => ({ owner_id, webhook_id })

/** Returns a delivery's id, which is also its `webhook-id` and stays the same through retries and resends. */
export function deliveryId({ _id }: Pick<WebhookDelivery, '_id'>): string {
  return `msg_${_id.toHexString()}`
}

/** Time after which a dead process's attempt is repeated; longer than any attempt, and less than 30 s. */
const lostMilliseconds = 20_000

/** Returns the fields that mark a delivery as in progress. The delivery becomes due again if this process dies. */
const inProgress = (now: Date) => ({
  in_flight: true,
  next_attempt_at: new Date(now.getTime() + lostMilliseconds),
})

/** What is known of a delivery when it is created. */
interface NewDelivery {
  webhook: WebhookId
  payload: WebhookDelivery['payload']
  now: Date
  /** True if the first attempt starts now; otherwise, the delivery is due. */
  begins: boolean
  trace: string | null
}

function isHint(payload: WebhookDelivery['payload']): payload is Hint {
  return isHintEvent(payload.type)
}

/** Returns a new delivery. */
export function newDelivery({ webhook, payload, now, begins, trace }: NewDelivery): WebhookDelivery {
  return {
    _id: new Types.ObjectId(),
    ...webhookFilter(webhook),
    event: payload.type,
    payload,
    booking_id: isHint(payload) ? payload.data.booking_id : null,
    status: 'waiting',
    attempts: begins ? 1 : 0,
    response_status: null,
    milliseconds: null,
    error: null,
    error_detail: null,
    fault: null,
    hidden_fault: null,
    extra_status: null,
    trace,
    ...(begins ? inProgress(now) : { in_flight: false, next_attempt_at: now }),
    created_at: now,
    expires_at: new Date(now.getTime() + keptMilliseconds),
  }
}

/**
 * Stores new hints. A `booking.changed` hint that is to wait replaces the booking's earlier waiting hint, unless that
 * hint has already been attempted. Message hints are never merged.
 */
export async function addHints(db: Db, session: Session, hints: WebhookDelivery[]): Promise<void> {
  const writes = hints.map((hint) => {
    const { owner_id, webhook_id, booking_id, event, status, attempts, payload, trace, ...others } = hint
    if (event !== 'booking.changed' || attempts > 0) return { insertOne: { document: hint } }
    const filter = { owner_id, webhook_id, booking_id, event, status, attempts }
    return { updateOne: { filter, update: { $set: { payload, trace }, $setOnInsert: others }, upsert: true } }
  })
  await webhookDeliveryModel(db).collection.bulkWrite(writes, { session })
}

/**
 * Stores alarms, which are due at once and never merged. The transaction moves the host's clock, and that makes the
 * sender look for them.
 */
export async function addAlarms(db: Db, session: Session, alarms: WebhookDelivery[]): Promise<void> {
  if (alarms.length > 0) await webhookDeliveryModel(db).collection.insertMany(alarms, { session })
}

/** Returns the ids of the webhooks to which the opening of an alarm has been neither delivered nor given up. */
export async function findWaitingOpenings(
  db: Db,
  session: Session | null,
  { owner_id, id }: { owner_id: number; id: number },
  now: Date,
): Promise<number[]> {
  const opening = { owner_id, event: 'alarm.opened', 'payload.data.alarm_id': id }
  // An expired delivery is never attempted again.
  const waiting = { ...opening, status: 'waiting', expires_at: { $gt: now } }
  const options = { projection: { webhook_id: 1 }, ...(session ? { session } : {}) }
  const found = await webhookDeliveryModel(db)
    .collection.find<Pick<WebhookDelivery, 'webhook_id'>>(waiting, options)
    .toArray()
  return found.map(({ webhook_id }) => webhook_id)
}

/** Returns the oldest version among a webhook's waiting hints for an event; null if none is waiting. */
export async function oldestWaiting(db: Db, webhook: WebhookId, event: WebhookEvent): Promise<string | null> {
  const oldest = await webhookDeliveryModel(db)
    .collection.find<{ payload: Hint }>({ ...webhookFilter(webhook), status: 'waiting', event })
    .sort({ 'payload.data.version': 1 })
    .limit(1)
    .next()
  return oldest?.payload.data.version ?? null
}

/**
 * Returns the ids of a webhook's waiting hints for the given events. Read in the transaction that changes the
 * webhook, they include every hint that a concurrent check has stored for the webhook as it was.
 */
export async function findWaitingIds(
  db: Db,
  session: Session,
  webhook: WebhookId,
  events: readonly WebhookEvent[] = webhookEvents,
): Promise<Types.ObjectId[]> {
  const waiting = { ...webhookFilter(webhook), status: 'waiting', event: { $in: [...events] } }
  const found = webhookDeliveryModel(db).collection.find(waiting, { projection: { _id: 1 }, session })
  return (await found.toArray()).map(({ _id }) => _id)
}

/** Drops waiting hints. Hints that have been attempted stay in the log as `failed`; the others are deleted. */
export async function dropWaiting(db: Db, webhook: WebhookId, ids: Types.ObjectId[]): Promise<void> {
  if (ids.length === 0) return
  const { collection } = webhookDeliveryModel(db)
  const waiting = { ...webhookFilter(webhook), status: 'waiting', _id: { $in: ids } }
  await collection.deleteMany({ ...waiting, attempts: 0 })
  // A hint in flight keeps the time at which its attempt is presumed lost, after which the hint can be resent.
  await collection.updateMany({ ...waiting, in_flight: true }, { $set: { status: 'failed' } })
  await collection.updateMany(waiting, { $set: { status: 'failed', next_attempt_at: null } })
}

/** Stores a delivery. */
export async function insertDelivery(db: Db, delivery: WebhookDelivery): Promise<void> {
  await webhookDeliveryModel(db).create(delivery)
}

/**
 * Returns the number of waiting deliveries and the time of the earliest next attempt for each of the hosts' webhooks
 * that has waiting deliveries.
 */
export function countWaiting(
  db: Db,
  hostIds: number[],
): Promise<{ _id: WebhookId; count: number; next: Date }[]> {
  const _id = { owner_id: '$owner_id', id: '$webhook_id' }
  return webhookDeliveryModel(db)
    .collection.aggregate<{ _id: WebhookId; count: number; next: Date }>([
      { $match: { status: 'waiting', owner_id: { $in: hostIds } } },
      { $group: { _id, count: { $sum: 1 }, next: { $min: '$next_attempt_at' } } },
    ])
    .toArray()
}

/** A delivery whose next attempt is scheduled. */
export type WaitingDelivery = WebhookDelivery & { next_attempt_at: Date }

/** Booking ids of a webhook's deliveries in flight, by delivery id; null for a test. */
export type InFlight = Map<string, number | null>

/** Returns a webhook's deliveries that are in flight in any process, except those whose attempt is presumed lost. */
export async function findInFlight(db: Db, webhook: WebhookId, now: Date): Promise<InFlight> {
  const trying = {
    ...webhookFilter(webhook),
    status: 'waiting',
    in_flight: true,
    next_attempt_at: { $gt: now },
  }
  const found = await webhookDeliveryModel(db)
    .collection.find<WebhookDelivery>(trying, { projection: { booking_id: 1 } })
    .toArray()
  return new Map(found.map(({ _id, booking_id }) => [String(_id), booking_id]))
}

/**
 * Returns a webhook's due deliveries, most overdue first, except those that have expired and those for a booking that
 * already has a delivery in flight.
 */
export function findDue(
  db: Db,
  webhook: WebhookId,
  { inFlight, now, limit }: { inFlight: InFlight; now: Date; limit: number },
): Promise<WaitingDelivery[]> {
  const ids = [...inFlight.keys()].map((id) => new Types.ObjectId(id))
  const bookings = [...inFlight.values()].filter((booking) => booking !== null)
  return webhookDeliveryModel(db)
    .collection.find<WaitingDelivery>({
      ...webhookFilter(webhook),
      status: 'waiting',
      next_attempt_at: { $lte: now },
      expires_at: { $gt: now },
      _id: { $nin: ids },
      booking_id: { $nin: bookings },
    })
    .sort({ next_attempt_at: 1, _id: 1 })
    .limit(limit)
    .toArray()
}

/** Gives up a webhook's waiting deliveries that have expired. */
export async function giveUpExpired(db: Db, webhook: WebhookId, now: Date): Promise<void> {
  await webhookDeliveryModel(db).collection.updateMany(
    { ...webhookFilter(webhook), status: 'waiting', expires_at: { $lte: now } },
    { $set: { status: 'failed', in_flight: false, next_attempt_at: null } },
  )
}

/**
 * Marks a host's due deliveries as in flight, and returns the marked deliveries. Skips deliveries that have been
 * dropped or that another process is attempting.
 */
export async function beginAttempts(
  db: Db,
  session: Session,
  { ownerId, due, now }: { ownerId: number; due: WaitingDelivery[]; now: Date },
): Promise<WebhookDelivery[]> {
  const { collection } = webhookDeliveryModel(db)
  const these = { owner_id: ownerId, _id: { $in: due.map(({ _id }) => _id) } }
  const begun = inProgress(now)
  await collection.updateMany(
    { ...these, status: 'waiting', next_attempt_at: { $lte: now } },
    { $set: begun, $inc: { attempts: 1 } },
    { session },
  )
  // A hint may have been replaced by a newer hint after it was found, so the marked deliveries are read again.
  return collection.find<WebhookDelivery>({ ...these, ...begun }, { session }).toArray()
}

/** The outcome of an attempt. */
export type Outcome = Pick<WebhookDelivery, '_id' | 'owner_id' | 'status' | 'next_attempt_at'> &
  Partial<WebhookDelivery>

/**
 * Stores the outcomes of attempts. A successful attempt always marks its delivery as delivered. A failed attempt sets
 * the delivery's status and next attempt unless the delivery was dropped in the meantime.
 */
export async function endAttempts(db: Db, outcomes: readonly Outcome[]): Promise<void> {
  const writes = outcomes.flatMap(({ _id, owner_id, status, next_attempt_at, ...seen }) => {
    const ended = { ...seen, in_flight: false }
    const set = (state: Partial<WebhookDelivery>, change: Partial<WebhookDelivery>) => ({
      updateOne: { filter: { _id, owner_id, ...state }, update: { $set: change } },
    })
    const whole = { ...ended, status, next_attempt_at }
    if (status === 'delivered') return [set({}, whole)]
    return [set({ status: 'waiting' }, whole), set({ in_flight: true }, { ...ended, next_attempt_at: null })]
  })
  await webhookDeliveryModel(db).collection.bulkWrite(writes)
}

/** Returns the `booking.changed` hints created for a host's webhooks since a given time, oldest first. */
export function findBookingHints(db: Db, ownerId: number, since: Date): Promise<WebhookDelivery[]> {
  return webhookDeliveryModel(db)
    .find({ owner_id: ownerId, event: 'booking.changed', created_at: { $gte: since } })
    .sort({ _id: 1 })
    .lean()
}

/** Returns a webhook's latest deliveries, newest first. */
export function listDeliveries(db: Db, webhook: WebhookId, now: Date): Promise<WebhookDelivery[]> {
  return webhookDeliveryModel(db)
    .find({ ...webhookFilter(webhook), expires_at: { $gt: now } })
    .sort({ _id: -1 })
    .limit(shownDeliveries)
    .lean()
}

/** Deletes a webhook's finished deliveries, except the newest, which partners can see. */
export async function trimDeliveries(db: Db, webhook: WebhookId): Promise<void> {
  const ended = { ...webhookFilter(webhook), status: { $ne: 'waiting' } }
  await keepNewest(webhookDeliveryModel(db), ended, shownDeliveries)
}

/**
 * Makes a delivery due again, under the same `webhook-id`.
 *
 * @throws DomainError `not_found`, even for text that is not an id; `conflict` while the delivery is being attempted,
 * or if the webhook is off
 */
export async function resendDelivery(
  db: Db,
  session: Session,
  { webhook, id, now }: { webhook: Webhook; id: string; now: Date },
): Promise<WebhookDelivery> {
  const [, hex] = /^msg_([0-9a-f]{24})$/.exec(id) ?? []
  const found = { ...webhookFilter(webhook), _id: new Types.ObjectId(hex), expires_at: { $gt: now } }
  if (hex === undefined || !(await webhookDeliveryModel(db).exists(found).session(session)))
    throw notFound('Delivery')
  if (!webhook.enabled) throw new DomainError('conflict', 'The webhook is off; turn it on first')
  const again = { status: 'waiting', in_flight: false, next_attempt_at: now } as const
  const notInFlight = [{ in_flight: false }, { next_attempt_at: { $lte: now } }]
  const delivery = await webhookDeliveryModel(db)
    .findOneAndUpdate({ ...found, $or: notInFlight }, { $set: again }, { new: true, session })
    .lean()
  if (delivery) return delivery
  throw new DomainError('conflict', 'The delivery is being attempted; wait for the outcome')
}
