import { DomainError } from '../../../core/errors.ts'
import type { AppContext } from '../../../http/context.ts'
import type { Caller } from '../../../http/request.ts'
import type { Webhook } from '../model.ts'
import { makeWebhookSecret } from '../signature.ts'
import {
  countWebhooks,
  inHostTransaction,
  insertWebhook,
  newWebhook,
  positionsNow,
  webhooksPerHost,
} from '../store.ts'
import { recordWebhookAction } from './own.ts'
import type { WebhookCreate } from './schema.ts'

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
