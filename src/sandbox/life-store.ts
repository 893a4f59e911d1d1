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
export type OpenSandbox = Pick<
  Sandbox,
  '_id' | 'documents' | 'bytes' | 'ahead_seconds' | 'rules' | 'rules_id' | 'course'
>

function endAfter(now: Date): Date {
  return new Date(now.getTime() + lifetimeMilliseconds)
}

/** The sandbox of a key that requests use, or null. @param now null where no clock tells whether it has ended */
export function findOpen(db: Db, keyId: number, now: Date | null): Promise<OpenSandbox | null> {
  const filter = { key_id: keyId, state: 'open', ...(now ? { due_at: { $gt: now } } : {}) }
  const projection = { documents: 1, bytes: 1, ahead_seconds: 1, rules: 1, rules_id: 1, course: 1 }
  return sandboxModel(db).collection.findOne(filter, { projection }) as Promise<OpenSandbox | null>
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

/** A sandbox that is kept open is written to once in so long, and not with each look at it. */
const renewMilliseconds = 60_000

/** Lets a sandbox live for an hour from now on, give or take a minute, although nothing is written to it. */
export async function keepOpen({ db, clock }: Pick<Context, 'db' | 'clock'>, scope: number): Promise<void> {
  const due = endAfter(clock())
  const earlier = { $lt: new Date(due.getTime() - renewMilliseconds) }
  await sandboxModel(db).updateOne({ _id: scope, state: 'open', due_at: earlier }, { $set: { due_at: due } })
}

/** True while requests find a sandbox. */
export async function isOpen(db: Db, scope: number): Promise<boolean> {
  return (await sandboxModel(db).exists({ _id: scope, state: 'open' })) !== null
}

/** Takes the turn of a sandbox; false while another has it. */
export async function takeTurn(
  db: Db,
  scope: number,
  owner: string,
  now: Date,
  until: Date,
): Promise<boolean> {
  // One from before there were turns has none.
  const free = { _id: scope, state: 'open', turn_until: { $not: { $gt: now } } } as const
  const { modifiedCount } = await sandboxModel(db).updateOne(free, {
    $set: { turn_until: until, turn_of: owner },
  })
  return modifiedCount === 1
}

/** Ends a turn, and notes by how many documents the sandbox has grown at most. */
export async function endTurn(db: Db, scope: number, owner: string, documents: number): Promise<void> {
  const ended = { $set: { turn_until: null, turn_of: null }, $inc: { documents } }
  await sandboxModel(db).updateOne({ _id: scope, turn_of: owner }, ended)
}

/**
 * Refuses to add so many documents to a sandbox that they may not fit.
 *
 * @throws DomainError `conflict`
 */
export async function requireRoomFor(
  context: Pick<Context, 'db' | 'models'>,
  scope: number,
  documents: number,
): Promise<void> {
  if ((await countDocuments(context, scope)) + documents > maxDocuments) throw full()
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

type Ahead = Pick<Sandbox, '_id' | 'ahead_seconds'>

/** The open sandboxes of which the clock was moved. */
export function findAhead(db: Db): Promise<Ahead[]> {
  return sandboxModel(db)
    .find({ state: 'open', ahead_seconds: { $gt: 0 } }, { ahead_seconds: 1 })
    .lean()
}

/** Moves a sandbox's clock; null where it would be further ahead than `maximum` then, or the sandbox is gone. */
export function moveAhead(db: Db, scope: number, seconds: number, maximum: number): Promise<Ahead | null> {
  // One from before there were clocks has none.
  const mayMove = { _id: scope, state: 'open', ahead_seconds: { $not: { $gt: maximum - seconds } } } as const
  return sandboxModel(db)
    .findOneAndUpdate(
      mayMove,
      { $inc: { ahead_seconds: seconds } },
      { new: true, projection: { ahead_seconds: 1 } },
    )
    .lean()
}
