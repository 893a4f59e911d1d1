import { WebhookLanes } from '../changes/webhooks/lanes.ts'
import type { AppContext } from '../http/context.ts'
import { sequenceIds } from '../http/ids.ts'
import type { Topics } from '../platform/outbox/outbox.ts'
import { OutboxWorker } from '../platform/outbox/worker.ts'
import { HostChanges } from '../versions/changes.ts'
import { openSandbox } from './fill.ts'
import { noteWrite, requireRoom } from './life-store.ts'
import { clearSandbox, prepareSandbox, type ScopedModel, sandboxDatabase, sweepSandboxes } from './store.ts'

const sweepEveryMilliseconds = 60_000

/**
 * The sandbox is the same application in another environment: the same routes with the live context, except for the
 * database and what follows from it (decisions §13).
 *
 * @param models all collections
 * @param topicsOf the topics that an outbox handles
 */
export async function openSandboxEnvironment(
  live: AppContext,
  models: ScopedModel[],
  topicsOf: (context: Pick<AppContext, 'db' | 'clock' | 'config'>) => Topics,
): Promise<{ context: AppContext; close(): Promise<void> }> {
  const { clock, log, config } = live
  const db = sandboxDatabase(live.db)
  await prepareSandbox(db)
  // The tag manager is not told of sandbox users.
  const topics = topicsOf({ db, clock, config: { ...config, tagManagerUrl: undefined } })
  const outbox = new OutboxWorker(db, topics, clock, log, () => live.clockWatch.isSound())
  outbox.start()
  const changes = new HostChanges(db, log)
  const webhooks = new WebhookLanes({ ...live, db, changes, environment: { name: 'sandbox' } })
  webhooks.start()
  const store = { db, clock, clockWatch: live.clockWatch, config, ids: sequenceIds(db), models }
  const sweeper = setInterval(() => {
    // With a wrong clock, a sandbox that has just been created would seem to have expired.
    if (!live.clockWatch.isSound()) return
    sweepSandboxes(store).catch((error) => log.warn({ error: String(error) }, 'Cannot sweep the sandboxes'))
  }, sweepEveryMilliseconds)
  const context: AppContext = {
    ...live,
    db,
    ids: store.ids,
    outbox,
    changes,
    webhooks,
    environment: {
      name: 'sandbox',
      async openSandbox(keyId) {
        const sandbox = await openSandbox(store, keyId)
        return {
          scope: sandbox._id,
          requireRoom: () => requireRoom(store, sandbox),
          noteWrite: (growth) => noteWrite(store, sandbox._id, growth),
        }
      },
      clearSandbox: (keyId) => clearSandbox(store, keyId),
    },
  }
  return {
    context,
    async close() {
      clearInterval(sweeper)
      await Promise.all([webhooks.stop().then(() => changes.close()), outbox.stop()])
    },
  }
}
