import type { Db } from '../../platform/mongo/connection.ts'
import { type Webhook, webhookModel } from './model.ts'
import type { WebhookId } from './store.ts'

/** Returns the endpoints that are due, longest overdue first. */
export function findDue(db: Db, now: Date, limit: number): Promise<WebhookId[]> {
  return webhookModel(db)
    .find({ due_at: { $lte: now }, enabled: true }, { _id: 0, host_id: 1, id: 1 })
    .sort({ due_at: 1 })
    .limit(limit)
    .lean()
}

/** Makes all of a host's endpoints that are on due now, whatever their due times were. */
export async function makeAllDue(db: Db, host_id: number, now: Date): Promise<void> {
  await webhookModel(db).updateMany({ host_id, enabled: true }, { $set: { due_at: now } })
}

/** Claims an endpoint until `until`, when it is due again if this process dies. Returns null if it is off or gone. */
export function takeDue(db: Db, { host_id, id }: WebhookId, until: Date): Promise<Webhook | null> {
  return webhookModel(db).collection.findOneAndUpdate(
    { host_id, id, enabled: true },
    { $set: { due_at: until } },
    { returnDocument: 'after', projection: { _id: 0 } },
  ) as Promise<Webhook | null>
}

/** An endpoint claimed until `taken`, and its next due time; null if nothing is due until its host's feeds move. */
export interface Left extends WebhookId {
  taken: Date
  due_at: Date | null
}

/** Releases claimed endpoints. An endpoint that was made due since the claim keeps its due time. */
export async function leaveDue(db: Db, left: readonly Left[]): Promise<void> {
  const writes = left.map(({ host_id, id, taken, due_at }) => ({
    updateOne: { filter: { host_id, id, due_at: taken }, update: { $set: { due_at } } },
  }))
  await webhookModel(db).collection.bulkWrite(writes)
}
