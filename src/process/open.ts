import { hasKeysUnderOthers } from '../access/provider-keys/store.ts'
import type { Config } from '../core/config.ts'
import type { AppContext } from '../http/context.ts'
import { type Db, databaseNameOf, openMongo } from '../platform/mongo/connection.ts'
import { type EmbeddedMongod, openEmbeddedMongod } from '../platform/mongo/embedded.ts'
import { migrate } from '../platform/mongo/migrations.ts'
import { MemoryRateLimiter, type RateLimiter } from '../platform/rate-limiter.ts'
import { RedisRateLimiter } from '../platform/redis/rate-limiter.ts'
import { developmentSecret, storedDevelopmentSecret } from '../platform/secrets/development-secret.ts'
import { SecretBox } from '../platform/secrets/secret-box.ts'
import { requireNoSecret, requireRightSecret } from '../platform/secrets/secret-check.ts'
import { sandboxDatabase } from '../sandbox/store.ts'
import { release } from './release.ts'

/** The database alone, as the administrators' commands need it. */
export interface OpenDatabase {
  db: Db
  /** The address that it was opened with, password included. */
  url: string
  /** Names of indexes that differ from their definition, as far as that was looked at. */
  changedIndexes: string[]
  close(): Promise<void>
}

/** How a database is opened. */
export interface OpenOptions {
  /** As it is, instead of brought up to this release, with all its collections and indexes. */
  skipMigrations?: boolean
  /** Operations have no time limit, see {@link openMongo}. */
  noTimeouts?: boolean
}

/**
 * Opens the configured MongoDB, or the embedded one.
 *
 * @throws FutureSchemaError when only a later release can serve it
 */
export async function openDatabase(
  config: Config,
  { skipMigrations = false, noTimeouts = false }: OpenOptions = {},
): Promise<OpenDatabase> {
  const embedded: EmbeddedMongod | null = config.mongodbUrl ? null : await openEmbeddedMongod(config.dataDir)
  try {
    const url = config.mongodbUrl ?? (embedded as EmbeddedMongod).url
    // An index may take longer to build than a request waits.
    const unlimited = await openMongo(url, true)
    const changedIndexes = skipMigrations ? [] : await prepareDatabase(unlimited)
    if (!noTimeouts) await unlimited.close()
    const db = noTimeouts ? unlimited : await openMongo(url)
    return {
      ...{ db, url, changedIndexes },
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

/** Closes the database if it cannot be served. */
async function prepareDatabase(db: Db): Promise<string[]> {
  try {
    return [...(await migrate(db, release)), ...(await migrate(sandboxDatabase(db), release))]
  } catch (error) {
    await db.close()
    throw error
  }
}

/**
 * Redis where it is configured, otherwise this process alone, with a warning.
 *
 * @throws Error when Redis refuses this service
 */
export async function openRateLimiter(config: Config, log?: AppContext['log']): Promise<RateLimiter> {
  const namespace = databaseNameOf(config.mongodbUrl ?? '')
  if (config.redisUrl) return new RedisRateLimiter(config.redisUrl, namespace, log).open()
  log?.warn('REDIS_URL is not set: rate limits are counted per process and not shared')
  return new MemoryRateLimiter()
}

/**
 * Encryption under `SECRET_KEY`, or under the development secret when it is not set.
 *
 * @throws Error for a `SECRET_KEY` that the database is not used with, also for none
 */
export async function openSecrets(config: Config, db: Db): Promise<SecretBox> {
  const { secretKey, otherSecretKeys } = config
  if (secretKey === undefined) {
    await requireNoSecret(db)
    return new SecretBox(await developmentSecret(db))
  }
  // A database that was used without a secret before has values under that of its development.
  const earlier = await storedDevelopmentSecret(db)
  const secrets = new SecretBox(secretKey, [...otherSecretKeys, ...(earlier === null ? [] : [earlier])])
  await requireRightSecret(db, secrets, () => hasKeysUnderOthers(db, secrets.ids))
  return secrets
}
