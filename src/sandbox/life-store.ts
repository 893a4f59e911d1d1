import { DomainError } from '../core/errors.ts'
import type { AppContext } from '../http/context.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { type Sandbox, sandboxModel } from './model.ts'
import { type SandboxData, sandboxFilters } from './store.ts'

/** Lifetime of a sandbox after its last write (contract, Limits; decisions §13). */
const lifetimeMilliseconds = 3_600_000

/** Maximum size of a sandbox (decisions §13). */
const maxDocuments = 5000
const maxBytes = 64 * 1024 * 1024

/** The fields of an open sandbox that a request reads. */
export type OpenSandbox = Pick<
  Sandbox,
  '_id' | 'documents' | 'bytes' | 'ahead_seconds' | 'rules' | 'rules_id' | 'observer_id'
>

function endAfter(now: Date): Date {
  return new Date(now.getTime() + lifetimeMilliseconds)
}

/**
 * Returns a key's open sandbox, or null.
 *
 * @param now current time; null if this process's clock is wrong, in which case no sandbox counts as expired
 */
export function findOpen(db: Db, keyId: number, now: Date | null): Promise<OpenSandbox | null> {
  const filter = { key_id: keyId, state: 'open', ...(now ? { due_at: { $gt: now } } : {}) }
  const projection = { documents: 1, bytes: 1, ahead_seconds: 1, rules: 1, rules_id: 1, observer_id: 1 }
  return sandboxModel(db).collection.findOne(filter, { projection }) as Promise<OpenSandbox | null>
}

/** Stores a sandbox's record, which must exist before any of the sandbox's documents. */
export async function insertFilling(db: Db, sandbox: Omit<Sandbox, 'state'>): Promise<void> {
  await sandboxModel(db).create([{ ...sandbox, state: 'filling' }])
}

/** Opens a filled sandbox to requests. Fails with a duplicate-key error if the key already has an open sandbox. */
export async function openFilled(db: Db, sandboxId: number, now: Date): Promise<void> {
  const opened = { state: 'open', due_at: endAfter(now) } as const
  await sandboxModel(db).updateOne({ _id: sandboxId, state: 'filling' }, { $set: opened })
}

/** Upper bound on the number of documents that a write added, and the approximate size of its body in bytes. */
export interface Growth {
  documents: number
  bytes: number
}

/** Records a completed write. Adds to the sandbox's size and extends its lifetime to an hour from now. */
export async function recordWrite(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  sandboxId: number,
  growth: Growth,
): Promise<void> {
  await sandboxModel(db).updateOne(
    { _id: sandboxId, state: 'open' },
    { $max: { due_at: endAfter(clock()) }, $inc: { ...growth } },
  )
}

/** Minimum time between two writes by {@link keepOpen}. Without this minimum, every call would write. */
const renewMilliseconds = 60_000

/** Keeps a sandbox open for another 59 to 60 minutes, even if nothing is written to it. */
export async function keepOpen(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  sandboxId: number,
): Promise<void> {
  const due = endAfter(clock())
  const earlier = { $lt: new Date(due.getTime() - renewMilliseconds) }
  await sandboxModel(db).updateOne(
    { _id: sandboxId, state: 'open', due_at: earlier },
    { $set: { due_at: due } },
  )
}

/** Returns true if a sandbox is open. An expired sandbox stays open until it is swept. */
export async function isOpen(db: Db, sandboxId: number): Promise<boolean> {
  return (await sandboxModel(db).exists({ _id: sandboxId, state: 'open' })) !== null
}

/**
 * Raises a sandbox's document count by the maximum number of documents that a scenario adds.
 *
 * @throws DomainError `conflict` if the documents might not fit
 */
export async function reserveRoom(
  context: Pick<SandboxData, 'db' | 'models'>,
  sandboxId: number,
  documents: number,
): Promise<void> {
  if ((await countDocuments(context, sandboxId)) + documents > maxDocuments) throw full()
  await sandboxModel(context.db).updateOne({ _id: sandboxId }, { $inc: { documents } })
}

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
  const counted = await countDocuments({ db, models }, _id)
  if (counted >= maxDocuments) throw full()
  await sandboxModel(db).updateOne({ _id }, { $set: { documents: counted } })
}

function full(): DomainError {
  return new DomainError('conflict', 'The sandbox is full: clear it with DELETE /sandbox')
}

async function countDocuments(
  { db, models }: Pick<SandboxData, 'db' | 'models'>,
  sandboxId: number,
): Promise<number> {
  let counted = 0
  for (const { collection, filter } of sandboxFilters(db, models, sandboxId))
    if (counted < maxDocuments)
      counted += await db.collection(collection).countDocuments(filter, { limit: maxDocuments - counted })
  return counted
}

type Ahead = Pick<Sandbox, '_id' | 'ahead_seconds'>

/** Returns the open sandboxes whose clocks are ahead, optionally only those of the given sandboxes. */
export function findAhead(db: Db, sandboxIds?: number[]): Promise<Ahead[]> {
  const which = sandboxIds ? { _id: { $in: sandboxIds } } : {}
  return sandboxModel(db)
    .find({ ...which, state: 'open', ahead_seconds: { $gt: 0 } }, { ahead_seconds: 1 })
    .lean()
}

/**
 * Moves a sandbox's clock ahead and returns its new offset. Returns null if the offset would exceed `maximum` seconds,
 * or if the sandbox is not open.
 */
export function moveAhead(
  db: Db,
  sandboxId: number,
  seconds: number,
  maximum: number,
): Promise<Ahead | null> {
  const mayMove = { _id: sandboxId, state: 'open', ahead_seconds: { $lte: maximum - seconds } } as const
  return sandboxModel(db)
    .findOneAndUpdate(
      mayMove,
      { $inc: { ahead_seconds: seconds } },
      { new: true, projection: { ahead_seconds: 1 } },
    )
    .lean()
}
