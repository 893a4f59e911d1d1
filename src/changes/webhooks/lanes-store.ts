import type { Db } from '../../platform/mongo/connection.ts'
import { findClocks } from '../../versions/change-store.ts'
import { type Webhook, webhookModel } from './model.ts'
import type { WebhookId } from './store.ts'

/** An endpoint as it was found, and whose lease it is under. */
export type FoundWebhook = Pick<Webhook, 'host_id' | 'id' | 'lane_owner' | 'lane_until'>

const found = { _id: 0, host_id: 1, id: 1, lane_owner: 1, lane_until: 1 }

/** The endpoints of some hosts that are on, free or not. */
export function findOfHosts(db: Db, hostIds: number[]): Promise<FoundWebhook[]> {
  return webhookModel(db)
    .find({ host_id: { $in: hostIds }, enabled: true }, found)
    .lean()
}

/**
 * Endpoints at which something is due and that no living process holds, longest due first.
 *
 * @param now by the clock that dates what is due
 * @param leaseNow by the database's clock
 */
export function findDue(db: Db, now: Date, leaseNow: Date, limit: number): Promise<FoundWebhook[]> {
  return webhookModel(db)
    .find({ due_at: { $lte: now }, lane_until: { $lte: leaseNow }, enabled: true }, found)
    .sort({ due_at: 1 })
    .limit(limit)
    .lean()
}

const endpointsPerLook = 1000

/** The hosts of which something is newer than what was hinted. */
export async function findHostsBehind(db: Db): Promise<number[]> {
  const behind = new Set<number>()
  const cursor = webhookModel(db)
    .find({ enabled: true }, { _id: 0, host_id: 1, events: 1, bookings_seen: 1, messages_seen: 1 })
    .lean()
    .cursor({ batchSize: endpointsPerLook })
  let page: Pick<Webhook, 'host_id' | 'events' | 'bookings_seen' | 'messages_seen'>[] = []
  const compare = async () => {
    const hosts = page.map(({ host_id }) => host_id)
    const clocks = new Map((await findClocks(db, hosts)).map((clock) => [clock._id, clock]))
    for (const { host_id, events, bookings_seen, messages_seen } of page) {
      const { last = 0, messages_last = 0 } = clocks.get(host_id) ?? {}
      const isBehind = (event: Webhook['events'][number], seconds: number, seen: Date) =>
        events.includes(event) && seconds * 1000 > seen.getTime()
      if (isBehind('booking.changed', last, bookings_seen)) behind.add(host_id)
      if (isBehind('message.created', messages_last, messages_seen)) behind.add(host_id)
    }
    page = []
  }
  for await (const webhook of cursor) if (page.push(webhook) >= endpointsPerLook) await compare()
  await compare()
  return [...behind]
}

/** Claims an endpoint that nobody holds; false where another process was faster. */
export async function claimLane(
  db: Db,
  owner: string,
  { host_id, id, lane_until }: FoundWebhook,
  until: Date,
  now: Date,
): Promise<boolean> {
  // Due all the while: whoever finds it after this process has died looks at it.
  const { modifiedCount } = await webhookModel(db).updateOne(
    { host_id, id, enabled: true, lane_until },
    { $set: { lane_owner: owner, lane_until: until, due_at: now } },
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

/**
 * Gives an endpoint back.
 *
 * @param nudged_at as last seen: whoever has wanted something of it since has it looked at again
 * @param due_at when it is to be looked at; null for not until its host moves
 */
export async function releaseLane(
  db: Db,
  owner: string,
  { host_id, id }: WebhookId,
  nudged_at: Date,
  due_at: Date | null,
): Promise<void> {
  const own = { host_id, id, lane_owner: owner }
  const free = { lane_owner: null, lane_until: new Date(0) }
  const { matchedCount } = await webhookModel(db).updateOne(
    { ...own, nudged_at },
    { $set: { ...free, due_at } },
  )
  if (matchedCount === 0) await webhookModel(db).updateOne(own, { $set: free })
}
