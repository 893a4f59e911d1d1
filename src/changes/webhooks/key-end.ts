import { serviceActor } from '../../access/audit/store.ts'
import { findExpiredKeyIds } from '../../access/keys/store.ts'
import type { AppContext } from '../../http/context.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { findWebhooksOfKeys } from './store.ts'
import { switchWebhook } from './switch.ts'

type Context = Pick<AppContext, 'db' | 'clock'> & { environment: Pick<AppContext['environment'], 'name'> }

/** Up to when the keys that expired were looked at, by database. */
const looked = new WeakMap<Db, Date>()
/** Clocks of processes differ by at most a minute. */
const marginMilliseconds = 120_000
/** However often something moves, the keys are looked at no more often. */
const lookEveryMilliseconds = 2000

/**
 * Turns off the endpoints of keys that have expired: within 5 s of a key's end its endpoint is off, also one to which
 * there is nothing to send (decisions §21). A command that ends a key turns off its endpoints itself; in the sandbox
 * nobody but the key sees them, and nothing is sent.
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
