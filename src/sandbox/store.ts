import type { FilterQuery } from 'mongoose'
import type { AppContext } from '../context.ts'
import { type ClockStart, readHostClock } from '../host-clock/store.ts'
import { sequenceNames } from '../ids.ts'
import { raiseSequences } from '../platform/ids/sequences.ts'
import type { Preparable } from '../platform/mongo/collections.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { isDuplicate, retryDuplicate } from '../platform/mongo/errors.ts'
import { type Sandbox, sandboxModel } from './model.ts'
import { seedSandbox } from './seed.ts'

/** A collection that holds documents of sandboxes. */
export type ScopedModel = (db: Db) => Preparable & { schema: { paths: object } }

type Context = Pick<AppContext, 'db' | 'clock' | 'config' | 'ids'> & { models: ScopedModel[] }

/** An earlier version kept one record per key, which did not survive a crash: its sandboxes end here. */
async function endEarlierSandboxes(db: Db, now: Date): Promise<void> {
  const earlier = db.collection<{ _id: number; scope: number }>('sandboxes')
  for (const { _id: key_id, scope } of await earlier.find().toArray()) {
    const ended = { key_id, state: 'ended', due_at: now } as const
    await retryDuplicate(() =>
      sandboxModel(db).updateOne({ _id: scope }, { $set: ended }, { upsert: true }).exec(),
    )
    await earlier.deleteOne({ _id: key_id })
  }
}

/** Lifetime of a sandbox after its last write (contract, Limits; decisions §13). */
const lifetimeMilliseconds = 3_600_000

/** A write in progress may commit this much later: a sandbox that has ended is swept once more after that time. */
const longestRequestMilliseconds = 30_000

/** A sandbox that is still not filled after this long belonged to a process that died. */
const longestFillMilliseconds = 600_000

/** Ids given out in the sandbox begin above those of the contract and the fixtures. */
const firstFreeId = 10_000

/** The database of all sandboxes, beside the live one. */
export function sandboxDatabase(live: Db): Db {
  return live.useDb(`${live.name}_sandbox`, { useCache: true })
}

/** Prepares the sandbox database at start. */
export async function prepareSandbox(db: Db, now: Date): Promise<void> {
  await endEarlierSandboxes(db, now)
  await raiseSequences(db, sequenceNames, firstFreeId)
}

/**
 * The scope of a key's sandbox; filled from `sandbox/data` on first use, an hour after its last write, and after it
 * was cleared. An old scope is out of reach from then on, and its documents are deleted.
 *
 * @param isWrite the request may write: the sandbox lives for another hour
 */
export async function openSandbox(store: Context, keyId: number, isWrite: boolean): Promise<number> {
  const { db, clock, models } = store
  for (;;) {
    const now = clock()
    const scope = await findOpen(db, keyId, now, isWrite)
    if (scope !== null) return scope
    await endSandboxes({ db, models }, { key_id: keyId, state: 'open', due_at: { $lte: now } }, now)
    const filled = await fillSandbox(store, keyId)
    if (filled !== null) return filled
  }
}

/** One query, which for a write also extends the sandbox's life. */
async function findOpen(db: Db, keyId: number, now: Date, isWrite: boolean): Promise<number | null> {
  const filter = { key_id: keyId, state: 'open', due_at: { $gt: now } } as const
  const found = isWrite
    ? await sandboxModel(db)
        .findOneAndUpdate(filter, { $max: { due_at: endAfter(now) } })
        .lean()
    : await sandboxModel(db).findOne(filter).lean()
  return found?._id ?? null
}

function endAfter(now: Date): Date {
  return new Date(now.getTime() + lifetimeMilliseconds)
}

/** Null when a concurrent first use was faster. */
async function fillSandbox(store: Context, keyId: number): Promise<number | null> {
  const { db, clock, ids, models } = store
  const scope = await ids('host')
  const due_at = new Date(clock().getTime() + longestFillMilliseconds)
  await sandboxModel(db).create([{ _id: scope, key_id: keyId, state: 'filling', due_at }])
  await seedSandbox(store, scope, keyId, await lastVersionsOf(db, keyId))
  try {
    const opened = { state: 'open', due_at: endAfter(clock()) } as const
    const { modifiedCount } = await sandboxModel(db).updateOne(
      { _id: scope, state: 'filling' },
      { $set: opened },
    )
    return modifiedCount === 1 ? scope : null
  } catch (error) {
    if (!isDuplicate(error)) throw error
    await endSandboxes({ db, models }, { _id: scope }, clock())
    return null
  }
}

/** The last versions that earlier sandboxes of a key gave out: a fresh one goes on after them, as a poller expects. */
async function lastVersionsOf(db: Db, keyId: number): Promise<ClockStart> {
  const ended = await sandboxModel(db).find({ key_id: keyId, state: 'ended' }).lean()
  return {
    last: Math.max(0, ...ended.map(({ last_version }) => last_version ?? 0)),
    messages_last: Math.max(0, ...ended.map(({ last_message_version }) => last_message_version ?? 0)),
  }
}

/** Clears the sandbox of one key: its next request finds a fresh one. */
export async function clearSandbox(
  { db, clock, models }: Pick<Context, 'db' | 'clock' | 'models'>,
  keyId: number,
): Promise<void> {
  await endSandboxes({ db, models }, { key_id: keyId, state: 'open' }, clock())
}

/** Clears the sandboxes of all keys; returns how many there were. */
export async function clearAllSandboxes({
  db,
  clock,
  models,
}: Pick<Context, 'db' | 'clock' | 'models'>): Promise<number> {
  return endSandboxes({ db, models }, { state: 'open' }, clock())
}

/** Deletes the sandboxes whose hour is over, and what late writes left in those that ended before. */
export async function sweepSandboxes({
  db,
  clock,
  models,
}: Pick<Context, 'db' | 'clock' | 'models'>): Promise<void> {
  const now = clock()
  await endSandboxes({ db, models }, { state: { $ne: 'ended' }, due_at: { $lte: now } }, now)
  for (const { _id } of await sandboxModel(db)
    .find({ state: 'ended', due_at: { $lte: now } })
    .lean()) {
    await deleteScope({ db, models }, _id)
    await sandboxModel(db).deleteOne({ _id, state: 'ended' })
  }
}

/** Puts sandboxes out of reach and empties them; returns how many. */
async function endSandboxes(
  { db, models }: Pick<Context, 'db' | 'models'>,
  which: FilterQuery<Sandbox>,
  now: Date,
): Promise<number> {
  let ended = 0
  for (const { _id } of await sandboxModel(db).find(which).lean()) {
    const due_at = new Date(now.getTime() + longestRequestMilliseconds)
    const last_version = (await readHostClock(db, _id)).getTime() / 1000
    const last_message_version = (await readHostClock(db, _id, 'messages_last')).getTime() / 1000
    const { modifiedCount } = await sandboxModel(db).updateOne(
      { ...which, _id },
      { $set: { state: 'ended', due_at, last_version, last_message_version } },
    )
    ended += modifiedCount
    await deleteScope({ db, models }, _id)
  }
  return ended
}

/** How the documents of a scope are found in each collection, always by an index. */
export function scopeFilters(
  db: Db,
  models: ScopedModel[],
  scope: number,
): { collection: string; filter: object }[] {
  const ofHost = models.map((model) => model(db)).filter(({ schema }) => 'host_id' in schema.paths)
  return [
    ...ofHost.map(({ collection }) => ({ collection: collection.name, filter: { host_id: scope } })),
    { collection: 'host_clocks', filter: { _id: scope } },
  ]
}

async function deleteScope({ db, models }: Pick<Context, 'db' | 'models'>, scope: number): Promise<void> {
  for (const { collection, filter } of scopeFilters(db, models, scope))
    await db.collection(collection).deleteMany(filter)
}
