import { partnerActor, recordAction } from '../../access/audit/store.ts'
import { toTimestamp } from '../../core/clock.ts'
import { DomainError, notFound } from '../../core/errors.ts'
import type { AppContext } from '../../http/context.ts'
import type { Caller } from '../../http/request.ts'
import type { Session } from '../../platform/mongo/connection.ts'
import { acquireLease, releaseLease } from '../../platform/mongo/lease.ts'
import { fieldsOf, isSuccess, type PostContext, postInTurn, signPost } from './attempt.ts'
import {
  dropWaiting,
  findWaitingIds,
  insertDelivery,
  newDelivery,
  resendDelivery,
  trimDeliveries,
} from './deliveries-store.ts'
import type { HintGap, Webhook, WebhookDelivery } from './model.ts'
import { type OriginContext, requireTurn } from './origin-limit.ts'
import { type WebhookCreate, type WebhookPatch, webhooksPerHost } from './schema.ts'
import { makeWebhookSecret } from './signature.ts'
import {
  changeWebhook,
  countWebhooks,
  deleteDeliveries,
  deleteWebhook,
  findWebhook,
  inHostTransaction,
  insertWebhook,
  newWebhook,
} from './store.ts'
import { hasUsableKey, positionsNow, turnOff, turnOn, undeliveredFrom } from './switch.ts'

/** How long hints are also signed with the previous secret after a rotation. */
const overlapMilliseconds = 86_400_000
/** Time after which a test's process is presumed dead; longer than any attempt. */
const maxTestMilliseconds = 20_000

/**
 * Creates a webhook for the host. Its hints start with the next change.
 *
 * @throws DomainError `conflict` if the host already has five webhooks
 */
export async function createWebhook(
  app: Pick<AppContext, 'db' | 'clock' | 'secrets' | 'ids' | 'environment'>,
  caller: Caller,
  { url, events }: WebhookCreate,
): Promise<{ webhook: Webhook; secret: string }> {
  const { ownerId, keyId } = caller
  const { db, clock, secrets, ids } = app
  const secret = makeWebhookSecret()
  const id = await ids('webhook')
  const createdAt = clock(ownerId)
  const positions = await positionsNow(db, ownerId)
  const webhook = newWebhook({
    owner_id: ownerId,
    id,
    url,
    events,
    created_by: keyId,
    created_at: createdAt,
    secrets: [{ ...secrets.seal(secret), ends_at: null }],
    bookings_seen: positions.bookings_seen,
    messages_seen: positions.messages_seen,
  })
  await inHostTransaction(db, ownerId, async (session) => {
    if ((await countWebhooks(db, ownerId, session)) >= webhooksPerHost)
      throw new DomainError('conflict', `A host can have at most ${webhooksPerHost} webhooks; delete one`)
    await insertWebhook(db, webhook, session)
    await recordWebhookAction(app, session, { caller, verb: 'create', webhookId: id })
  })
  return { webhook, secret }
}

/**
 * Changes a webhook. If it is turned on, hints start with the next change, and the gap left while it was off is
 * returned, even if the request is repeated. Changing the origin also leaves a gap, because hints that are waiting for
 * the previous origin are dropped. If the webhook's key is no longer usable, the key that turns the webhook on takes
 * it over.
 *
 * @throws DomainError `not_found`; `forbidden` if the webhook belongs to another usable key
 */
export async function patchWebhook(
  app: Pick<AppContext, 'db' | 'liveDb' | 'clock' | 'environment'>,
  caller: Caller,
  id: number | undefined,
  { url, events, enabled }: WebhookPatch,
): Promise<{ webhook: Webhook; gap: HintGap | null }> {
  const { db } = app
  const { ownerId, keyId } = caller
  const found = await findOwnWebhook(app, caller, id)
  const actor = partnerActor(caller)
  const isMoved = url !== undefined && new URL(url).origin !== new URL(found.url).origin
  const dropped = isMoved ? await undeliveredFrom(db, found) : null
  if (enabled === false) await turnOff(app, found, { reason: 'partner' }, { actor })
  const added = (events ?? []).filter((event) => !found.events.includes(event))
  const removed = found.events.filter((event) => events && !events.includes(event))
  const { bookings_seen, messages_seen } = await positionsNow(db, ownerId)
  const values = {
    // An earlier URL's failures do not count against the new URL.
    ...(url === undefined || url === found.url ? {} : { url, failing_since: null }),
    ...(events && added.length + removed.length > 0 ? { events } : {}),
    // Hints for an added event start with the next change, and so do all hints after a change of origin.
    ...(isMoved || added.includes('booking.changed') ? { bookings_seen } : {}),
    ...(isMoved || added.includes('message.created') ? { messages_seen } : {}),
    ...(enabled === true && found.created_by !== keyId ? { created_by: keyId } : {}),
  }
  if (Object.keys(values).length > 0) {
    const unwanted = await inHostTransaction(db, ownerId, async (session) => {
      await recordWebhookAction(app, session, { caller, verb: 'change', webhookId: found.id })
      if (!(await changeWebhook(db, { owner_id: ownerId, id: found.id }, values, session)))
        throw notFound('Webhook')
      return findWaitingIds(db, session, found, isMoved ? undefined : removed)
    })
    await dropWaiting(db, found, unwanted)
  }
  if (enabled === true) await turnOn(app, found, { actor })
  const webhook = await findWebhook(db, ownerId, id)
  return { webhook, gap: dropped ?? (enabled === true ? webhook.last_outage : null) }
}

/**
 * Gives a webhook a new secret. For a day, hints are also signed with the previous secret. At most two secrets are
 * valid at a time.
 */
export async function rotateSecret(
  app: Pick<AppContext, 'db' | 'liveDb' | 'clock' | 'secrets' | 'environment'>,
  caller: Caller,
  id: number | undefined,
): Promise<{ webhook: Webhook; secret: string }> {
  const { db, clock, secrets } = app
  const { owner_id, id: ownId } = await findOwnWebhook(app, caller, id)
  const secret = makeWebhookSecret()
  const webhook = await inHostTransaction(db, owner_id, async (session) => {
    const found = await findWebhook(db, owner_id, ownId, session)
    const ends_at = new Date(clock(owner_id).getTime() + overlapMilliseconds)
    const previous = found.secrets.slice(0, 1).map((current) => ({ ...current, ends_at }))
    const rotated = [{ ...secrets.seal(secret), ends_at: null }, ...previous]
    await recordWebhookAction(app, session, { caller, verb: 'rotate', webhookId: ownId })
    return changeWebhook(db, { owner_id, id: ownId }, { secrets: rotated }, session)
  })
  if (!webhook) throw notFound('Webhook')
  return { webhook, secret }
}

/** Deletes a webhook and its delivery log. */
export async function removeWebhook(
  app: Pick<AppContext, 'db' | 'liveDb' | 'clock' | 'environment'>,
  caller: Caller,
  id: number | undefined,
): Promise<void> {
  const { db } = app
  const found = await findOwnWebhook(app, caller, id)
  await inHostTransaction(db, found.owner_id, async (session) => {
    await deleteWebhook(db, found, session)
    await recordWebhookAction(app, session, { caller, verb: 'delete', webhookId: found.id })
  })
  await deleteDeliveries(db, found)
}

/**
 * Sends one `webhook.test` immediately, even to a webhook that is off, and returns the delivery with its outcome.
 *
 * @throws DomainError `not_found`; `forbidden` if the webhook belongs to another usable key; `conflict` while another
 * test is in progress, if the webhook's key is no longer usable, or if the rate limit would delay the test by more
 * than five seconds
 */
export async function testWebhook(
  app: PostContext & Pick<AppContext, 'liveDb' | 'clockWatch'>,
  caller: Caller,
  id: number | undefined,
): Promise<WebhookDelivery> {
  const { db, clock, clockWatch } = app
  const webhook = await findOwnWebhook(app, caller, id)
  if (!(await hasUsableKey(app, webhook)))
    throw new DomainError(
      'conflict',
      'The key of the webhook is no longer usable; turn the webhook on to take it over',
    )
  const turn = await requireTurn(app, webhook)
  const lease = { name: `webhook-test/${webhook.id}`, owner: crypto.randomUUID() }
  try {
    const now = clockWatch.databaseNow()
    if (!(await acquireLease(db, lease, now, new Date(now.getTime() + maxTestMilliseconds))))
      throw new DomainError('conflict', 'A test of this webhook is in progress; wait for its result')
    const dated = clock(caller.ownerId)
    const delivery = newDelivery({
      webhook,
      payload: { type: 'webhook.test', timestamp: toTimestamp(dated), data: {} },
      now: dated,
      begins: false,
      trace: null,
    })
    const result = await postInTurn(turn, signPost(app, webhook, delivery))
    const done: WebhookDelivery = {
      ...delivery,
      ...fieldsOf(result),
      attempts: 1,
      next_attempt_at: null,
      status: isSuccess(result) ? 'delivered' : 'failed',
    }
    await insertDelivery(db, done)
    await trimDeliveries(db, webhook)
    return done
  } finally {
    turn.giveBack()
    // Releases only a lease that this test holds.
    await releaseLease(db, lease)
  }
}

/**
 * Makes a delivery due again, under the same `webhook-id`.
 *
 * @throws DomainError `not_found`; `forbidden` if the webhook belongs to another usable key; `conflict` if the
 * webhook is off, while the delivery is being attempted, or if the rate limit would delay the request by more than
 * five seconds
 */
export async function resend(
  app: OriginContext & Pick<AppContext, 'db' | 'liveDb' | 'clock'>,
  caller: Caller,
  id: number | undefined,
  deliveryId: string,
): Promise<WebhookDelivery> {
  const { db, clock } = app
  const webhook = await findOwnWebhook(app, caller, id)
  const turn = await requireTurn(app, webhook)
  // The process that sends the hints takes a turn for the post itself.
  turn.giveBack()
  return inHostTransaction(db, caller.ownerId, (session) =>
    resendDelivery(db, session, { webhook, id: deliveryId, now: clock(caller.ownerId) }),
  )
}

/**
 * Returns the host's webhook with this id if the key may change it. A key may change its own webhooks and the
 * webhooks of keys that are no longer usable.
 *
 * @throws DomainError `not_found`; `forbidden` if the webhook belongs to another usable key
 */
async function findOwnWebhook(
  app: Pick<AppContext, 'liveDb' | 'db' | 'clock'>,
  { ownerId, keyId }: Caller,
  id: number | undefined,
): Promise<Webhook> {
  const webhook = await findWebhook(app.db, ownerId, id)
  if (webhook.created_by === keyId || !(await hasUsableKey(app, webhook))) return webhook
  const message = `The webhook belongs to the key with id ${webhook.created_by}; use that key`
  throw new DomainError('forbidden', message, [{ path: 'created_by', code: 'forbidden', message }])
}

/**
 * Records a partner's action on a webhook in the audit log, in the action's transaction. The sandbox has no audit log
 * (decisions §21).
 */
async function recordWebhookAction(
  { db, clock, environment }: Pick<AppContext, 'db' | 'clock' | 'environment'>,
  session: Session,
  { caller, verb, webhookId }: PartnerAction,
): Promise<void> {
  if (environment.name !== 'live') return
  const action = {
    owner_id: caller.ownerId,
    at: clock(),
    action: `webhooks ${verb}`,
    target: `webhook ${webhookId}`,
    actor: partnerActor(caller),
  }
  await recordAction(db, action, session)
}

/** What a partner does to a webhook. */
interface PartnerAction {
  caller: Caller
  verb: 'create' | 'change' | 'rotate' | 'delete'
  webhookId: number
}
