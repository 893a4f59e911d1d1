import type { AppContext } from '../../../http/context.ts'
import type { Caller } from '../../../http/request.ts'
import { deleteDeliveries, deleteWebhook, inHostTransaction } from '../store.ts'
import { findOwnWebhook, recordWebhookAction } from './own.ts'

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
