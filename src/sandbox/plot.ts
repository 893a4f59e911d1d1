import { carryOverAvailability } from '../availability/earlier.ts'
import type { Deps } from '../deps.ts'
import { prepareCollections } from '../infra/mongo.ts'
import { OutboxWorker } from '../infra/outbox-worker.ts'
import { sequenceIds } from '../infra/sequences.ts'
import { jobHandlers } from '../jobs.ts'
import { models } from '../models.ts'
import { openSandbox, prepareSandbox, sandboxDatabase, sweepSandboxes } from './store.ts'

const sweepEveryMilliseconds = 60_000

/**
 * The sandbox: the same house on another plot. Its dependencies are those of the live service but for the
 * database, so that the same routes serve it; its outbox applies rates and tells nobody of new users.
 */
export async function openSandboxPlot(live: Deps): Promise<{ deps: Deps; close(): Promise<void> }> {
  const { clock, log } = live
  const db = sandboxDatabase(live.db)
  await prepareCollections(db, models)
  await carryOverAvailability(db)
  await prepareSandbox(db, clock())
  // Nobody is told of users in a sandbox.
  const outbox = new OutboxWorker(db, jobHandlers({ db, clock }, undefined), clock, log)
  outbox.start()
  const store = { db, clock, config: live.config, ids: sequenceIds(db) }
  const sweeper = setInterval(() => {
    // By a wrong clock a sandbox would be over that has just begun.
    if (!live.clockWatch.isSound()) return
    sweepSandboxes(store).catch((error) => log.warn({ error: String(error) }, 'Sandboxes could not be swept'))
  }, sweepEveryMilliseconds)
  const deps: Deps = {
    ...live,
    ...store,
    outbox,
    plot: { name: 'sandbox', openSandbox: (keyId, isWrite) => openSandbox(store, keyId, isWrite) },
  }
  return {
    deps,
    async close() {
      clearInterval(sweeper)
      await outbox.stop()
    },
  }
}
