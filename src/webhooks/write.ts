import { partnerActor } from '../admin/store.ts'
import type { AppContext } from '../context.ts'
import { DomainError, invalidFields } from '../errors.ts'
import type { Caller } from '../http/caller.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { isSuccess, postDelivery } from './attempt.ts'
import {
  dropWaiting,
  insertDelivery,
  newDelivery,
  resendDelivery,
  trimDeliveries,
} from './deliveries-store.ts'
import type { WebhookEvent } from './hint.ts'
import type { HintGap, Webhook, WebhookDelivery } from './model.ts'
import { urlProblems, type WebhookCreate, type WebhookPatch } from './schema.ts'
import { makeWebhookSecret } from './signature.ts'
import {
  beginTest,
  changeWebhook,
  endTest,
  findWebhook,
  insertWebhook,
  listWebhooks,
  replaceSecrets,
} from './store.ts'
import { placesNow, switchWebhook } from './switch.ts'

type Context = Pick<AppContext, 'db' | 'clock' | 'config' | 'secrets' | 'ids' | 'webhooks' | 'environment'>

/** Endpoints that a host may have (decisions §21). */
const webhooksPerHost = 5
/** Longer than any try: after it a test whose process has died is no longer waited for. */
const longestTestMilliseconds = 20_000
/** How long the secret of before signs too, after a rotation. */
const overlapMilliseconds = 86_400_000

function requireUrl({ config }: Pick<Context, 'config'>, url: string): void {
  const problems = urlProblems(url, config.webhooksAllowPrivate)
  if (problems.length > 0) throw invalidFields(problems)
}

/**
 * Stores a new endpoint of the host; hints begin with what comes next.
 *
 * @throws DomainError `validation` at `url`; `conflict` when the host has five
 */
export async function createWebhook(
  app: Context,
  { hostId, keyId }: Caller,
  { url, events }: WebhookCreate,
): Promise<{ webhook: Webhook; secret: string }> {
  requireUrl(app, url)
  const { db, clock, secrets, ids } = app
  const secret = makeWebhookSecret()
  const id = await ids('webhook')
  for (;;) {
    const taken = new Set((await listWebhooks(db, hostId)).map(({ slot }) => slot))
    const slot = Array.from({ length: webhooksPerHost }, (_, index) => index).find(
      (index) => !taken.has(index),
    )
    if (slot === undefined)
      throw new DomainError('conflict', `A host has at most ${webhooksPerHost} webhooks; delete one`)
    const webhook: Webhook = {
      ...{ host_id: hostId, id, slot, url, events },
      ...{ enabled: true, disabled_at: null, disabled_reason: null },
      ...{ created_by: keyId, created_at: clock() },
      secrets: [{ ...secrets.seal(secret), ends_at: null }],
      ...(await placesNow(db, hostId)),
      ...{ failing_since: null, missed: null, gap: null, testing_until: new Date(0), nudged_at: clock() },
      ...{ lane_owner: null, lane_until: new Date(0) },
    }
    if (await insertWebhook(db, webhook)) {
      app.webhooks.wake()
      return { webhook, secret }
    }
  }
}

/**
 * Changes an endpoint. Turned on, it begins with what comes next, and says what it missed when it was off the last time,
 * also to one who asks again.
 *
 * @throws DomainError `not_found`; `validation` at `url`
 */
export async function patchWebhook(
  app: Context,
  caller: Caller,
  id: number | undefined,
  { url, events, enabled }: WebhookPatch,
): Promise<{ webhook: Webhook; gap: HintGap | null }> {
  const { db, clock } = app
  if (url !== undefined) requireUrl(app, url)
  const found = await findWebhook(db, caller.hostId, id)
  const actor = partnerActor(caller)
  if (enabled === false) await switchWebhook(app, found, { reason: 'partner' }, actor)
  const values = {
    // What an earlier address did says nothing of this one.
    ...(url === undefined || url === found.url ? {} : { url, failing_since: null }),
    ...(events === undefined ? {} : { events, ...(await placesOfAdded(db, found, events)) }),
  }
  const changed = await changeWebhook(db, found, values, clock())
  const removed = found.events.filter((event) => !changed.events.includes(event))
  if (removed.length > 0) await dropWaiting(db, found, clock(), removed)
  if (enabled === true) await switchWebhook(app, found, 'on', actor)
  app.webhooks.wake()
  const webhook = enabled === true ? await findWebhook(db, caller.hostId, id) : changed
  return { webhook, gap: enabled === true ? webhook.gap : null }
}

/** An event that is added begins with what comes next. */
async function placesOfAdded(db: Db, found: Webhook, events: WebhookEvent[]): Promise<Partial<Webhook>> {
  const isAdded = (event: WebhookEvent) => events.includes(event) && !found.events.includes(event)
  const { bookings_seen, messages_seen } = await placesNow(db, found.host_id)
  return {
    ...(isAdded('booking.changed') ? { bookings_seen } : {}),
    ...(isAdded('message.created') ? { messages_seen } : {}),
  }
}

/** Gives an endpoint a new secret; the one of before signs beside it for a day. At most two sign. */
export async function rotateSecret(
  { db, clock, secrets }: Context,
  hostId: number,
  id: number | undefined,
): Promise<{ webhook: Webhook; secret: string }> {
  const secret = makeWebhookSecret()
  for (;;) {
    const found = await findWebhook(db, hostId, id)
    const ends_at = new Date(clock().getTime() + overlapMilliseconds)
    const kept = found.secrets.slice(0, 1).map((current) => ({ ...current, ends_at }))
    const rotated = [{ ...secrets.seal(secret), ends_at: null }, ...kept]
    const webhook = await replaceSecrets(db, found, rotated)
    if (webhook) return { webhook, secret }
  }
}

/** Sends a `webhook.test` now, once, also to an endpoint that is off; returns what became of it. */
export async function testWebhook(
  app: Context,
  hostId: number,
  id: number | undefined,
): Promise<WebhookDelivery> {
  const webhook = await findWebhook(app.db, hostId, id)
  const now = app.clock()
  if (!(await beginTest(app.db, webhook, now, new Date(now.getTime() + longestTestMilliseconds))))
    throw new DomainError('conflict', 'A test of this webhook is on its way: wait for its answer')
  const payload = { type: 'webhook.test', timestamp: `${now.toISOString().slice(0, 19)}Z`, data: {} } as const
  const delivery = newDelivery(webhook, payload, now)
  const result = await postDelivery(app, webhook, delivery)
  const done: WebhookDelivery = {
    ...delivery,
    status: isSuccess(result) ? 'delivered' : 'failed',
    attempts: 1,
    response_status: result.status,
    milliseconds: result.milliseconds,
    error: result.failure,
    next_attempt_at: null,
  }
  await insertDelivery(app.db, done)
  await endTest(app.db, webhook, now)
  await trimDeliveries(app.db, webhook)
  return done
}

/**
 * Makes a delivery due again, under the same `webhook-id`.
 *
 * @throws DomainError `not_found`; `conflict` for an endpoint that is off
 */
export async function resend(
  { db, clock, webhooks }: Context,
  hostId: number,
  id: number | undefined,
  deliveryId: string,
): Promise<WebhookDelivery> {
  const webhook = await findWebhook(db, hostId, id)
  if (!webhook.enabled) throw new DomainError('conflict', 'The webhook is off: turn it on first')
  const delivery = await resendDelivery(db, webhook, deliveryId, clock())
  await changeWebhook(db, webhook, {}, clock())
  webhooks.wake()
  return delivery
}
