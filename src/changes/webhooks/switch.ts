import { type Action, type Actor, recordAction, serviceActor } from '../../access/audit/store.ts'
import { findSuspendedHostIds } from '../../access/hosts/store.ts'
import type { ApiKey } from '../../access/keys/model.ts'
import { keyStatus } from '../../access/keys/status.ts'
import { findExpiredKeyIds, findKeysByIds } from '../../access/keys/store.ts'
import { parseFeedTime } from '../../host-clock/format.ts'
import { readHostClock } from '../../host-clock/store.ts'
import type { AppContext } from '../../http/context.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { dropWaiting, findWaitingIds, oldestWaiting } from './deliveries-store.ts'
import type { WebhookEvent } from './hint.ts'
import type { HintGap, Webhook } from './model.ts'
import type { DisabledReason } from './schema.ts'
import {
  changeWebhook,
  findEnabledWebhooks,
  findWebhookIfAny,
  inHostTransaction,
  type Positions,
  type WebhookId,
} from './store.ts'

/** The context for turning webhooks on and off. Without the name `live`, nothing is recorded in the audit log. */
export type SwitchContext = Pick<AppContext, 'db' | 'clock'> & {
  environment: Pick<AppContext['environment'], 'name'>
}

/** Returns the feeds' latest versions, after which a new or re-enabled webhook's hints start. */
export async function positionsNow(db: Db, ownerId: number): Promise<Positions> {
  const [bookings_seen, messages_seen] = await Promise.all([
    readHostClock(db, ownerId, 'last'),
    readHostClock(db, ownerId, 'messages_last'),
  ])
  return { bookings_seen, messages_seen }
}

/**
 * Returns, for each feed, the version after which hints have not been delivered. This is the version just before the
 * oldest waiting hint's or, if no hint is waiting, the version up to which hints have been created.
 */
export async function undeliveredFrom(db: Db, webhook: Webhook): Promise<HintGap> {
  const after = async (event: WebhookEvent, position: Date) => {
    const version = await oldestWaiting(db, webhook, event)
    return version === null ? position : new Date(parseFeedTime(version).getTime() - 1000)
  }
  return {
    bookings_after: await after('booking.changed', webhook.bookings_seen),
    messages_after: await after('message.created', webhook.messages_seen),
  }
}

/** The reason for turning off a webhook, and the conditions that must still hold. */
export interface TurnOff {
  reason: DisabledReason
  /** URL that the reason concerns; a response from an earlier URL does not turn off a webhook with a new URL. */
  url?: string
  /**
   * Key that the reason concerns; an earlier key that is no longer usable does not turn off a webhook that another
   * key has taken over.
   */
  created_by?: number
}

/** Who turned a webhook on or off, for the audit log. */
interface SwitchedBy {
  /** The administrator who runs the command if omitted. */
  actor?: Actor
  /** Free text. */
  reason?: string | null
}

/**
 * Turns a webhook on, drops its waiting hints, and records this in the audit log, except in the sandbox, which has no
 * audit log. Hints start with the next change. Does nothing if the webhook is already on or is gone.
 */
export async function turnOn(app: SwitchContext, webhook: WebhookId, by: SwitchedBy = {}): Promise<void> {
  const { db, clock } = app
  const { owner_id, id } = webhook
  const now = clock(owner_id)
  const found = await findWebhookIfAny(db, { owner_id, id })
  if (!found || found.enabled) return
  const positions = await positionsNow(db, owner_id)
  await changeSwitch(app, {
    seen: { owner_id, id, enabled: false },
    values: {
      enabled: true,
      disabled_at: null,
      disabled_reason: null,
      bookings_seen: positions.bookings_seen,
      messages_seen: positions.messages_seen,
      undelivered_since: null,
      last_outage: found.undelivered_since,
    },
    action: {
      owner_id,
      at: now,
      action: 'webhooks enable',
      target: `webhook ${id}`,
      reason: by.reason ?? null,
      ...(by.actor ? { actor: by.actor } : {}),
    },
  })
}

/**
 * Turns a webhook off, drops its waiting hints, and records this in the audit log, except in the sandbox, which has no
 * audit log. Does nothing if the webhook is already off or is gone, or if one of the conditions no longer holds.
 */
export async function turnOff(
  app: SwitchContext,
  webhook: WebhookId,
  { reason, ...conditions }: TurnOff,
  by: SwitchedBy = {},
): Promise<void> {
  const { db, clock } = app
  const { owner_id, id } = webhook
  const now = clock(owner_id)
  const found = await findWebhookIfAny(db, { owner_id, id })
  if (!found?.enabled) return
  await changeSwitch(app, {
    seen: { owner_id, id, enabled: true, ...conditions },
    values: {
      enabled: false,
      disabled_at: now,
      disabled_reason: reason,
      failing_since: null,
      undelivered_since: found.undelivered_since ?? (await undeliveredFrom(db, found)),
    },
    action: {
      owner_id,
      at: now,
      action: 'webhooks disable',
      target: `webhook ${id}: ${reason}`,
      reason: by.reason ?? null,
      ...(by.actor ? { actor: by.actor } : {}),
    },
  })
}

/** A change that turns a webhook on or off. */
interface SwitchChange {
  /** Values that the webhook must still have. */
  seen: WebhookId & Partial<Webhook>
  values: Partial<Webhook>
  action: Action
}

/** Applies a change, drops the webhook's waiting hints, and records the action, if the webhook is as it was seen. */
async function changeSwitch(
  { db, environment }: SwitchContext,
  { seen, values, action }: SwitchChange,
): Promise<void> {
  const { owner_id, id } = seen
  const dropped = await inHostTransaction(db, owner_id, async (session) => {
    const changed = await changeWebhook(db, seen, values, session)
    if (!changed) return []
    if (environment.name === 'live') await recordAction(db, action, session)
    return findWaitingIds(db, session, { owner_id, id })
  })
  await dropWaiting(db, { owner_id, id }, dropped)
}

/** Turns off a webhook because of its responses or failures, or because its key is no longer usable. */
export function turnOffForService(
  app: SwitchContext,
  { owner_id, id, url, created_by }: Webhook,
  reason: 'gone' | 'failing' | 'key_ended',
): Promise<void> {
  return turnOff(app, { owner_id, id }, { reason, url, created_by }, { actor: serviceActor() })
}

/** Returns true if the key is active and may read bookings. */
export function isUsable(key: ApiKey, now: Date): boolean {
  return keyStatus(key, now) === 'active' && key.permissions.includes('bookings.read')
}

/** Returns the ids of the given keys that are usable and whose hosts are not suspended (decisions §21). */
export async function usableKeys(
  { liveDb, clock }: Pick<AppContext, 'liveDb' | 'clock'>,
  ids: number[],
): Promise<Set<number>> {
  if (ids.length === 0) return new Set()
  const keys = (await findKeysByIds(liveDb, ids)).filter((key) => isUsable(key, clock()))
  const suspended = await findSuspendedHostIds(
    liveDb,
    keys.map(({ host_id }) => host_id),
  )
  return new Set(keys.filter(({ host_id }) => !suspended.includes(host_id)).map(({ id }) => id))
}

/**
 * Returns true if the webhook's key is usable and its host is not suspended; otherwise the webhook gets no hints
 * (decisions §21).
 */
export async function hasUsableKey(
  app: Pick<AppContext, 'liveDb' | 'clock'>,
  { created_by }: Pick<Webhook, 'created_by'>,
): Promise<boolean> {
  return (await usableKeys(app, [created_by])).has(created_by)
}

/**
 * Turns off the webhooks of keys that have expired since the given time (decisions §21). The worker calls this every
 * three seconds, so a webhook is turned off soon after its key expires, even if there are no hints to send. Commands
 * that make a key unusable turn off the key's webhooks themselves. The sandbox is skipped, because only the key itself
 * can see its webhooks there, and they get no hints once the key is no longer usable.
 */
export async function turnOffExpired(app: SwitchContext, since: Date): Promise<void> {
  if (app.environment.name === 'live')
    await turnOffForKeys(app, await findExpiredKeyIds(app.db, since, app.clock()))
}

/** Turns off the webhooks of keys that are no longer usable. */
export async function turnOffForKeys(app: SwitchContext, keys: number[]): Promise<void> {
  if (keys.length === 0) return
  for (const { owner_id, id, created_by } of await findEnabledWebhooks(app.db, { keys }))
    await turnOff(app, { owner_id, id }, { reason: 'key_ended', created_by }, { actor: serviceActor() })
}
