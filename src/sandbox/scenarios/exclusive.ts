import type { AppContext } from '../../http/context.ts'
import { withLease } from '../../platform/mongo/turns/lease.ts'
import type { SandboxData } from '../lifecycle/documents-store.ts'
import { cleared, whileOpen } from '../lifecycle/lifetime.ts'
import { reserveRoom } from '../lifecycle/sandbox-room.ts'
import { isOpen } from '../store.ts'

/**
 * Duration of the lease for playing a scenario, and maximum time that other requests wait for it, in milliseconds.
 * Every scenario finishes well within two minutes.
 */
const scenarioLease = { leaseMilliseconds: 120_000, maxWaitMilliseconds: 30_000 }

/**
 * Runs `work` for only one request per sandbox at a time, across all processes. Otherwise, two concurrent scenarios
 * could choose the same booking or the same unit.
 *
 * @param work receives `requireRoom`, which throws DomainError `conflict` if the sandbox has no room for the documents
 * @throws DomainError `conflict` if the sandbox is cleared or, with a retry time, if `work` cannot start within 30 s
 */
export function playExclusively<T>(
  store: SandboxData & Pick<AppContext, 'clockWatch'>,
  sandboxId: number,
  work: (requireRoom: (documents: number) => Promise<void>) => Promise<T>,
): Promise<T> {
  const { db, clockWatch } = store
  return withLease(
    db,
    `scenario:${sandboxId}`,
    { now: () => clockWatch.databaseNow(), ...scenarioLease },
    async () => {
      if (!(await isOpen(db, sandboxId))) throw cleared()
      return whileOpen(db, sandboxId, () => work((documents) => reserveRoom(store, sandboxId, documents)))
    },
  )
}
