import { DomainError } from '../../core/errors.ts'
import type { AppContext } from '../../http/context.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { Sandbox } from '../model.ts'
import { addGrowth, extendLifetime, isOpen } from '../store.ts'

/** Lifetime of a sandbox after its last write (contract, Limits; decisions §13). */
const lifetimeMilliseconds = 3_600_000

/** Returns the time at which a sandbox expires if its last write is now. */
export function endAfter(now: Date): Date {
  return new Date(now.getTime() + lifetimeMilliseconds)
}

/**
 * Records a completed write. Adds to the sandbox's size and extends its lifetime to an hour from now.
 *
 * @param growth upper bound on the number of documents that the write added, and the approximate size of its body
 */
export function recordWrite(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  sandboxId: number,
  growth: Pick<Sandbox, 'documents' | 'bytes'>,
): Promise<void> {
  return addGrowth(db, sandboxId, growth, endAfter(clock()))
}

/** Minimum time between two writes by {@link keepOpen}. Without this minimum, every call would write. */
const renewMilliseconds = 60_000

/** Keeps a sandbox open for another 59 to 60 minutes, even if nothing is written to it. */
export function keepOpen({ db, clock }: Pick<AppContext, 'db' | 'clock'>, sandboxId: number): Promise<void> {
  const due = endAfter(clock())
  return extendLifetime(db, sandboxId, due, new Date(due.getTime() - renewMilliseconds))
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

/** Returns the error for work in a sandbox that was cleared. */
export function cleared(): DomainError {
  return new DomainError('conflict', 'The sandbox was cleared in the meantime')
}
