import { DomainError } from '../core/errors.ts'
import type { AppContext } from '../http/context.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { type Sandbox, sandboxModel } from './model.ts'
import { type ScopedModel, scopeFilters } from './store.ts'

type Context = Pick<AppContext, 'db' | 'clock'> & { models: ScopedModel[] }

/** Lifetime of a sandbox after its last write (contract, Limits; decisions §13). */
const lifetimeMilliseconds = 3_600_000

/** Limits of a sandbox (decisions §13). */
const maxDocuments = 5000
const maxBytes = 64 * 1024 * 1024

/** A sandbox as a request finds it. */
export type OpenSandbox = Pick<Sandbox, '_id' | 'documents' | 'bytes'>

function endAfter(now: Date): Date {
  return new Date(now.getTime() + lifetimeMilliseconds)
}

/** The sandbox of a key that requests use, or null. @param now null where no clock tells whether it has ended */
export function findOpen(db: Db, keyId: number, now: Date | null): Promise<OpenSandbox | null> {
  const filter = { key_id: keyId, state: 'open', ...(now ? { due_at: { $gt: now } } : {}) } as const
  return sandboxModel(db).findOne(filter, { documents: 1, bytes: 1 }).lean()
}

/** Stores a sandbox before anything is put into it. */
export async function insertFilling(db: Db, sandbox: Omit<Sandbox, 'state'>): Promise<void> {
  await sandboxModel(db).create([{ ...sandbox, state: 'filling' }])
}

/** Lets requests find a sandbox that has been filled. Fails with a duplicate-key error where the key has one already. */
export async function openFilled(db: Db, scope: number, now: Date): Promise<void> {
  const opened = { state: 'open', due_at: endAfter(now) } as const
  await sandboxModel(db).updateOne({ _id: scope, state: 'filling' }, { $set: opened })
}

/** The most that a write can have put into a sandbox. */
export interface Growth {
  documents: number
  bytes: number
}

/** Notes a write that was carried out: the sandbox lives for an hour from now on, and holds more. */
export async function noteWrite(
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  scope: number,
  growth: Growth,
): Promise<void> {
  await sandboxModel(db).updateOne(
    { _id: scope, state: 'open' },
    { $max: { due_at: endAfter(clock()) }, $inc: { ...growth } },
  )
}

/**
 * Refuses a write to a sandbox that is full. How many documents there are is counted only where there may be too many.
 *
 * @throws DomainError `conflict`
 */
export async function requireRoom(
  { db, models }: Pick<Context, 'db' | 'models'>,
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
  { db, models }: Pick<Context, 'db' | 'models'>,
  scope: number,
): Promise<number> {
  let counted = 0
  for (const { collection, filter } of scopeFilters(db, models, scope))
    if (counted < maxDocuments)
      counted += await db.collection(collection).countDocuments(filter, { limit: maxDocuments - counted })
  return counted
}
