import type { FilterQuery } from 'mongoose'
import { readHostClock } from '../host-clock/store.ts'
import type { AppContext } from '../http/context.ts'
import { sequenceNames } from '../http/ids.ts'
import { raiseSequences } from '../platform/ids/sequences.ts'
import type { CollectionOptions, Preparable } from '../platform/mongo/collections.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { keepVersions, sweepKeys } from './key-store.ts'
import { type Sandbox, sandboxModel } from './model.ts'

/** A collection's definition. If it has an `owner`, the collection holds sandboxes' documents. */
export interface OwnedModel {
  (db: Db): Preparable
  readonly owner: CollectionOptions['owner']
}

/** What finds and deletes the sandboxes' documents. */
export interface SandboxData extends Pick<AppContext, 'db' | 'clock'> {
  /** The models of all collections. */
  models: OwnedModel[]
}

/** Delay between a sandbox's end and its final sweep. During this time, a write in flight may still commit. */
const maxRequestMilliseconds = 30_000

/** The sandbox assigns only ids above this value, which exceeds all ids in the contract and the fixtures. */
const firstFreeId = 10_000

/** Returns the database that holds all sandboxes, which is separate from the live database. */
export function sandboxDatabase(live: Db): Db {
  return live.useDb(`${live.name}_sandbox`, { useCache: true })
}

/** Raises the sandbox's sequences above the ids in the contract and the fixtures. Called when the service starts. */
export async function prepareSandbox(db: Db): Promise<void> {
  await raiseSequences(db, sequenceNames, firstFreeId)
}

/** Clears the open sandboxes of one key or all keys. Returns the number of cleared sandboxes. */
export function clearSandboxes(store: SandboxData, filter: { key_id?: number } = {}): Promise<number> {
  return endSandboxes(store, { ...filter, state: 'open' })
}

/** Ends expired sandboxes, and deletes the documents that late writes left in sandboxes that ended earlier. */
export async function sweepSandboxes(store: SandboxData): Promise<void> {
  const { db, clock } = store
  const now = clock()
  await endSandboxes(store, { state: { $ne: 'ended' }, due_at: { $lte: now } })
  for (const sandbox of await sandboxModel(db)
    .find({ state: 'ended', due_at: { $lte: now } })
    .lean()) {
    await deleteDocuments(store, sandbox)
    await sandboxModel(db).deleteOne({ _id: sandbox._id, state: 'ended' })
  }
  await sweepKeys(db, now)
}

/** Ends the matching sandboxes and deletes their documents. Returns the number of sandboxes that this call ended. */
export async function endSandboxes(store: SandboxData, which: FilterQuery<Sandbox>): Promise<number> {
  const { db, clock } = store
  let ended = 0
  for (const sandbox of await sandboxModel(db).find(which).lean()) {
    const due_at = new Date(clock().getTime() + maxRequestMilliseconds)
    const { modifiedCount } = await sandboxModel(db).updateOne(
      { ...which, _id: sandbox._id },
      { $set: { state: 'ended', due_at } },
    )
    ended += modifiedCount
    await deleteDocuments(store, sandbox)
  }
  return ended
}

/** Returns a filter that matches a sandbox's documents, for each collection with an owner. Each filter uses an index. */
export function sandboxFilters(
  db: Db,
  models: OwnedModel[],
  sandboxId: number,
): { collection: string; filter: object }[] {
  const filters = []
  for (const model of models) {
    if (model.owner === undefined) continue
    filters.push({ collection: model(db).collection.name, filter: { [model.owner]: sandboxId } })
  }
  return filters
}

/** Stores the last versions of a sandbox's clock for the key's next sandbox, then deletes the sandbox's documents. */
async function deleteDocuments(
  { db, models }: Pick<SandboxData, 'db' | 'models'>,
  { _id: sandboxId, key_id }: Pick<Sandbox, '_id' | 'key_id'>,
): Promise<void> {
  const [last, messages_last] = await Promise.all([
    readHostClock(db, sandboxId),
    readHostClock(db, sandboxId, 'messages_last'),
  ])
  await keepVersions(db, key_id, {
    last: last.getTime() / 1000,
    messages_last: messages_last.getTime() / 1000,
  })
  for (const { collection, filter } of sandboxFilters(db, models, sandboxId))
    await db.collection(collection).deleteMany(filter)
}
