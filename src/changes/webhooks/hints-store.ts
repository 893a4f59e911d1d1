import type { Types } from 'mongoose'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { busy } from '../../platform/mongo/errors.ts'
import { findClocks } from '../../versions/change-store.ts'
import { newDelivery, ofWebhook } from './deliveries-store.ts'
import type { Hint } from './hint.ts'
import { type Webhook, webhookDeliveryModel, webhookModel } from './model.ts'
import type { WebhookId } from './store.ts'

/** Maximum number of waiting hints per endpoint. */
const maxWaiting = 10_000

/** New hints for one endpoint. */
export interface News {
  webhook: Webhook
  hints: Hint[]
  /** The versions up to which `hints` is complete. */
  seen: Pick<Webhook, 'bookings_seen' | 'messages_seen'>
}

/** The time at which endpoints are due and the time that dates their hints; a sandbox's clock may be ahead. */
export interface HintTimes {
  due: Date
  dated: Date
}

/**
 * Adds hints for one host's endpoints and moves the endpoints' positions in one transaction, so that a process that
 * dies leaves both changes or neither. A booking's new change replaces the hint of an earlier change if that hint
 * was not attempted yet. Message hints are never merged.
 *
 * @throws DomainError `conflict` if a position has moved because another process has made hints
 */
export async function addHints(
  db: Db,
  session: Session,
  host_id: number,
  news: News[],
  { due, dated }: HintTimes,
): Promise<void> {
  const moves = news.map(({ webhook: { id, bookings_seen, messages_seen }, seen }) => ({
    updateOne: {
      filter: { host_id, id, enabled: true, bookings_seen, messages_seen },
      update: { $set: { ...seen, due_at: due } },
    },
  }))
  const { matchedCount } = await webhookModel(db).collection.bulkWrite(moves, { session })
  if (matchedCount < news.length) throw busy()
  const replaced = await replaceUntried(db, session, host_id, news)
  const fresh = news.flatMap(({ webhook, hints }) =>
    hints
      .filter(({ type, data }) => type !== 'booking.changed' || !replaced.has(nameOf(webhook.id, data)))
      .map((hint) => newDelivery(webhook, hint, dated)),
  )
  if (fresh.length > 0) await webhookDeliveryModel(db).collection.insertMany(fresh as never[], { session })
}

function nameOf(webhookId: number, { booking_id }: Pick<Hint['data'], 'booking_id'>): string {
  return `${webhookId}/${booking_id}`
}

/** Replaces booking hints that were not attempted yet. Returns the names of the replaced hints. */
async function replaceUntried(db: Db, session: Session, host_id: number, news: News[]): Promise<Set<string>> {
  const changes = new Map(
    news.flatMap(({ webhook, hints }) =>
      hints
        .filter(({ type }) => type === 'booking.changed')
        .map((hint) => [nameOf(webhook.id, hint.data), hint] as const),
    ),
  )
  if (changes.size === 0) return new Set()
  const { collection } = webhookDeliveryModel(db)
  const untried = { event: 'booking.changed', status: 'waiting', attempts: 0 }
  const webhook_id = { $in: news.map(({ webhook }) => webhook.id) }
  const booking_id = { $in: [...new Set([...changes.values()].map(({ data }) => data.booking_id))] }
  const found = await collection
    .find<{ _id: Types.ObjectId; webhook_id: number; booking_id: number }>(
      { host_id, webhook_id, booking_id, ...untried },
      { session, projection: { webhook_id: 1, booking_id: 1 } },
    )
    .toArray()
  const replaced = found.filter((one) => changes.has(nameOf(one.webhook_id, one)))
  const writes = replaced.map((one) => ({
    updateOne: {
      filter: { _id: one._id, host_id },
      update: { $set: { payload: changes.get(nameOf(one.webhook_id, one)) } },
    },
  }))
  if (writes.length > 0) await collection.bulkWrite(writes, { session })
  return new Set(replaced.map((one) => nameOf(one.webhook_id, one)))
}

/** Returns true if so many hints are waiting that no more are made; further changes wait in the feeds. */
export async function isBackedUp(db: Db, webhook: WebhookId): Promise<boolean> {
  const waiting = { ...ofWebhook(webhook), status: 'waiting' } as const
  return (await webhookDeliveryModel(db).countDocuments(waiting, { limit: maxWaiting })) >= maxWaiting
}

/** Returns the given hosts' endpoints that are on. */
export function findOfHosts(db: Db, hostIds: number[]): Promise<Webhook[]> {
  return webhookModel(db)
    .collection.find<Webhook>({ host_id: { $in: hostIds }, enabled: true }, { projection: { _id: 0 } })
    .toArray()
}

const endpointsPerLook = 1000

/** Returns the hosts with changes newer than the position of one of their endpoints. */
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
