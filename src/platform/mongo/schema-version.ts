import { createHash } from 'node:crypto'
import { Schema } from 'mongoose'
import { modelOf, type Preparable } from './collections.ts'
import type { Db } from './connection.ts'
import { retryDuplicate } from './errors.ts'
import type { Migration } from './migration.ts'

/** All that a release stores: its collections, and the way to them from what earlier releases stored. */
export interface Release {
  models: ((db: Db) => Preparable)[]
  migrations: Migration[]
}

/** Which releases a database can be served by. */
interface SchemaVersion {
  _id: 'schema'
  /** Of the latest release that was started on it. */
  version: number
  /** Of the earliest release that can still serve it: what that one needs has not been removed. */
  oldest: number
  /** Of the indexes that were last found to be as defined. */
  definitions?: string
}

export const schemaVersionModel = modelOf<SchemaVersion>(
  'schema_version',
  new Schema<SchemaVersion>({
    _id: { type: String, required: true } as never,
    version: { type: Number, required: true },
    oldest: { type: Number, required: true },
    definitions: String,
  }),
)

/** The database was finished for a later release, which this one knows nothing of. */
export class FutureSchemaError extends Error {
  override readonly name = 'FutureSchemaError'
  constructor(oldest: number, known: number) {
    super(
      `The database has schema version ${oldest}, and this release knows versions up to ${known}: start a later release`,
    )
  }
}

/** Where a database stands. */
export type SchemaState = Omit<SchemaVersion, '_id'>

/**
 * Where a database stands.
 *
 * @throws FutureSchemaError when this release cannot serve it
 */
export async function readSchemaState(db: Db, { models, migrations }: Release): Promise<SchemaState> {
  // Not through the model, which would cast what is damaged.
  const stored = await schemaVersionModel(db).collection.findOne<SchemaVersion>({ _id: 'schema' } as never)
  const known = latestVersion(migrations)
  if (stored && ![stored.version, stored.oldest].every((number) => Number.isInteger(number) && number >= 0))
    throw new Error(
      'The document of the collection "schema_version" is damaged: two whole numbers are needed',
    )
  if (stored && stored.oldest > known) throw new FutureSchemaError(stored.oldest, known)
  if (stored) return stored
  return (await isNew(db, models)) ? { version: known, oldest: known } : { version: 0, oldest: 0 }
}

/** The version of a release. */
export function latestVersion(migrations: Migration[]): number {
  return migrations.at(-1)?.version ?? 0
}

async function isNew(db: Db, models: Release['models']): Promise<boolean> {
  const existing = new Set((await db.listCollections()).map(({ name }) => name))
  return models.every((of) => !existing.has(of(db).collection.name))
}

/** Represents the collections and indexes of a release: another text where any of them is defined otherwise. */
export function definitionsOf(models: Preparable[]): string {
  const defined = models.map(({ collection, schema }) => [collection.name, schema.indexes()])
  return createHash('sha256').update(JSON.stringify(defined)).digest('base64url')
}

/** Notes how far a database is; never back. */
export async function raiseSchemaVersion(
  db: Db,
  { version, oldest, definitions }: SchemaState,
): Promise<void> {
  const change = {
    $max: { version, oldest },
    ...(definitions === undefined ? {} : { $set: { definitions } }),
  }
  await retryDuplicate(() =>
    schemaVersionModel(db).updateOne({ _id: 'schema' }, change, { upsert: true }).exec(),
  )
}
