import { auditModel, hostAuditModel } from './admin/model.ts'
import { availabilityJobs } from './availability/jobs.ts'
import {
  availabilityCompactedModel,
  availabilityRowModel,
  availabilityWrittenModel,
} from './availability/model.ts'
import { bookingModel } from './bookings/model.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Config } from './config.ts'
import { consumerModel } from './consumers/model.ts'
import type { AppContext } from './context.ts'
import { pageEndModel } from './feed/model.ts'
import { HostChanges } from './host-clock/changes.ts'
import { hostClockModel } from './host-clock/model.ts'
import { hostModel } from './hosts/model.ts'
import { HeldRequests } from './http/held-requests.ts'
import { storedResponseModel } from './http/idempotency/model.ts'
import { sequenceIds } from './ids.ts'
import { KeyAuthorizer } from './keys/authorizer.ts'
import { keyModel } from './keys/model.ts'
import { UsageTracker } from './keys/usage.ts'
import { listingModel } from './listings/model.ts'
import { pricesModel } from './listings/prices-model.ts'
import { rateJobModel } from './listings/rates/model.ts'
import { conversationModel, messageModel } from './messages/model.ts'
import { migrations } from './migrations.ts'
import { sequenceModel } from './platform/ids/sequences.ts'
import { openLog } from './platform/log.ts'
import { ClockWatch } from './platform/mongo/clock-watch.ts'
import { type Db, databaseNameOf, openMongo } from './platform/mongo/connection.ts'
import { type EmbeddedMongod, openEmbeddedMongod } from './platform/mongo/embedded.ts'
import { lockModel } from './platform/mongo/locks.ts'
import { migrate } from './platform/mongo/migrations.ts'
import { type Release, schemaVersionModel } from './platform/mongo/schema-version.ts'
import { jobModel, type Topics } from './platform/outbox/outbox.ts'
import { OutboxWorker } from './platform/outbox/worker.ts'
import { MemoryRateLimiter, type RateLimiter } from './platform/rate-limiter.ts'
import { RedisRateLimiter } from './platform/redis/rate-limiter.ts'
import {
  developmentSecret,
  developmentSecretModel,
  storedDevelopmentSecret,
} from './platform/secrets/development-secret.ts'
import { SecretBox } from './platform/secrets/secret-box.ts'
import { requireNoSecret, requireRightSecret, secretCheckModel } from './platform/secrets/secret-check.ts'
import { providerKeyModel } from './provider-keys/model.ts'
import { hasKeysUnderOthers } from './provider-keys/store.ts'
import { RequestJournal } from './requests/journal.ts'
import { requestCountsModel, requestModel } from './requests/model.ts'
import { openSandboxEnvironment } from './sandbox/environment.ts'
import { sandboxKeyModel, sandboxModel } from './sandbox/model.ts'
import { sandboxDatabase } from './sandbox/store.ts'
import { Metrics } from './server/metrics.ts'
import { userJobs } from './users/jobs.ts'
import { userModel } from './users/model.ts'
import { WebhookLanes } from './webhooks/lanes.ts'
import { webhookDeliveryModel, webhookModel } from './webhooks/model.ts'

/** All collections, so that they and their indexes exist before the first transaction. */
export const models = [
  auditModel,
  availabilityCompactedModel,
  availabilityRowModel,
  availabilityWrittenModel,
  bookingModel,
  consumerModel,
  conversationModel,
  developmentSecretModel,
  hostAuditModel,
  hostClockModel,
  hostModel,
  jobModel,
  keyModel,
  listingModel,
  lockModel,
  messageModel,
  pageEndModel,
  pricesModel,
  providerKeyModel,
  rateJobModel,
  requestCountsModel,
  requestModel,
  sandboxKeyModel,
  sandboxModel,
  schemaVersionModel,
  secretCheckModel,
  sequenceModel,
  storedResponseModel,
  userModel,
  webhookDeliveryModel,
  webhookModel,
]

/** What this release stores. */
export const release: Release = { models, migrations }

/** All topics of the outbox, as the features declare them. */
export function outboxTopics(context: Pick<AppContext, 'db' | 'clock' | 'config'>): Topics {
  return { ...userJobs(context), ...availabilityJobs(context) }
}

/** The database alone, as the administrators' commands need it. */
export interface OpenDatabase {
  db: Db
  /** Names of indexes that differ from their definition, as far as that was looked at. */
  changedIndexes: string[]
  close(): Promise<void>
}

/** How a database is opened. */
export interface Opening {
  /** As it is, instead of brought up to this release, with all its collections and indexes. */
  asIs?: boolean
  /** Operations have no time limit, see {@link openMongo}. */
  isPatient?: boolean
}

/**
 * Opens the configured MongoDB, or the embedded one.
 *
 * @throws FutureSchemaError when only a later release can serve it
 */
export async function openDatabase(
  config: Config,
  { asIs = false, isPatient = false }: Opening = {},
): Promise<OpenDatabase> {
  const embedded: EmbeddedMongod | null = config.mongodbUrl ? null : await openEmbeddedMongod(config.dataDir)
  try {
    const url = config.mongodbUrl ?? (embedded as EmbeddedMongod).url
    const changedIndexes = asIs ? [] : await prepareDatabase(url)
    const db = await openMongo(url, isPatient)
    return {
      db,
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

async function prepareDatabase(url: string): Promise<string[]> {
  const db = await openMongo(url, true)
  try {
    return [...(await migrate(db, release)), ...(await migrate(sandboxDatabase(db), release))]
  } finally {
    await db.close()
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

/** What a service process runs on: live data and, beside it, the sandbox. */
export interface OpenContext {
  live: AppContext
  sandbox: AppContext
  metrics: Metrics
  close(): Promise<void>
}

/** What a service process takes for granted, and a test does not. */
export interface Surroundings {
  /** Dates what is written. */
  clock?: Clock | undefined
  /** The clock of this machine, which is compared with the database's. */
  wall?: (() => number) | undefined
  /** The database is never given up, see {@link openMongo}. */
  isPatient?: boolean
}

/**
 * Opens everything a service process needs.
 *
 * @throws Error when the database cannot be reached
 */
export async function compose(
  config: Config,
  { clock = systemClock, wall, isPatient = false }: Surroundings = {},
): Promise<OpenContext> {
  const log = openLog(config.logLevel)
  const rateLimiter = await openRateLimiter(config, log)
  const database = await openDatabase(config, { isPatient })
  try {
    return await composeOn({ config, clock, log, rateLimiter, database }, wall)
  } catch (error) {
    // A start that is refused, by a wrong secret for one, leaves no server of ours behind.
    await database.close()
    await rateLimiter.close()
    throw error
  }
}

/** What is opened first, and closed last. */
interface Opened extends Pick<AppContext, 'config' | 'clock' | 'log' | 'rateLimiter'> {
  database: OpenDatabase
}

async function composeOn(
  { config, clock, log, rateLimiter, database }: Opened,
  wall: (() => number) | undefined,
): Promise<OpenContext> {
  const { db, changedIndexes, close: closeDatabase } = database
  // It may make this release slow, or let in what it takes for impossible.
  for (const index of changedIndexes)
    log.error({ index }, 'An index differs from its definition: run "partnerctl db migrate"')
  const clockWatch = new ClockWatch(db, log, wall)
  await clockWatch.measure()
  const usage = new UsageTracker(db, log)
  const topics = outboxTopics({ db, clock, config })
  const outbox = new OutboxWorker(db, topics, clock, log, () => clockWatch.isSound())
  outbox.start()
  const heldRequests = new HeldRequests(rateLimiter.places, config.maxHeldRequests)
  const metrics = new Metrics(() => heldRequests.size)
  const journal = new RequestJournal(db, log, (entries) => metrics.countDropped(entries))
  const changes = new HostChanges(db, log)
  const secrets = await openSecrets(config, db)
  const shared = { db, liveDb: db, clock, clockWatch, config, secrets, changes, log, metrics }
  const webhooks = new WebhookLanes({ ...shared, environment: { name: 'live' } })
  const live: AppContext = {
    config,
    clock,
    log,
    db,
    liveDb: db,
    rateLimiter,
    authorizer: new KeyAuthorizer(db, rateLimiter, config.rateLimitPerMinute),
    usage,
    journal,
    outbox,
    changes,
    heldRequests,
    clockWatch,
    secrets,
    webhooks,
    ids: sequenceIds(db),
    metrics,
    environment: { name: 'live' },
  }
  const sandbox = await openSandboxEnvironment(live, models, outboxTopics)
  webhooks.start()
  return {
    live,
    sandbox: sandbox.context,
    metrics,
    async close() {
      clockWatch.close()
      // Together: while the database does not respond, each waits for it as long as it may.
      const sending = webhooks.stop().then(() => changes.close())
      await Promise.all([sending, sandbox.close(), outbox.stop(), usage.close(), journal.close()])
      await rateLimiter.close()
      await closeDatabase()
    },
  }
}
