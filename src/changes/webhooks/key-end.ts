import { serviceActor } from '../../access/audit/store.ts'
import { findExpiredKeyIds } from '../../access/keys/store.ts'
import type { AppContext } from '../../http/context.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { findWebhooksOfKeys } from './store.ts'
import { switchWebhook } from './switch.ts'

type Context = Pick<AppContext, 'db' | 'clock'> & { environment: Pick<AppContext['environment'], 'name'> }

/** Time up to which expired keys have been processed, by database. */
const looked = new WeakMap<Db, Date>()
/** Overlap of successive looks, because the clocks of processes differ by at most a minute. */
const marginMilliseconds = 120_000
/** Minimum interval between two looks for expired keys. */
const lookEveryMilliseconds = 2000

/**
 * Turns off the endpoints of expired keys (decisions §21). An endpoint is off within 5 s of its key's end, even if
 * there is nothing to send to it. A command that ends a key turns off the key's endpoints itself. The sandbox is left
 * out because only the key itself sees its endpoints there, and nothing is sent to them after the key has ended.
 */
export async function turnOffEnded(app: Context): Promise<void> {
  if (app.environment.name !== 'live') return
  const now = app.clock()
  const before = looked.get(app.db)
  if (before && Math.abs(now.getTime() - before.getTime()) < lookEveryMilliseconds) return
  const after = before ? new Date(before.getTime() - marginMilliseconds) : new Date(0)
  await turnOffOfKeys(app, await findExpiredKeyIds(app.db, after, now))
  looked.set(app.db, now)
}

/** Turns off the endpoints of keys that have ended. */
export async function turnOffOfKeys(app: Context, keyIds: number[]): Promise<void> {
  if (keyIds.length === 0) return
  for (const webhook of await findWebhooksOfKeys(app.db, keyIds))
    await switchWebhook(
      app,
      webhook,
      { reason: 'key_ended', createdBy: webhook.created_by },
      { actor: serviceActor() },
    )
}
