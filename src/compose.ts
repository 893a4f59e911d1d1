import { auditModel } from './admin/model.ts'
import { availabilityJobs } from './availability/jobs.ts'
import {
  availabilityCompactedModel,
  availabilityRowModel,
  availabilityWrittenModel,
} from './availability/model.ts'
import { upgradeAvailability } from './availability/upgrade.ts'
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
import { rateJobModel } from './listings/rate-jobs-model.ts'
import { waitingRatesModel } from './listings/waiting-rates-model.ts'
import { conversationModel, messageModel } from './messages/model.ts'
import { sequenceModel } from './platform/ids/sequences.ts'
import { openLog } from './platform/log.ts'
import { ClockWatch } from './platform/mongo/clock-watch.ts'
import { prepareCollections } from './platform/mongo/collections.ts'
import { type Db, openMongo } from './platform/mongo/connection.ts'
import { type EmbeddedMongod, openEmbeddedMongod } from './platform/mongo/embedded.ts'
import { lockModel } from './platform/mongo/locks.ts'
import { jobModel, type Topics } from './platform/outbox/outbox.ts'
import { OutboxWorker } from './platform/outbox/worker.ts'
import { MemoryRateLimiter, type RateLimiter } from './platform/rate-limiter.ts'
import { RedisRateLimiter } from './platform/redis/rate-limiter.ts'
import { developmentSecret, developmentSecretModel } from './platform/secrets/development-secret.ts'
import { SecretBox } from './platform/secrets/secret-box.ts'
import { providerKeyModel } from './provider-keys/model.ts'
import { rateJobs } from './rates/jobs.ts'
import { upgradeWaitingRates } from './rates/upgrade.ts'
import { RequestJournal } from './requests/journal.ts'
import { requestBucketModel, requestCountsModel } from './requests/model.ts'
import { openSandboxEnvironment } from './sandbox/environment.ts'
import { sandboxModel } from './sandbox/model.ts'
import { Metrics } from './server/metrics.ts'
import { userJobs } from './users/jobs.ts'
import { userModel } from './users/model.ts'

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
  hostClockModel,
  hostModel,
  jobModel,
  keyModel,
  listingModel,
  lockModel,
  messageModel,
  pageEndModel,
  providerKeyModel,
  rateJobModel,
  requestBucketModel,
  requestCountsModel,
  sandboxModel,
  sequenceModel,
  storedResponseModel,
  userModel,
  waitingRatesModel,
]

/** All topics of the outbox, as the features declare them. */
export function outboxTopics(context: Pick<AppContext, 'db' | 'clock' | 'config'>): Topics {
  return { ...userJobs(context), ...rateJobs(context), ...availabilityJobs(context) }
}

/** The database alone, as the administrators' commands need it. */
export interface OpenDatabase {
  db: Db
  close(): Promise<void>
}

/** Opens the configured MongoDB, or the embedded one; collections and indexes exist afterwards. */
export async function openDatabase(config: Config): Promise<OpenDatabase> {
  const embedded: EmbeddedMongod | null = config.mongodbUrl ? null : await openEmbeddedMongod(config.dataDir)
  try {
    const url = config.mongodbUrl ?? (embedded as EmbeddedMongod).url
    await prepareDatabase(url)
    const db = await openMongo(url)
    return {
      db,
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

async function prepareDatabase(url: string): Promise<void> {
  const db = await openMongo(url, true)
  try {
    await prepareCollections(db, models)
    await upgradeAvailability(db)
  } finally {
    await db.close()
  }
}

/** Redis where it is configured, otherwise this process alone, with a warning. */
export async function openRateLimiter(
  config: Config,
  namespace: string,
  log?: AppContext['log'],
): Promise<RateLimiter> {
  if (config.redisUrl) return new RedisRateLimiter(config.redisUrl, namespace, log).open()
  log?.warn('REDIS_URL is not set: rate limits are counted per process and not shared')
  return new MemoryRateLimiter()
}

/** Encryption under `SECRET_KEY`, or under the development secret when it is not set. */
export async function openSecrets({ secretKey, secretKeyPrevious }: Config, db: Db): Promise<SecretBox> {
  return new SecretBox(secretKey ?? (await developmentSecret(db)), secretKeyPrevious)
}

/** What a service process runs on: live data and, beside it, the sandbox. */
export interface OpenContext {
  live: AppContext
  sandbox: AppContext
  metrics: Metrics
  close(): Promise<void>
}

/**
 * Opens everything a service process needs.
 *
 * @param clock dates what is written
 * @param wall the clock of this machine, which is compared with the database's
 * @throws Error when the database cannot be reached
 */
export async function compose(
  config: Config,
  clock: Clock = systemClock,
  wall?: () => number,
): Promise<OpenContext> {
  const log = openLog(config.logLevel)
  const { db, close: closeDatabase } = await openDatabase(config)
  const rateLimiter = await openRateLimiter(config, db.name, log)
  const clockWatch = new ClockWatch(db, log, wall)
  await clockWatch.measure()
  await upgradeWaitingRates(db)
  const usage = new UsageTracker(db, log)
  const outbox = new OutboxWorker(db, outboxTopics({ db, clock, config }), clock, log)
  outbox.start()
  const heldRequests = new HeldRequests(rateLimiter.places, config.maxHeldRequests)
  const metrics = new Metrics(() => heldRequests.size)
  const journal = new RequestJournal(db, clock, log, (entries) => metrics.countDropped(entries))
  const changes = new HostChanges(db, log)
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
    secrets: await openSecrets(config, db),
    ids: sequenceIds(db),
    metrics,
    environment: { name: 'live' },
  }
  const sandbox = await openSandboxEnvironment(live, models, outboxTopics)
  return {
    live,
    sandbox: sandbox.context,
    metrics,
    async close() {
      clockWatch.close()
      await changes.close()
      await sandbox.close()
      await outbox.stop()
      await usage.close()
      await journal.close()
      await rateLimiter.close()
      await closeDatabase()
    },
  }
}
