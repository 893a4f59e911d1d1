import type { Types } from 'mongoose'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { newDelivery, ofWebhook } from './deliveries-store.ts'
import type { Hint } from './hint.ts'
import { type Webhook, type WebhookDelivery, webhookDeliveryModel, webhookModel } from './model.ts'
import type { WebhookId } from './store.ts'

/** How many hints wait for one endpoint at most. */
const maxWaiting = 10_000

/** Which of the hints that are made can be tried at once, by the process that makes them. */
export interface AtOnce {
  /** How many. */
  room: number
  /** Bookings that are being tried. */
  busyBookings: number[]
  /** When such a try is given up for lost. */
  lostAt: Date
}

/**
 * Adds hints, and moves the position up to which they were made, in one transaction: a process that dies leaves both or
 * none. A change of a booking replaces the hint of an earlier one that was not tried yet; messages never merge.
 *
 * @returns the deliveries whose first try has begun; null where the position has moved: another process makes the hints
 */
export async function addHints(
  db: Db,
  session: Session,
  webhook: Webhook,
  seen: Pick<Webhook, 'bookings_seen' | 'messages_seen'>,
  hints: Hint[],
  now: Date,
  atOnce: AtOnce,
): Promise<WebhookDelivery[] | null> {
  const { host_id, id, bookings_seen, messages_seen, lane_owner } = webhook
  const position = { host_id, id, enabled: true, lane_owner, bookings_seen, messages_seen }
  const { matchedCount } = await webhookModel(db).updateOne(position, { $set: seen }, { session })
  if (matchedCount === 0) return null
  const replaced = await replaceUntried(db, session, webhook, hints)
  const fresh = hints
    .filter(({ type, data }) => type !== 'booking.changed' || !replaced.has(data.booking_id))
    .map((hint) => newDelivery(webhook, hint, now))
  const begun = beginAtOnce(fresh, atOnce)
  if (fresh.length > 0) await webhookDeliveryModel(db).collection.insertMany(fresh as never[], { session })
  return begun
}

/** Puts changes in the place of those that were not tried yet; returns the bookings of which there was one. */
async function replaceUntried(
  db: Db,
  session: Session,
  webhook: WebhookId,
  hints: Hint[],
): Promise<Set<number>> {
  const changes = new Map(
    hints.filter(({ type }) => type === 'booking.changed').map((hint) => [hint.data.booking_id, hint]),
  )
  if (changes.size === 0) return new Set()
  const { collection } = webhookDeliveryModel(db)
  const untried = { ...ofWebhook(webhook), event: 'booking.changed', status: 'waiting', attempts: 0 }
  const found = await collection
    .find<{ _id: Types.ObjectId; booking_id: number }>(
      { ...untried, booking_id: { $in: [...changes.keys()] } },
      { session, projection: { booking_id: 1 } },
    )
    .toArray()
  const writes = found.map(({ _id, booking_id }) => ({
    updateOne: {
      filter: { _id, host_id: webhook.host_id },
      update: { $set: { payload: changes.get(booking_id) } },
    },
  }))
  if (writes.length > 0) await collection.bulkWrite(writes, { session })
  return new Set(found.map(({ booking_id }) => booking_id))
}

/** Notes the first try of those that can be tried at once; one of each booking. */
function beginAtOnce(fresh: WebhookDelivery[], { room, busyBookings, lostAt }: AtOnce): WebhookDelivery[] {
  const busy = new Set(busyBookings)
  const begun: WebhookDelivery[] = []
  for (const delivery of fresh) {
    if (begun.length >= room || busy.has(delivery.booking_id as number)) continue
    busy.add(delivery.booking_id as number)
    begun.push(Object.assign(delivery, { attempts: 1, in_flight: true, next_attempt_at: lostAt }))
  }
  return begun
}

/** True where so many hints wait that no more are made: what comes next waits in the feeds. */
export async function isBackedUp(db: Db, webhook: WebhookId): Promise<boolean> {
  const waiting = { ...ofWebhook(webhook), status: 'waiting' } as const
  return (await webhookDeliveryModel(db).countDocuments(waiting, { limit: maxWaiting })) >= maxWaiting
}
