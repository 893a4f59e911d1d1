import { partnerActor, recordAction } from '../../access/audit/store.ts'
import type { Caller } from '../../http/caller.ts'
import type { AppContext } from '../../http/context.ts'
import type { Session } from '../../platform/mongo/connection.ts'

/** Notes what a partner did to an endpoint, in the transaction of it; the sandbox has no audit (decisions §21). */
export async function recordWebhookAction(
  { db, clock, environment }: Pick<AppContext, 'db' | 'clock'> & { environment: { name: string } },
  caller: Caller,
  action: 'create' | 'change' | 'rotate' | 'delete',
  webhookId: number,
  session: Session,
): Promise<void> {
  if (environment.name !== 'live') return
  const entry = { action: `webhooks ${action}`, target: `webhook ${webhookId}`, actor: partnerActor(caller) }
  await recordAction(db, { host_id: caller.hostId, at: clock(), ...entry }, session)
}
