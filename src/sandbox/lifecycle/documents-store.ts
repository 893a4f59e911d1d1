import type { AppContext } from '../../http/context.ts'
import type { CollectionOptions, Preparable } from '../../platform/mongo/collections.ts'
import type { Db } from '../../platform/mongo/connection.ts'

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

/** Returns the number of a sandbox's documents, or `maximum` if there are more. */
export async function countDocuments(
  { db, models }: Pick<SandboxData, 'db' | 'models'>,
  sandboxId: number,
  maximum: number,
): Promise<number> {
  let counted = 0
  for (const { collection, filter } of sandboxFilters(db, models, sandboxId))
    if (counted < maximum)
      counted += await db.collection(collection).countDocuments(filter, { limit: maximum - counted })
  return counted
}

/** Deletes all of a sandbox's documents. */
export async function deleteDocuments(
  { db, models }: Pick<SandboxData, 'db' | 'models'>,
  sandboxId: number,
): Promise<void> {
  for (const { collection, filter } of sandboxFilters(db, models, sandboxId))
    await db.collection(collection).deleteMany(filter)
}
