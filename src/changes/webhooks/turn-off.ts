import { type Action, type Actor, recordAction, serviceActor } from '../../access/audit/store.ts'
import { findExpiredKeyIds } from '../../access/keys/store.ts'
import { parseFeedTime } from '../../host-clock/format.ts'
import type { AppContext } from '../../http/context.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { dropWaiting, findWaitingIds, oldestWaiting } from './deliveries-store.ts'
import type { WebhookEvent } from './hint.ts'
import type { DisabledReason, HintGap, Webhook } from './model.ts'
import {
  changeWebhook,
  findEnabledWebhooks,
  findWebhookIfAny,
  inHostTransaction,
  type WebhookId,
} from './store.ts'

/** The context for turning webhooks on and off. Without the name `live`, nothing is recorded in the audit log. */
export type SwitchContext = Pick<AppContext, 'db' | 'clock'> & {
  environment: Pick<AppContext['environment'], 'name'>
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
export interface SwitchedBy {
  /** The administrator who runs the command if omitted. */
  actor?: Actor
  /** Free text. */
  reason?: string | null
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

/** Turns off a webhook because of its responses or failures, or because its key is no longer usable. */
export function turnOffForService(
  app: SwitchContext,
  { owner_id, id, url, created_by }: Webhook,
  reason: 'gone' | 'failing' | 'key_ended',
): Promise<void> {
  return turnOff(app, { owner_id, id }, { reason, url, created_by }, { actor: serviceActor() })
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

/** A change that turns a webhook on or off. */
interface SwitchChange {
  /** Values that the webhook must still have. */
  seen: WebhookId & Partial<Webhook>
  values: Partial<Webhook>
  action: Action
}

/** Applies a change, drops the webhook's waiting hints, and records the action, if the webhook is as it was seen. */
export async function changeSwitch(
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
