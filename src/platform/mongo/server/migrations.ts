import {
  compareIndexes,
  createCollections,
  createIndexes,
  dropIndex,
  indexesOf,
  type Preparable,
} from '../collections.ts'
import type { Db } from '../connection.ts'
import {
  definitionsOf,
  latestVersion,
  type Migration,
  type Release,
  raiseSchemaVersion,
  readSchemaState,
} from './schema-version.ts'

/** A step that migrating a database would take. */
export interface PlannedStep {
  step: 'create collection' | 'create index' | 'rebuild index' | 'migrate' | 'drop index'
  what: string
  /** Number of documents that the step affects; null if they are not counted. */
  documents: number | null
}

/**
 * Upgrades a database to this release by creating missing collections and indexes and running pending migrations. The
 * previous release can keep serving requests until {@link finishMigrations} drops the indexes that only that release
 * needs. Does nothing if an earlier run has already found the database up to date for this release.
 *
 * @returns the names of indexes that differ from their definition; these indexes are left unchanged
 */
export async function migrate(db: Db, release: Release): Promise<string[]> {
  const { version, oldest, definitions: found } = await readSchemaState(db, release)
  const models = release.models.map((of) => of(db))
  const definitions = definitionsOf(models)
  if (version >= latestVersion(release.migrations) && found === definitions) return []
  await createCollections(db, models)
  const outstanding = release.migrations.filter((migration) => migration.version > version)
  for (const migration of outstanding) await migration.run(db)
  await createIndexes(models)
  // Migrating beyond `version` implies that no release before `version` is still running.
  if (outstanding.length > 0 && version > oldest) await finishUpTo(db, release.migrations, version)
  const changed = (await compareIndexes(models)).flatMap((one) =>
    one.changed.map(({ options }) => options.name),
  )
  await raiseSchemaVersion(db, {
    version: Math.max(version, latestVersion(release.migrations)),
    oldest,
    ...(changed.length === 0 ? { definitions } : {}),
  })
  return changed
}

/**
 * Completes the upgrade to this release. Call this once no process of an earlier release is running. Migrates documents
 * that earlier releases have stored since {@link migrate} ran, and drops indexes that only earlier releases needed.
 * Afterwards, earlier releases can no longer be started on this database.
 */
export async function finishMigrations(db: Db, { migrations }: Release): Promise<void> {
  await finishUpTo(db, migrations, latestVersion(migrations))
}

async function finishUpTo(db: Db, migrations: Migration[], version: number): Promise<void> {
  const finished = migrations.filter((migration) => migration.version <= version)
  for (const migration of finished) await migration.run(db)
  for (const { collection, name } of await findRetired(db, finished))
    await dropIndex(db.collection(collection), name)
  await raiseSchemaVersion(db, { version, oldest: version })
}

/**
 * Creates missing indexes and rebuilds indexes that differ from their definition.
 *
 * @throws Error if a unique index differs
 */
export async function repairIndexes(db: Db, { models }: Release): Promise<void> {
  await createIndexes(models.map((of) => of(db)))
  for (const { model, changed } of await compareIndexes(models.map((of) => of(db))))
    for (const { key, options } of changed) {
      if (options.unique)
        throw new Error(
          `The unique index "${options.name}" of "${model.collection.name}" differs from its definition: a rebuild would suspend uniqueness, so give the new definition another name`,
        )
      await dropIndex(model.collection, options.name)
      await model.collection.createIndex(key, options)
    }
}

/** Plans the steps of {@link migrate}, {@link repairIndexes} and, if `finish` is true, {@link finishMigrations}. */
export async function planMigration(db: Db, release: Release, finish: boolean): Promise<PlannedStep[]> {
  const { version, oldest } = await readSchemaState(db, release)
  const models = release.models.map((of) => of(db))
  const existing = new Set((await db.listCollections()).map(({ name }) => name))
  const collections = models.map(({ collection }) => collection.name).filter((name) => !existing.has(name))
  const differences = await compareIndexes(models)
  const nameIn = ({ collection }: Preparable, name: string) => `${name} of ${collection.name}`
  const counted = release.migrations.filter((migration) => migration.version > (finish ? oldest : version))
  const retired = finish ? await findRetired(db, release.migrations) : []
  return [
    ...collections.map((what) => ({ step: 'create collection', what, documents: null }) as const),
    ...(await Promise.all(
      counted.map(async (migration) => {
        return { step: 'migrate', what: migration.name, documents: await migration.remaining(db) } as const
      }),
    )),
    ...differences.flatMap(({ model, missing, changed }) => [
      ...missing.map(({ options }) => stepOf('create index', nameIn(model, options.name))),
      ...changed.map(({ options }) => stepOf('rebuild index', nameIn(model, options.name))),
    ]),
    ...retired.map(({ collection, name }) => stepOf('drop index', `${name} of ${collection}`)),
  ]
}

function stepOf(step: PlannedStep['step'], what: string): PlannedStep {
  return { step, what, documents: null }
}

/** Returns the retired indexes that still exist. */
async function findRetired(db: Db, migrations: Migration[]): Promise<{ collection: string; name: string }[]> {
  const retired = migrations.flatMap(({ retiredIndexes }) => Object.entries(retiredIndexes))
  const found = await Promise.all(
    retired.map(async ([collection, names]) => {
      const present = await indexesOf(db.collection(collection))
      const existing = present.map(({ name }) => name).filter((name) => name !== undefined)
      return existing.filter((name) => names.includes(name)).map((name) => ({ collection, name }))
    }),
  )
  return found.flat()
}
