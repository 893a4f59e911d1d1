import { LRUCache } from 'lru-cache'
import { makeAllDue } from '../changes/webhooks/due-store.ts'
import { WebhookWorker } from '../changes/webhooks/worker.ts'
import type { AppContext, Course, Environment, SandboxInUse } from '../http/context.ts'
import { sequenceIds } from '../http/ids.ts'
import type { Observed } from '../http/observation.ts'
import type { Db } from '../platform/mongo/connection.ts'
import type { Topics } from '../platform/outbox/outbox.ts'
import { OutboxWorker } from '../platform/outbox/worker.ts'
import { HostChanges } from '../versions/changes.ts'
import { maxAheadSeconds, SandboxClocks } from './clocks.ts'
import { hintFaultOf, takeCourseFault } from './course-store.ts'
import { findSandbox, openSandbox } from './fill.ts'
import { moveAhead, noteWrite, type OpenSandbox, requireRoom } from './life-store.ts'
import { findRules, replaceRules, takeHintRule, takeRequestRule } from './rules-store.ts'
import { clearSandbox, prepareSandbox, type ScopedModel, sandboxDatabase, sweepSandboxes } from './store.ts'
import { inTurn } from './turns.ts'

/** How certifications observe the requests to their sandboxes, and for how long those requests may be held. */
export interface Certifying {
  observe(db: Db, certificationId: number, seen: Observed): Promise<void>
  maxHoldSeconds: number
}

const sweepEveryMilliseconds = 60_000

/** Refused requests must stay cheap however many arrive, so a key's refused requests share a look-up for this long. */
const refusedMilliseconds = 1000
const maxRefusedKeys = 10_000

/**
 * Opens the sandbox, which is the same application with the same routes. Its context is the live one except for the
 * database and everything that depends on it (decisions §13).
 *
 * @param models all collections
 * @param topicsOf creates the topics that an outbox handles
 * @param certifying how certifications observe and hold requests
 */
export async function openSandboxEnvironment(
  live: AppContext,
  models: ScopedModel[],
  topicsOf: (context: Pick<AppContext, 'db' | 'clock' | 'config'>) => Topics,
  certifying: Certifying,
): Promise<{ context: AppContext; close(): Promise<void> }> {
  const { log, config } = live
  const db = sandboxDatabase(live.db)
  const clocks = new SandboxClocks(db, live.clock)
  const { clock } = clocks
  await prepareSandbox(db)
  // Sandbox users are not reported to the tag manager.
  const topics = topicsOf({ db, clock, config: { ...config, tagManagerUrl: undefined } })
  const outbox = new OutboxWorker(db, topics, clock, log, () => live.clockWatch.isSound())
  outbox.start()
  const faults: NonNullable<Environment['faults']> = {
    read: async (scope) => (await findRules(db, scope))?.rules ?? [],
    replace: (scope, rules) => replaceRules(db, scope, rules),
    ofHint: async (scope, event) => (await hintFaultOf(db, scope)) ?? (await takeHintRule(db, scope, event)),
  }
  const changes = new HostChanges(db, log)
  const webhooks = new WebhookWorker({
    ...live,
    ...{ db, clock, changes },
    environment: { name: 'sandbox', faults, refreshClocks: () => clocks.refresh() },
  })
  webhooks.start()
  const store = { db, clock, clockWatch: live.clockWatch, config, ids: sequenceIds(db), models }
  const sweeper = setInterval(() => {
    // With a wrong clock, a sandbox that has just been created would seem to have expired.
    if (!live.clockWatch.isSound()) return
    sweepSandboxes(store).catch((error) => log.warn({ error: String(error) }, 'Cannot sweep the sandboxes'))
  }, sweepEveryMilliseconds)
  const courseOf = (sandbox: OpenSandbox): Course => ({
    faultOf: (route) => takeCourseFault(db, sandbox, route, live.clockWatch.databaseNow()),
    observe: (seen) => certifying.observe(db, sandbox.course?.certification_id ?? 0, seen),
    maxHoldSeconds: certifying.maxHoldSeconds,
  })
  const inUse = (sandbox: OpenSandbox): SandboxInUse => {
    const { _id: scope, ahead_seconds, rules = [], course } = sandbox
    clocks.note(scope, ahead_seconds)
    return {
      scope,
      ...(course ? { course: courseOf(sandbox) } : {}),
      ...(rules.length > 0 ? { faultOf: (route: string) => takeRequestRule(db, sandbox, route) } : {}),
      requireRoom: () => requireRoom(store, sandbox),
      noteWrite: (growth) => noteWrite(store, scope, growth),
    }
  }
  const refused = new LRUCache<number, Promise<OpenSandbox | null>>({
    max: maxRefusedKeys,
    ttl: refusedMilliseconds,
  })
  const context: AppContext = {
    ...live,
    db,
    clock,
    ids: store.ids,
    outbox,
    changes,
    webhooks,
    environment: {
      name: 'sandbox',
      async findSandbox(keyId) {
        const found = await findSandbox(store, keyId)
        return found && inUse(found)
      },
      async findCourse(keyId) {
        const finding = refused.get(keyId) ?? findSandbox(store, keyId).catch(() => null)
        refused.set(keyId, finding, { noUpdateTTL: true })
        const found = await finding
        return found?.course ? courseOf(found) : null
      },
      openSandbox: async (keyId) => inUse(await openSandbox(store, keyId)),
      faults,
      inTurn: (scope, work) => inTurn(store, scope, work),
      clearSandbox: (keyId) => clearSandbox(store, keyId),
      async advanceClock(scope, seconds) {
        const moved = await moveAhead(db, scope, seconds, maxAheadSeconds)
        if (!moved) return false
        clocks.note(scope, moved.ahead_seconds)
        await makeAllDue(db, scope, clock())
        return true
      },
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
