import { partnerActor } from '../../access/audit/store.ts'
import { DomainError } from '../../core/errors.ts'
import { firstFree } from '../../core/first-free.ts'
import type { AppContext } from '../../http/context.ts'
import type { Caller } from '../../http/request.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { isDuplicate } from '../../platform/mongo/errors.ts'
import { inTransaction } from '../../platform/mongo/transactions.ts'
import { dropWaiting } from './deliveries-store.ts'
import type { WebhookEvent } from './hint.ts'
import type { HintGap, Webhook } from './model.ts'
import { findOwnWebhook, recordWebhookAction } from './owner.ts'
import type { WebhookCreate, WebhookPatch } from './schema.ts'
import { makeWebhookSecret } from './signature.ts'
import {
  changeWebhook,
  deleteDeliveries,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  replaceSecrets,
} from './store.ts'
import { positionsNow, switchWebhook, undeliveredFrom, webhookQueue } from './switch.ts'

type Context = Pick<
  AppContext,
  'db' | 'liveDb' | 'clock' | 'config' | 'secrets' | 'ids' | 'webhooks' | 'environment'
>

/** Maximum number of endpoints per host (decisions §21). */
const webhooksPerHost = 5
/** Time for which the previous secret keeps signing after a rotation. */
const overlapMilliseconds = 86_400_000

/**
 * Stores a new endpoint of the host; its hints begin with the next change.
 *
 * @throws DomainError `conflict` if the host already has five endpoints
 */
export async function createWebhook(
  app: Context,
  caller: Caller,
  { url, events }: WebhookCreate,
): Promise<{ webhook: Webhook; secret: string }> {
  const { hostId, keyId } = caller
  const { db, clock, secrets, ids } = app
  const secret = makeWebhookSecret()
  const id = await ids('webhook')
  for (;;) {
    const taken = (await listWebhooks(db, hostId)).map(({ slot }) => slot)
    const slot = firstFree(taken, webhooksPerHost)
    if (slot === undefined)
      throw new DomainError('conflict', `A host has at most ${webhooksPerHost} webhooks; delete one`)
    const webhook: Webhook = {
      ...{ host_id: hostId, id, slot, url, events },
      ...{ enabled: true, disabled_at: null, disabled_reason: null },
      ...{ created_by: keyId, created_at: clock(hostId) },
      secrets: [{ ...secrets.seal(secret), ends_at: null }],
      ...(await positionsNow(db, hostId)),
      ...{ failing_since: null, undelivered_since: null, last_outage: null },
      ...{ testing_until: new Date(0), due_at: clock() },
    }
    try {
      await inTransaction(db, webhookQueue(webhook), async (session) => {
        await insertWebhook(db, webhook, session)
        await recordWebhookAction(app, caller, 'create', id, session)
      })
    } catch (error) {
      // Another request has taken the slot meanwhile.
      if (isDuplicate(error)) continue
      throw error
    }
    app.webhooks.wake()
    return { webhook, secret }
  }
}

/**
 * Changes an endpoint. Turning it on makes hints begin with the next change and returns the gap left while it was off,
 * even if the request is repeated. Waiting hints are not sent to a new origin because they were not meant for it, so a
 * new origin also returns a gap. A key that turns on an endpoint whose key has ended takes the endpoint over.
 *
 * @throws DomainError `not_found`; `forbidden` if the endpoint belongs to another usable key
 */
export async function patchWebhook(
  app: Context,
  caller: Caller,
  id: number | undefined,
  { url, events, enabled }: WebhookPatch,
): Promise<{ webhook: Webhook; gap: HintGap | null }> {
  const { db, clock } = app
  const found = await findOwnWebhook(app, caller, id)
  const actor = partnerActor(caller)
  const isMoved = url !== undefined && new URL(url).origin !== new URL(found.url).origin
  const dropped = isMoved ? await undeliveredFrom(db, found) : null
  if (enabled === false) await switchWebhook(app, found, { reason: 'partner' }, { actor })
  const values = {
    // An earlier URL's failures do not count against the new URL.
    ...(url === undefined || url === found.url ? {} : { url, failing_since: null }),
    ...(events === undefined || isSame(events, found.events)
      ? {}
      : { events, ...(await placesOfAdded(db, found, events)) }),
    ...(enabled === true && found.created_by !== caller.keyId ? { created_by: caller.keyId } : {}),
  }
  const changed =
    Object.keys(values).length === 0
      ? await findWebhook(db, caller.hostId, id)
      : await inTransaction(db, webhookQueue(found), async (session) => {
          await recordWebhookAction(app, caller, 'change', found.id, session)
          return changeWebhook(db, found, values, clock(), session)
        })
  if (isMoved) await dropWaiting(db, found, clock(caller.hostId))
  const removed = found.events.filter((event) => !changed.events.includes(event))
  if (removed.length > 0) await dropWaiting(db, found, clock(caller.hostId), removed)
  if (enabled === true) await switchWebhook(app, found, 'on', { actor })
  app.webhooks.wake()
  const webhook = enabled === true ? await findWebhook(db, caller.hostId, id) : changed
  return { webhook, gap: dropped ?? (enabled === true ? webhook.last_outage : null) }
}

function isSame(events: WebhookEvent[], others: WebhookEvent[]): boolean {
  return events.length === others.length && events.every((event) => others.includes(event))
}

/** Returns the feed positions for added events, whose hints begin with the next change. */
async function placesOfAdded(db: Db, found: Webhook, events: WebhookEvent[]): Promise<Partial<Webhook>> {
  const isAdded = (event: WebhookEvent) => events.includes(event) && !found.events.includes(event)
  const { bookings_seen, messages_seen } = await positionsNow(db, found.host_id)
  return {
    ...(isAdded('booking.changed') ? { bookings_seen } : {}),
    ...(isAdded('message.created') ? { messages_seen } : {}),
  }
}

/** Gives an endpoint a new secret. The previous secret also signs for a day; at most two secrets sign. */
export async function rotateSecret(
  app: Context,
  caller: Caller,
  id: number | undefined,
): Promise<{ webhook: Webhook; secret: string }> {
  const { db, clock, secrets } = app
  const secret = makeWebhookSecret()
  for (;;) {
    const found = await findOwnWebhook(app, caller, id)
    const ends_at = new Date(clock(caller.hostId).getTime() + overlapMilliseconds)
    const kept = found.secrets.slice(0, 1).map((current) => ({ ...current, ends_at }))
    const rotated = [{ ...secrets.seal(secret), ends_at: null }, ...kept]
    const webhook = await inTransaction(db, webhookQueue(found), async (session) => {
      const replaced = await replaceSecrets(db, found, rotated, session)
      if (replaced) await recordWebhookAction(app, caller, 'rotate', found.id, session)
      return replaced
    })
    if (webhook) return { webhook, secret }
  }
}

/** Deletes an endpoint and its delivery log. */
export async function removeWebhook(app: Context, caller: Caller, id: number | undefined): Promise<void> {
  const { db } = app
  const found = await findOwnWebhook(app, caller, id)
  await inTransaction(db, webhookQueue(found), async (session) => {
    await deleteWebhook(db, found, session)
    await recordWebhookAction(app, caller, 'delete', found.id, session)
  })
  await deleteDeliveries(db, found)
}
