import { createHash } from 'node:crypto'
import { modelOf, type Preparable } from '../collections.ts'
import type { Db } from '../connection.ts'
import { retryDuplicate } from '../errors.ts'
import { field, schemaOf } from '../fields.ts'

/** A step from one version of the stored data to the next. */
export interface Migration {
  /** The version after the step, one higher than before. */
  version: number
  /** A description, such as `Add the host to stored responses`. */
  name: string
  /** Counts the documents that the migration still has to change. */
  remaining(db: Db): Promise<number>
  /**
   * Changes the remaining documents. It may be interrupted, rerun, or run by multiple processes concurrently.
   * Meanwhile, the previous release keeps serving requests, so a migration may only add data that the previous release
   * ignores.
   */
  run(db: Db): Promise<void>
  /** Names of indexes that only the previous release needs, by collection. Completing the upgrade drops them. */
  retiredIndexes: Record<string, string[]>
}

/** A release's collections, and the migrations that convert earlier releases' data. */
export interface Release {
  models: ((db: Db) => Preparable)[]
  migrations: Migration[]
}

/** The document that records which releases can serve a database. */
interface SchemaVersion {
  _id: 'schema'
  /** Schema version of the latest release that has been started on the database. */
  version: number
  /** Version of the earliest release that can still serve the database, because nothing it needs has been removed. */
  oldest: number
  /** Hash of the definitions that all indexes last matched; see {@link definitionsOf}. */
  definitions?: string
}

export const schemaVersionModel = modelOf<SchemaVersion>(
  'schema_version',
  schemaOf({
    _id: field.text,
    version: field.number,
    oldest: field.number,
    definitions: String,
  }),
)

/** Error thrown if a database has been upgraded to a later release and can no longer be served by this one. */
export class FutureSchemaError extends Error {
  override readonly name = 'FutureSchemaError'
  constructor(oldest: number, known: number) {
    super(
      `The database has schema version ${oldest}, and this release knows versions up to ${known}: start a later release`,
    )
  }
}

/** The stored schema version without its id. */
export type SchemaState = Omit<SchemaVersion, '_id'>

/**
 * Reads a database's schema version. A new database has this release's version.
 *
 * @throws FutureSchemaError if only a later release can serve the database
 * @throws Error if the stored version is damaged
 */
export async function readSchemaState(db: Db, { models, migrations }: Release): Promise<SchemaState> {
  // This bypasses the model, because the model would cast a damaged document's values.
  const stored = await schemaVersionModel(db).collection.findOne<SchemaVersion>({ _id: 'schema' })
  const known = latestVersion(migrations)
  if (stored && ![stored.version, stored.oldest].every((number) => Number.isInteger(number) && number >= 0))
    throw new Error(
      'The document in the collection "schema_version" is damaged: "version" and "oldest" must be whole numbers',
    )
  if (stored && stored.oldest > known) throw new FutureSchemaError(stored.oldest, known)
  if (stored) return stored
  return (await isNew(db, models)) ? { version: known, oldest: known } : { version: 0, oldest: 0 }
}

/** Returns the schema version of a release with these migrations. */
export function latestVersion(migrations: Migration[]): number {
  return migrations.at(-1)?.version ?? 0
}

async function isNew(db: Db, models: Release['models']): Promise<boolean> {
  const existing = new Set((await db.listCollections()).map(({ name }) => name))
  return models.every((of) => !existing.has(of(db).collection.name))
}

/** Returns a hash that changes whenever the definition of any of these collections or their indexes changes. */
export function definitionsOf(models: Preparable[]): string {
  const defined = models.map(({ collection, schema }) => [collection.name, schema.indexes()])
  return createHash('sha256').update(JSON.stringify(defined)).digest('base64url')
}

/** Raises a database's schema version and never lowers it. Also stores `definitions`, if given. */
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
