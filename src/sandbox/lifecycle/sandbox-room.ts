import { DomainError } from '../../core/errors.ts'
import { addDocuments, type OpenSandbox, setDocuments } from '../store.ts'
import { countDocuments, type SandboxData } from './documents-store.ts'

/** Maximum size of a sandbox (decisions §13). */
const maxDocuments = 5000
const maxBytes = 64 * 1024 * 1024

/**
 * Checks before a write that a sandbox is not full. Counts its documents only if their upper bound has reached the
 * limit.
 *
 * @throws DomainError `conflict` if the sandbox is full
 */
export async function requireRoom(
  { db, models }: Pick<SandboxData, 'db' | 'models'>,
  { _id, documents, bytes }: OpenSandbox,
): Promise<void> {
  if (bytes >= maxBytes) throw full()
  if (documents < maxDocuments) return
  const counted = await countDocuments({ db, models }, _id, maxDocuments)
  if (counted >= maxDocuments) throw full()
  await setDocuments(db, _id, counted)
}

/**
 * Raises a sandbox's document count by the maximum number of documents that a scenario adds.
 *
 * @throws DomainError `conflict` if the documents might not fit
 */
export async function reserveRoom(
  { db, models }: Pick<SandboxData, 'db' | 'models'>,
  sandboxId: number,
  documents: number,
): Promise<void> {
  const counted = await countDocuments({ db, models }, sandboxId, maxDocuments)
  if (counted + documents > maxDocuments) throw full()
  await addDocuments(db, sandboxId, documents)
}

function full(): DomainError {
  return new DomainError('conflict', 'The sandbox is full: clear it with DELETE /sandbox')
}
