import { ActivityTracker } from '../activity/tracker.ts'
import { AlarmLeader } from '../changes/health/alarms/leader.ts'
import { WebhookWorker } from '../changes/webhooks/send/worker.ts'
import { sequenceNames } from '../core/sequences.ts'
import { HostChanges } from '../host-clock/changes.ts'
import type { AppContext } from '../http/context.ts'
import { sequenceIds } from '../platform/ids/id-source.ts'
import { raiseSequences } from '../platform/ids/sequences.ts'
import { WorkWatch } from '../platform/mongo/turns/work-watch.ts'
import type { Topics } from '../platform/outbox/outbox.ts'
import { OutboxWorker } from '../platform/outbox/worker.ts'
import { SandboxClocks } from './clock/clocks.ts'
import { takeHintFault } from './faults/choose-fault.ts'
import type { OwnedModel } from './lifecycle/documents-store.ts'
import { sweepSandboxes } from './lifecycle/end.ts'
import { type SandboxContext, sandboxContext } from './sandbox-context.ts'
import { sandboxActivityStorage, sandboxDatabase } from './store.ts'
import { type Observer, visitsOf } from './visit.ts'

/** The sandbox assigns only ids above this value, which exceeds all ids in the contract and the fixtures. */
const firstFreeId = 10_000
const sweepEveryMilliseconds = 60_000

/** What the sandbox environment needs beside the live context. */
interface SandboxParts {
  /** The models of all collections. */
  models: OwnedModel[]
  /** Creates the topics that the outbox worker handles. */
  topicsOf(context: Pick<AppContext, 'db' | 'clock' | 'config'>): Topics
  /** Receives the requests to observed sandboxes. */
  observer: Observer
  /** The interval of the {@link WorkWatch}, in milliseconds. */
  workInterval: number | undefined
}

/**
 * Opens the sandbox environment, in which the contract's routes run unchanged with the context of `sandbox-context.ts`
 * (decisions §13).
 */
export async function openSandboxEnvironment(
  live: AppContext,
  { models, topicsOf, observer, workInterval }: SandboxParts,
): Promise<{ context: SandboxContext; close(): Promise<void> }> {
  const { log, config } = live
  const db = sandboxDatabase(live.db)
  const clocks = new SandboxClocks(db, live.clock)
  const { clock } = clocks
  await raiseSequences(db, sequenceNames, firstFreeId)
  // Sandbox users are not reported to the tag manager.
  const topics = topicsOf({ db, clock, config: { ...config, tagManagerUrl: undefined } })
  const workWatch = new WorkWatch(db, log, workInterval)
  const mayWork = () => live.clockWatch.isSound()
  const outbox = new OutboxWorker({ db, topics, clock, log, workWatch, mayWork })
  outbox.start()
  const changes = new HostChanges(db, log)
  const webhooks = new WebhookWorker({
    ...live,
    db,
    clock,
    changes,
    workWatch,
    environment: { name: 'sandbox' },
    refreshClocks: (sandboxIds) => clocks.refresh(sandboxIds),
    hintFaultOf: (sandboxId, event) => takeHintFault(db, sandboxId, event, live.clockWatch.databaseNow()),
  })
  webhooks.start()
  const ids = sequenceIds(db)
  const activity = new ActivityTracker(sandboxActivityStorage(db), log)
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
  const context = sandboxContext(live, {
    db,
    clock,
    ids,
    outbox,
    changes,
    activity,
    webhooks,
    // A sandbox's calendars are read only when its key asks for it (decisions §31).
    calendars: { wake() {}, async stop() {} },
    environment: { name: 'sandbox', visit },
    workWatch,
    models,
    clocks,
  })
  const alarms = new AlarmLeader({ ...context, refreshClocks: (ids) => clocks.refresh(ids) })
  return {
    context,
    async close() {
      clearInterval(sweeper)
      workWatch.close()
      await alarms.stop()
      await Promise.all([webhooks.stop().then(() => changes.close()), outbox.stop(), activity.close()])
    },
  }
}
