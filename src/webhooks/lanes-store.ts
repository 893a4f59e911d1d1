import type { Db } from '../platform/mongo/connection.ts'
import { type Webhook, webhookModel } from './model.ts'
import type { WebhookId } from './store.ts'

/** Endpoints looked at for some to claim. */
const candidates = 50

/** An endpoint as it was found, whose lease is over. */
export type FreeWebhook = Pick<Webhook, 'host_id' | 'id' | 'lane_until'>

/** Endpoints that are on and that no living process sends the hints of. */
export function findFree(db: Db, now: Date, limit: number): Promise<FreeWebhook[]> {
  return webhookModel(db)
    .find({ enabled: true, lane_until: { $lte: now } }, { _id: 0, host_id: 1, id: 1, lane_until: 1 })
    .limit(Math.min(limit, candidates))
    .lean()
}

/** Claims an endpoint; false where another process was faster. */
export async function claimLane(
  db: Db,
  owner: string,
  { host_id, id, lane_until }: FreeWebhook,
  until: Date,
): Promise<boolean> {
  const { modifiedCount } = await webhookModel(db).updateOne(
    { host_id, id, enabled: true, lane_until },
    { $set: { lane_owner: owner, lane_until: until } },
  )
  return modifiedCount === 1
}

/** Holds on to the endpoints of a process; those that another one has claimed meanwhile are lost. */
export async function renewLanes(db: Db, owner: string, until: Date): Promise<void> {
  await webhookModel(db).updateMany({ lane_owner: owner }, { $set: { lane_until: until } })
}

/** The endpoints that a process holds, and when somebody last wanted something of them. */
export function findHeld(db: Db, owner: string): Promise<Pick<Webhook, 'host_id' | 'id' | 'nudged_at'>[]> {
  return webhookModel(db).find({ lane_owner: owner }, { _id: 0, host_id: 1, id: 1, nudged_at: 1 }).lean()
}

/** Gives an endpoint back, so that another process can claim it at once. */
export async function releaseLane(db: Db, owner: string, { host_id, id }: WebhookId): Promise<void> {
  await webhookModel(db).updateOne(
    { host_id, id, lane_owner: owner },
    { $set: { lane_owner: null, lane_until: new Date(0) } },
  )
}
