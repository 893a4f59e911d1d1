import { readHostClock } from '../../host-clock/store.ts'
import { deleteUnneededKeys, keepVersions } from '../key-store.ts'
import type { Sandbox } from '../model.ts'
import { deleteEnded, findSandboxes, markEnded, type SandboxFilter } from '../store.ts'
import { deleteDocuments, type SandboxData } from './documents-store.ts'
import { fillsMilliseconds } from './fills.ts'

/** Clears the open sandboxes of one key or all keys. Returns the number of cleared sandboxes. */
export function clearSandboxes(store: SandboxData, filter: { key_id?: number } = {}): Promise<number> {
  return endSandboxes(store, { ...filter, state: 'open' })
}

/** Ends expired sandboxes, and deletes the documents that late writes left in sandboxes that ended earlier. */
export async function sweepSandboxes(store: SandboxData): Promise<void> {
  const { db, clock } = store
  const now = clock()
  await endSandboxes(store, { state: { $ne: 'ended' }, due_at: { $lte: now } })
  for (const sandbox of await findSandboxes(db, { state: 'ended', due_at: { $lte: now } })) {
    await keepVersionsAndDelete(store, sandbox)
    await deleteEnded(db, sandbox._id)
  }
  // No later sandbox needs a key's state once its versions are in the past and its fills no longer count.
  await deleteUnneededKeys(db, now, new Date(now.getTime() - fillsMilliseconds))
}

/** Delay between a sandbox's end and its final sweep. During this time, a write in flight may still commit. */
const maxRequestMilliseconds = 30_000

/** Ends the matching sandboxes and deletes their documents. Returns the number of sandboxes that this call ended. */
export async function endSandboxes(store: SandboxData, which: SandboxFilter): Promise<number> {
  const { db, clock } = store
  let ended = 0
  for (const sandbox of await findSandboxes(db, which)) {
    const sweepAt = new Date(clock().getTime() + maxRequestMilliseconds)
    if (await markEnded(db, sandbox._id, which, sweepAt)) ended += 1
    await keepVersionsAndDelete(store, sandbox)
  }
  return ended
}

/** Stores the last versions of a sandbox's clock for the key's next sandbox, then deletes the sandbox's documents. */
async function keepVersionsAndDelete(
  store: Pick<SandboxData, 'db' | 'models'>,
  { _id: sandboxId, key_id }: Pick<Sandbox, '_id' | 'key_id'>,
): Promise<void> {
  const { db } = store
  const [last, messages_last] = await Promise.all([
    readHostClock(db, sandboxId),
    readHostClock(db, sandboxId, 'messages_last'),
  ])
  await keepVersions(db, key_id, {
    last: last.getTime() / 1000,
    messages_last: messages_last.getTime() / 1000,
  })
  await deleteDocuments(store, sandboxId)
}
