import mongoose, { type Model, type Schema } from 'mongoose'
import type { Db } from './connection.ts'

type Collection = mongoose.Collection

/** What a collection written by an earlier version needs before it gets its new indexes. */
export interface Upgrade<T> {
  /** The fields missing from a document of an earlier version. */
  fill(document: T): Partial<T>
  /** Obsolete indexes, which would refuse what is now allowed. */
  retiredIndexes: string[]
}

const upgrades = new WeakMap<object, Upgrade<mongoose.mongo.BSON.Document>>()

/**
 * A function that returns the model of a collection on a connection, created once per connection. Where nothing is to
 * be cast, stores ask `model(db).collection`, the driver itself, at a third of the cost; only what goes through the
 * model joins an ambient transaction.
 */
export function modelOf<T>(
  collection: string,
  schema: Schema<T>,
  upgrade?: Upgrade<T>,
): (db: Db) => Model<T> {
  if (upgrade) upgrades.set(schema, upgrade as Upgrade<mongoose.mongo.BSON.Document>)
  schema.set('collection', collection)
  schema.set('versionKey', false)
  schema.set('minimize', false)
  schema.set('strictQuery', 'throw')
  return (db) => (db.models[collection] as Model<T> | undefined) ?? db.model<T>(collection, schema)
}

/** What {@link prepareCollections} needs of a model. */
export interface Preparable {
  collection: Collection
  schema: { indexes(): unknown[] }
  createCollection(): Promise<unknown>
  createIndexes(): Promise<unknown>
}

/**
 * Creates missing collections and indexes: a transaction may not create any. What exists is not touched, because even
 * a request to create it again would lock the database against running transactions.
 */
export async function prepareCollections(db: Db, models: ((db: Db) => Preparable)[]): Promise<void> {
  const existing = new Set((await db.listCollections()).map(({ name }) => name))
  for (const model of models.map((of) => of(db))) {
    if (!existing.has(model.collection.name)) await model.createCollection()
    if ((await missingIndexes(model)).length === 0) continue
    const upgrade = upgrades.get(model.schema)
    if (upgrade) await upgradeCollection(model.collection, upgrade)
    await model.createIndexes()
  }
}

/** Runs before the indexes are built, and again if it was interrupted: they are built last. */
async function upgradeCollection(
  collection: Collection,
  { fill, retiredIndexes }: Upgrade<mongoose.mongo.BSON.Document>,
): Promise<void> {
  const present = (await collection.indexes()).map(({ name }) => name as string)
  for await (const document of collection.find())
    await collection.updateOne({ _id: document._id }, { $set: fill(document) })
  for (const name of retiredIndexes.filter((retired) => present.includes(retired)))
    await collection.dropIndex(name)
}

/** The names of the indexes that a collection should have but does not. */
export async function missingIndexes(model: Preparable): Promise<string[]> {
  const wanted = (model.schema.indexes() as [object, { name: string }][]).map(([, { name }]) => name)
  const present = new Set((await model.collection.indexes()).map(({ name }) => name))
  return wanted.filter((name) => !present.has(name))
}

/** The size of an object as a stored document. */
export function documentBytes(value: object): number {
  return mongoose.mongo.BSON.calculateObjectSize(value as mongoose.mongo.BSON.Document)
}
