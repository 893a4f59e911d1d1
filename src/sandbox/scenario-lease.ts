import { DomainError } from '../core/errors.ts'
import type { AppContext } from '../http/context.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { withLease } from '../platform/mongo/lease.ts'
import { isOpen, reserveRoom } from './life-store.ts'
import type { SandboxData } from './store.ts'

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

/**
 * Runs `work`, which changes a sandbox's data. If `work` fails and the sandbox was cleared, the original error concerns
 * only deleted data, so it is replaced by an error that says that the sandbox was cleared.
 *
 * @throws DomainError `conflict` if `work` fails and the sandbox was cleared
 */
export async function whileOpen<T>(db: Db, sandboxId: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw (await isOpen(db, sandboxId)) ? error : cleared()
  }
}

function cleared(): DomainError {
  return new DomainError('conflict', 'The sandbox was cleared in the meantime')
}
