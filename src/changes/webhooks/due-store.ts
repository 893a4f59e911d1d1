import type { Db } from '../../platform/mongo/connection.ts'
import { type Webhook, webhookModel } from './model.ts'
import type { WebhookId } from './store.ts'

/** Endpoints at which something is due, longest due first. */
export function findDue(db: Db, now: Date, limit: number): Promise<WebhookId[]> {
  return webhookModel(db)
    .find({ due_at: { $lte: now }, enabled: true }, { _id: 0, host_id: 1, id: 1 })
    .sort({ due_at: 1 })
    .limit(limit)
    .lean()
}

/** Has all endpoints of a host that are on looked at, whenever something was due there. */
export async function makeAllDue(db: Db, host_id: number, now: Date): Promise<void> {
  await webhookModel(db).updateMany({ host_id, enabled: true }, { $set: { due_at: now } })
}

/** Takes an endpoint to send to it; if this process dies, it is due again at `until`. Null for one that is off or gone. */
export function takeDue(db: Db, { host_id, id }: WebhookId, until: Date): Promise<Webhook | null> {
  return webhookModel(db).collection.findOneAndUpdate(
    { host_id, id, enabled: true },
    { $set: { due_at: until } },
    { returnDocument: 'after', projection: { _id: 0 } },
  ) as Promise<Webhook | null>
}

/** An endpoint that was taken until `taken`, and when something is due there next: null for not until its host moves. */
export interface Left extends WebhookId {
  taken: Date
  due_at: Date | null
}

/** Leaves endpoints that were taken, except where somebody has wanted something since: these are due already. */
export async function leaveDue(db: Db, left: readonly Left[]): Promise<void> {
  const writes = left.map(({ host_id, id, taken, due_at }) => ({
    updateOne: { filter: { host_id, id, due_at: taken }, update: { $set: { due_at } } },
  }))
  await webhookModel(db).collection.bulkWrite(writes)
}
