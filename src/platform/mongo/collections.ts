import { isDeepStrictEqual } from 'node:util'
import mongoose, { type Model, type Schema } from 'mongoose'
import type { Db, Session } from './connection.ts'
import { isMissingIndex, isMissingNamespace } from './errors.ts'

type Collection = mongoose.Collection

/**
 * Defines a collection; the result opens its model on a connection. Stores that need no casting use the driver's
 * `model(db).collection` directly, at a third of the cost. Only operations through the model join an ambient
 * transaction.
 */
export function modelOf<T, Id = IdOf<T>>(
  collection: string,
  schema: Schema<T>,
  { owner }: CollectionOptions = {},
): Definition<T, Id> {
  schema.set('collection', collection)
  schema.set('versionKey', false)
  schema.set('minimize', false)
  schema.set('strictQuery', 'throw')
  const open = (db: Db) => (db.models[collection] ?? db.model<T>(collection, schema)) as ModelOf<T, Id>
  return Object.assign(open, { owner })
}

export interface CollectionOptions {
  /**
   * The field that names a document's owner: a host or, in the sandbox, a sandbox. A sandbox's documents are deleted
   * with it. Without this option, the documents belong to no owner.
   */
  owner?: 'owner_id' | '_id'
}

/** A collection's definition, which opens its model on a connection. */
interface Definition<T, Id> {
  (db: Db): ModelOf<T, Id>
  readonly owner: CollectionOptions['owner']
}

/** A model whose driver collection knows the type of the documents' `_id`, which need not be an `ObjectId`. */
type ModelOf<T, Id> = Model<T> & { readonly collection: mongoose.Collection<{ _id: Id }> }

/** The type of a document's `_id`: the declared one or, if none is declared, the one that the database assigns. */
type IdOf<T> = T extends { _id: infer Id } ? Id : mongoose.Types.ObjectId

/** The parts of a model that are needed to create its collection and indexes. */
export interface Preparable {
  collection: Collection
  schema: { indexes(): unknown[] }
  createCollection(): Promise<unknown>
}

/** Creates missing collections, because transactions require their collections to exist. */
export async function createCollections(db: Db, models: Preparable[]): Promise<void> {
  const existing = new Set((await db.listCollections()).map(({ name }) => name))
  const missing = models.filter(({ collection }) => !existing.has(collection.name))
  await Promise.all(missing.map((model) => model.createCollection()))
}

/**
 * Creates missing indexes. Existing indexes are not touched, because a request to create an index that already exists
 * would still lock the database against running transactions. An index whose definition has changed therefore keeps its
 * old definition.
 */
export async function createIndexes(models: Preparable[]): Promise<void> {
  const incomplete = (await compareIndexes(models)).filter(({ missing }) => missing.length > 0)
  await Promise.all(
    incomplete.map(({ model, missing }) =>
      model.collection.createIndexes(missing.map(({ key, options }) => ({ key, ...options }))),
    ),
  )
}

interface IndexDefinition {
  key: Record<string, 1 | -1>
  options: mongoose.mongo.CreateIndexesOptions & { name: string }
}

/** Differences between a collection's indexes and its model's definitions. */
export interface IndexDifference {
  model: Preparable
  missing: IndexDefinition[]
  /** Definitions that differ from the existing index of the same name. */
  changed: IndexDefinition[]
}

/** Compares the indexes of all collections with their definitions: keys, uniqueness, expiry and partial filter. */
export function compareIndexes(models: Preparable[]): Promise<IndexDifference[]> {
  return Promise.all(
    models.map(async (model) => {
      const defined = (model.schema.indexes() as [IndexDefinition['key'], IndexDefinition['options']][]).map(
        ([key, options]) => ({ key, options }),
      )
      const present = new Map((await indexesOf(model.collection)).map((index) => [index.name, index]))
      return {
        model,
        missing: defined.filter(({ options }) => !present.has(options.name)),
        changed: defined.filter(({ key, options }) => {
          const index = present.get(options.name)
          return (
            index &&
            !isDeepStrictEqual(comparedProperties(key, options), comparedProperties(index.key, index))
          )
        }),
      }
    }),
  )
}

/** Returns a collection's indexes; an empty list if the collection does not exist. */
export async function indexesOf(collection: Collection) {
  return collection.indexes().catch((error) => {
    if (isMissingNamespace(error)) return []
    throw error
  })
}

/** Returns the properties by which two index definitions are compared. The order of the keys matters. */
function comparedProperties(
  key: object,
  { unique, expireAfterSeconds, partialFilterExpression }: IndexTraits,
) {
  return { keys: Object.entries(key), unique: Boolean(unique), expireAfterSeconds, partialFilterExpression }
}

type IndexTraits = Pick<
  mongoose.mongo.CreateIndexesOptions,
  'unique' | 'expireAfterSeconds' | 'partialFilterExpression'
>

/** Sets fields of multiple documents; see {@link updateEach}. */
export function setFields(
  model: { collection: Collection; db: Db },
  session: Session,
  changes: { filter: object; set: object }[],
  options: { upsert?: boolean } = {},
): Promise<number> {
  const updates = changes.map(({ filter, set }) => ({ filter, update: { $set: set } }))
  return updateEach(model, session, updates, options)
}

/**
 * Updates multiple documents, each matched by its own filter, with one command. The driver's bulk write would take twice
 * as long for 1,000 rates, because it measures and copies every update. The command must not exceed 16 MB.
 *
 * @returns the number of documents that were matched or, with `upsert`, inserted
 * @throws MongoServerError for the first update that failed
 */
export async function updateEach(
  { collection, db }: { collection: Collection; db: Db },
  session: Session,
  changes: { filter: object; update: object }[],
  { upsert = false } = {},
): Promise<number> {
  const updates = changes.map(({ filter, update }) => {
    return upsert ? { q: filter, u: update, upsert } : { q: filter, u: update }
  })
  const command = { update: collection.name, updates, ordered: false }
  const database = db.getClient().db(db.name)
  const { n, writeErrors: [failed] = [] } = await database.command(command, { session })
  if (failed) throw new mongoose.mongo.MongoServerError(failed)
  return n
}

/** Removes the documents that match `filter`, except the newest `count` by `_id`. */
export async function keepNewest(
  { collection }: Pick<Preparable, 'collection'>,
  filter: object,
  count: number,
): Promise<void> {
  const options = { projection: { _id: 1 }, sort: { _id: -1 }, skip: count } as const
  const last = await collection.findOne(filter, options)
  if (last) await collection.deleteMany({ ...filter, _id: { $lte: last._id } })
}

/** Drops an index. Does nothing if another process has already dropped it. */
export async function dropIndex(collection: Collection, name: string): Promise<void> {
  await collection.dropIndex(name).catch((error) => {
    if (!isMissingIndex(error)) throw error
  })
}
