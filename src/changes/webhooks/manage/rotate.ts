import { notFound } from '../../../core/errors.ts'
import type { AppContext } from '../../../http/context.ts'
import type { Caller } from '../../../http/request.ts'
import type { Webhook } from '../model.ts'
import { makeWebhookSecret } from '../signature.ts'
import { changeWebhook, findWebhook, inHostTransaction } from '../store.ts'
import { findOwnWebhook, recordWebhookAction } from './own.ts'

/** How long hints are also signed with the previous secret after a rotation. */
const overlapMilliseconds = 86_400_000

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
