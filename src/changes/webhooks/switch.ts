import { type Actor, recordAction } from '../../access/audit/store.ts'
import type { AppContext } from '../../http/context.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { inTransaction } from '../../platform/mongo/transactions.ts'
import { parseFeedTime } from '../../versions/format.ts'
import { readHostClock } from '../../versions/host-clock-store.ts'
import { dropWaiting, oldestWaiting } from './deliveries-store.ts'
import type { HintGap, Webhook } from './model.ts'
import type { DisabledReason } from './reasons.ts'
import { changeWebhook, findWebhookIfAny, type WebhookId } from './store.ts'

type Context = Pick<AppContext, 'db' | 'clock'> & { environment: Pick<AppContext['environment'], 'name'> }

/** Returns the name of the transaction queue in which an endpoint's writers take turns. */
export function webhookQueue({ host_id, id }: WebhookId): string {
  return `webhook/${host_id}/${id}`
}

/** Returns the feeds' newest versions, after which a new or re-enabled endpoint's hints begin. */
export async function positionsNow(
  db: Db,
  hostId: number,
): Promise<Pick<Webhook, 'bookings_seen' | 'messages_seen'>> {
  const [bookings_seen, messages_seen] = await Promise.all([
    readHostClock(db, hostId, 'last'),
    readHostClock(db, hostId, 'messages_last'),
  ])
  return { bookings_seen, messages_seen }
}

/**
 * Returns the versions after which changes were not delivered: just before the oldest waiting hint or, if none is
 * waiting, the position up to which hints were made.
 */
export async function undeliveredFrom(db: Db, webhook: Webhook): Promise<HintGap> {
  const oldest = await oldestWaiting(db, webhook)
  const before = (version: string | null, position: Date) =>
    version === null ? position : new Date(parseFeedTime(version).getTime() - 1000)
  return {
    bookings_after: before(oldest['booking.changed'], webhook.bookings_seen),
    messages_after: before(oldest['message.created'], webhook.messages_seen),
  }
}

/** Returns the changed fields of an endpoint that is being turned off. */
async function turnedOff(
  db: Db,
  webhook: Webhook,
  disabled_reason: DisabledReason,
  disabled_at: Date,
): Promise<Partial<Webhook>> {
  const undelivered_since = webhook.undelivered_since ?? (await undeliveredFrom(db, webhook))
  return { enabled: false, disabled_at, disabled_reason, failing_since: null, undelivered_since }
}

/** Returns the changed fields of an endpoint that is being turned on; hints begin with the next change. */
async function turnedOn(db: Db, { host_id, undelivered_since }: Webhook): Promise<Partial<Webhook>> {
  const on = {
    enabled: true,
    disabled_at: null,
    disabled_reason: null,
    undelivered_since: null,
    last_outage: undelivered_since,
  }
  return { ...on, ...(await positionsNow(db, host_id)) }
}

/** Why an endpoint is turned off, and the conditions for doing so. */
export interface TurnOff {
  reason: DisabledReason
  /** URL that the reason concerns; an earlier URL's response does not turn off an endpoint with a new URL. */
  url?: string
  /** Key that the reason concerns; an earlier key's end does not count against the key that took over. */
  createdBy?: number
}

function applies(to: TurnOff | 'on', { enabled, url, created_by }: Webhook): boolean {
  if (to === 'on') return !enabled
  return enabled && (to.url ?? url) === url && (to.createdBy ?? created_by) === created_by
}

/**
 * Turns an endpoint off or on and records this in the audit log; the sandbox has no audit log. Turning an endpoint off
 * drops its waiting hints. Does nothing if the endpoint is already in the wanted state or is gone.
 */
export async function switchWebhook(
  { db, clock, environment }: Context,
  webhook: WebhookId,
  to: TurnOff | 'on',
  {
    actor,
    reason = null,
  }: { actor?: Actor /** Free text for the audit log. */; reason?: string | null } = {},
): Promise<void> {
  const { host_id, id } = webhook
  const now = clock(host_id)
  const found = await findWebhookIfAny(db, webhook)
  if (!found || !applies(to, found)) return
  const values = to === 'on' ? await turnedOn(db, found) : await turnedOff(db, found, to.reason, now)
  const entry = {
    ...{ host_id, at: now, reason, ...(actor ? { actor } : {}) },
    action: to === 'on' ? 'webhooks enable' : 'webhooks disable',
    target: to === 'on' ? `webhook ${id}` : `webhook ${id}: ${to.reason}`,
  }
  await inTransaction(db, webhookQueue(webhook), async (session) => {
    const seen = await findWebhookIfAny(db, webhook, session)
    if (!seen || !applies(to, seen)) return
    await changeWebhook(db, webhook, values, clock(), session)
    if (environment.name === 'live') await recordAction(db, entry, session)
  })
  if (to !== 'on') await dropWaiting(db, webhook, now)
}
