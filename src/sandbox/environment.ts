import { WebhookWorker } from '../changes/webhooks/send/worker.ts'
import { HostChanges } from '../host-clock/changes.ts'
import type { AppContext } from '../http/context.ts'
import { sequenceIds } from '../http/ids.ts'
import type { Topics } from '../platform/outbox/outbox.ts'
import { OutboxWorker } from '../platform/outbox/worker.ts'
import { SandboxClocks } from './clocks.ts'
import type { SandboxContext } from './context.ts'
import { takeHintFault } from './rules-store.ts'
import { type OwnedModel, prepareSandbox, sandboxDatabase, sweepSandboxes } from './store.ts'
import { type Observer, visitsOf } from './visit.ts'

const sweepEveryMilliseconds = 60_000

/**
 * Opens the sandbox environment, in which the contract's routes run unchanged. Its context equals the live context
 * except for the database and everything that depends on the database (decisions §13).
 *
 * @param models the models of all collections
 * @param topicsOf creates the topics that the outbox worker handles
 * @param observer receives the requests to observed sandboxes
 */
export async function openSandboxEnvironment(
  live: AppContext,
  models: OwnedModel[],
  topicsOf: (context: Pick<AppContext, 'db' | 'clock' | 'config'>) => Topics,
  observer: Observer,
): Promise<{ context: SandboxContext; close(): Promise<void> }> {
  const { log, config } = live
  const db = sandboxDatabase(live.db)
  const clocks = new SandboxClocks(db, live.clock)
  const { clock } = clocks
  await prepareSandbox(db)
  // Sandbox users are not reported to the tag manager.
  const topics = topicsOf({ db, clock, config: { ...config, tagManagerUrl: undefined } })
  const outbox = new OutboxWorker({ db, topics, clock, log, mayWork: () => live.clockWatch.isSound() })
  outbox.start()
  const changes = new HostChanges(db, log)
  const webhooks = new WebhookWorker({
    ...live,
    db,
    clock,
    changes,
    environment: { name: 'sandbox' },
    refreshClocks: (sandboxIds) => clocks.refresh(sandboxIds),
    hintFaultOf: (sandboxId, event) => takeHintFault(db, sandboxId, event, live.clockWatch.databaseNow()),
  })
  webhooks.start()
  const ids = sequenceIds(db)
  const sweeper = setInterval(() => {
    // If this process's clock is wrong, a new sandbox could appear to have expired.
    if (!live.clockWatch.isSound()) return
    sweepSandboxes({ db, clock, models }).catch((error) =>
      log.warn({ error: String(error) }, 'Cannot sweep the sandboxes'),
    )
  }, sweepEveryMilliseconds)
  const visit = visitsOf({
    db,
    clock,
    clockWatch: live.clockWatch,
    config,
    ids,
    heldRequests: live.heldRequests,
    models,
    clocks,
    observer,
  })
  const context: SandboxContext = {
    ...live,
    db,
    clock,
    ids,
    outbox,
    changes,
    webhooks,
    environment: { name: 'sandbox', visit },
    models,
    clocks,
  }
  return {
    context,
    async close() {
      clearInterval(sweeper)
      await Promise.all([webhooks.stop().then(() => changes.close()), outbox.stop()])
    },
  }
}
