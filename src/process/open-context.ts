import { hasKeysUnderOthers } from '../access/provider-keys/store.ts'
import type { Config } from '../core/config.ts'
import type { AppContext } from '../http/context.ts'
import { release } from '../operations/release.ts'
import { type Db, databaseNameOf, openMongo } from '../platform/mongo/connection.ts'
import { type EmbeddedMongod, openEmbeddedMongod } from '../platform/mongo/server/embedded.ts'
import { migrate } from '../platform/mongo/server/migrations.ts'
import { MemoryRateLimiter, type RateLimiter } from '../platform/rate-limiter.ts'
import { RedisRateLimiter } from '../platform/redis/rate-limiter.ts'
import { SecretBox } from '../platform/secrets/secret-box.ts'
import { requireNoSecret, requireRightSecret } from '../platform/secrets/secret-check.ts'
import { developmentSecret, storedDevelopmentSecret } from '../platform/secrets/stored-secret.ts'
import { sandboxDatabase } from '../sandbox/store.ts'

/** An open database, without the rest of the service. */
export interface OpenDatabase {
  db: Db
  /** The connection string that the database was opened with, including the password. */
  url: string
  /** Names of indexes that differ from their definition; empty if migrations were skipped. */
  changedIndexes: string[]
  close(): Promise<void>
}

/** Options for opening a database. */
export interface OpenOptions {
  /** Opens the database as it is, without migrating it or creating its collections and indexes. */
  skipMigrations?: boolean
  /** Disables the operations' time limits; see {@link openMongo}. */
  noTimeouts?: boolean
}

/**
 * Opens the configured MongoDB, or the embedded one if none is configured.
 *
 * @throws FutureSchemaError if only a later release can serve the database
 */
export async function openDatabase(
  config: Config,
  { skipMigrations = false, noTimeouts = false }: OpenOptions = {},
): Promise<OpenDatabase> {
  const embedded: EmbeddedMongod | null = config.mongodbUrl ? null : await openEmbeddedMongod(config.dataDir)
  try {
    const url = config.mongodbUrl ?? (embedded as EmbeddedMongod).url
    // Building an index may take longer than the time limits allow.
    const unlimited = await openMongo(url, true)
    const changedIndexes = skipMigrations ? [] : await prepareDatabase(unlimited)
    // A connection that is only closed keeps its models of all collections.
    if (!noTimeouts) await unlimited.destroy()
    const db = noTimeouts ? unlimited : await openMongo(url)
    return {
      db,
      url,
      changedIndexes,
      async close() {
        await db.close()
        await embedded?.close()
      },
    }
  } catch (error) {
    await embedded?.close()
    throw error
  }
}

/** Migrates live data and the sandbox. Returns the names of changed indexes. Closes the database on failure. */
async function prepareDatabase(db: Db): Promise<string[]> {
  try {
    return [...(await migrate(db, release)), ...(await migrate(sandboxDatabase(db), release))]
  } catch (error) {
    await db.close()
    throw error
  }
}

/**
 * Opens a rate limiter on Redis. If Redis is not configured, hits are counted in this process only.
 *
 * @throws Error if Redis refuses this service
 */
export async function openRateLimiter(config: Config, log?: AppContext['log']): Promise<RateLimiter> {
  const namespace = databaseNameOf(config.mongodbUrl ?? '')
  if (config.redisUrl) return new RedisRateLimiter(config.redisUrl, namespace, log).open()
  return new MemoryRateLimiter()
}

/**
 * Returns the {@link SecretBox} for `SECRET_KEY`, or for the development secret if `SECRET_KEY` is not set.
 *
 * @throws Error if the database was used with another `SECRET_KEY`, or with any `SECRET_KEY` if none is set now
 */
export async function openSecrets(config: Config, db: Db): Promise<SecretBox> {
  const { secretKey, otherSecretKeys } = config
  if (secretKey === undefined) {
    await requireNoSecret(db)
    return new SecretBox(await developmentSecret(db))
  }
  // A database that was first used without `SECRET_KEY` may hold values encrypted under its development secret.
  const earlier = await storedDevelopmentSecret(db)
  const secrets = new SecretBox(secretKey, [...otherSecretKeys, ...(earlier === null ? [] : [earlier])])
  await requireRightSecret(db, secrets, () => hasKeysUnderOthers(db, secrets.ids))
  return secrets
}
