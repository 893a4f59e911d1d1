import { DomainError } from '../core/errors.ts'
import type { AppContext } from '../http/context.ts'
import { withLease } from '../platform/mongo/lease.ts'
import { isOpen, noteGrowth, requireRoomFor } from './life-store.ts'
import type { ScopedModel } from './store.ts'

type Context = Pick<AppContext, 'db' | 'clock' | 'clockWatch'> & { models: ScopedModel[] }

/** Maximum duration of a scenario's turn, and of the wait for it, in milliseconds. No scenario takes two minutes. */
const turn = { lasts: 120_000, waits: 30_000 }

/**
 * Runs `work` for only one request per sandbox at a time, across all processes. Otherwise, two concurrent scenarios
 * would find the same booking and the same unit.
 *
 * @param work receives `requireRoom`, which throws DomainError `conflict` if the sandbox has no room for the documents
 * @throws DomainError `conflict` with a retry time if the turn does not come within 30 s, or if the sandbox is cleared
 */
export function inTurn<T>(
  store: Context,
  scope: number,
  work: (requireRoom: (documents: number) => Promise<void>) => Promise<T>,
): Promise<T> {
  const { db, clockWatch } = store
  return withLease(db, `turn:${scope}`, { now: () => clockWatch.databaseNow(), ...turn }, async () => {
    if (!(await isOpen(db, scope))) throw cleared()
    return whileOpen(db, scope, () =>
      work(async (documents) => {
        await requireRoomFor(store, scope, documents)
        await noteGrowth(db, scope, documents)
      }),
    )
  })
}

/**
 * Runs `work`, which changes a sandbox's data. If `work` fails because the sandbox was cleared, its error concerns only
 * data that was deleted with the sandbox, so the partner gets an error about the clearing instead.
 *
 * @throws DomainError `conflict` if the sandbox is cleared
 */
export async function whileOpen<T>(db: Context['db'], scope: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw (await isOpen(db, scope)) ? error : cleared()
  }
}

function cleared(): DomainError {
  return new DomainError('conflict', 'The sandbox was cleared in the meantime')
}
