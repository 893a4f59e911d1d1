/**
 * What sending reads and writes of the stored deliveries, in this order: a round counts those that wait, a look finds
 * those in flight and those that are due, one transaction marks attempts as begun and adds new hints, and an attempt stores its outcome.
 * An alarm is a delivery like a hint, except that its own transaction adds it (`addAlarms`).
 */

import { Types } from 'mongoose'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { inProgress, newDelivery, webhookFilter } from './deliveries-store.ts'
import type { Hint } from './hint.ts'
import { type Webhook, type WebhookDelivery, webhookDeliveryModel } from './model.ts'
import type { WebhookId } from './store.ts'

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

/** Booking ids of a webhook's deliveries in flight, by delivery id; null for a test and for an alarm. */
export type InFlight = ReadonlyMap<string, number | null>

/** The stored hints that a look for a webhook's hints finds. */
export interface FoundHints {
  /** Deliveries in flight in any process. */
  inFlight: InFlight
  /** Due deliveries, most overdue first. */
  due: WaitingDelivery[]
}

/**
 * Reads the stored hints of a webhook. Other processes' attempts count as in flight too, because a process may have
 * lost the lease or died during its attempts.
 *
 * @param ownInFlight this process's attempts
 * @param waiting number of waiting hints, including those in flight; nothing else is in flight if there are no others
 */
export async function findHints(
  db: Db,
  webhook: WebhookId,
  {
    waiting,
    ownInFlight,
    hasDue,
    limit,
  }: { waiting: number; ownInFlight: InFlight; hasDue: boolean; limit: number },
  now: Date,
): Promise<FoundHints> {
  const others = waiting > ownInFlight.size ? await findInFlight(db, webhook, now) : []
  const inFlight = new Map([...others, ...ownInFlight])
  const due = hasDue ? await findDue(db, webhook, { inFlight, now, limit }) : []
  return { inFlight, due }
}

/** Returns a webhook's deliveries that are in flight in any process, except those whose attempt is presumed lost. */
async function findInFlight(db: Db, webhook: WebhookId, now: Date): Promise<InFlight> {
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
function findDue(
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

/** A new hint for a webhook. */
export interface HintToStore {
  webhook: Webhook
  hint: Hint
  trace: string | null
  /** True if its first attempt begins now; otherwise, it waits for an attempt for its booking to end. */
  begins: boolean
}

/**
 * Stores new hints, and returns those whose first attempt begins. A `booking.changed` hint that is to wait replaces the
 * booking's earlier waiting hint, unless that hint has already been attempted. Message hints are never merged.
 */
export async function addHints(
  db: Db,
  session: Session,
  hints: HintToStore[],
  now: Date,
): Promise<WebhookDelivery[]> {
  const deliveries = hints.map(({ webhook, hint, trace, begins }) =>
    newDelivery({ webhook, payload: hint, now, begins, trace }),
  )
  const writes = deliveries.map((hint) => {
    const { owner_id, webhook_id, booking_id, event, status, attempts, payload, trace, ...others } = hint
    if (event !== 'booking.changed' || attempts > 0) return { insertOne: { document: hint } }
    const filter = { owner_id, webhook_id, booking_id, event, status, attempts }
    return { updateOne: { filter, update: { $set: { payload, trace }, $setOnInsert: others }, upsert: true } }
  })
  await webhookDeliveryModel(db).collection.bulkWrite(writes, { session })
  return deliveries.filter(({ in_flight }) => in_flight)
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
