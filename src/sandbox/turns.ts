import { DomainError } from '../core/errors.ts'
import type { AppContext } from '../http/context.ts'
import { busy } from '../platform/mongo/errors.ts'
import { endTurn, isOpen, requireRoomFor, takeTurn } from './life-store.ts'
import type { ScopedModel } from './store.ts'

type Context = Pick<AppContext, 'db' | 'clock' | 'clockWatch'> & { models: ScopedModel[] }

/** The turn of a process that died ends after this long: longer than any scenario takes. */
const turnMilliseconds = 120_000
const maxWaitMilliseconds = 30_000
const lookEveryMilliseconds = 100

/**
 * Runs `work` while nothing else does so for the same sandbox, in any process: two scenarios at once would each find the
 * same booking and the same unit.
 *
 * @param work told of a way to ask for room before it begins: throws DomainError `conflict` where there is none
 * @throws DomainError `conflict` when its turn does not come within 30 s, with a retry time, or the sandbox is cleared
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
    return await work(async (documents) => {
      await requireRoomFor(store, scope, documents)
      grown = documents
    })
  } catch (error) {
    // What it needed is gone with the sandbox, whatever that was.
    throw (await isOpen(db, scope)) ? error : cleared()
  } finally {
    await endTurn(db, scope, owner, grown)
  }
}

function cleared(): DomainError {
  return new DomainError('conflict', 'The sandbox was cleared meanwhile')
}
