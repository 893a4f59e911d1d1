import { DomainError } from '../core/errors.ts'
import type { AppContext } from '../http/context.ts'
import { busy } from '../platform/mongo/errors.ts'
import { endTurn, isOpen, requireRoomFor, takeTurn } from './life-store.ts'
import type { ScopedModel } from './store.ts'

type Context = Pick<AppContext, 'db' | 'clock' | 'clockWatch'> & { models: ScopedModel[] }

/** Time after which a dead process's turn ends. No scenario takes this long. */
const turnMilliseconds = 120_000
const maxWaitMilliseconds = 30_000
const lookEveryMilliseconds = 100

/**
 * Runs `work` while no other process or request does so for the same sandbox, because two concurrent scenarios would
 * find the same booking and the same unit.
 *
 * @param work receives `requireRoom`, which throws DomainError `conflict` if the sandbox has no room for the documents
 * @throws DomainError `conflict` with a retry time if the turn does not come within 30 s, or if the sandbox is cleared
 */
export async function inTurn<T>(
  store: Context,
  scope: number,
  work: (requireRoom: (documents: number) => Promise<void>) => Promise<T>,
): Promise<T> {
  const { db, clockWatch } = store
  const owner = crypto.randomUUID()
  const deadline = performance.now() + maxWaitMilliseconds
  for (;;) {
    const now = clockWatch.databaseNow()
    if (await takeTurn(db, scope, owner, now, new Date(now.getTime() + turnMilliseconds))) break
    if (!(await isOpen(db, scope))) throw cleared()
    if (performance.now() > deadline) throw busy()
    await Bun.sleep(lookEveryMilliseconds)
  }
  let grown = 0
  try {
    return await whileOpen(db, scope, () =>
      work(async (documents) => {
        await requireRoomFor(store, scope, documents)
        grown = documents
      }),
    )
  } finally {
    await endTurn(db, scope, owner, grown)
  }
}

/**
 * Runs `work`, which changes a sandbox's data. If it fails because the sandbox was cleared, its error only concerns
 * data that was deleted with the sandbox, so the partner is told about the clearing instead.
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
  return new DomainError('conflict', 'The sandbox was cleared meanwhile')
}
