import pino, { type Logger } from 'pino'
import { carryOverAvailability } from './availability/earlier.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Config } from './config.ts'
import { ClockWatch } from './infra/clock-watch.ts'
import { type EmbeddedMongod, openEmbeddedMongod } from './infra/embedded-mongod.ts'
import { type Db, openMongo, prepareCollections } from './infra/mongo.ts'
import { OutboxWorker } from './infra/outbox-worker.ts'
import { RedisWindows } from './infra/redis-windows.ts'
import { SecretBox } from './infra/secret-box.ts'
import { developmentSecret } from './infra/secrets.ts'
import { type IdSource, sequenceIds } from './infra/sequences.ts'
import { MemoryWindows, type Windows } from './infra/windows.ts'
import { jobHandlers } from './jobs.ts'
import { Authenticator } from './keys/authentication.ts'
import { UsageTracker } from './keys/usage.ts'
import { Metrics } from './metrics.ts'
import { models } from './models.ts'
import { moveEarlierRates } from './rates/earlier.ts'
import { openSandboxPlot } from './sandbox/plot.ts'

/**
 * Where routes stand: on live data, or on the sandbox of the calling key. The routes themselves cannot tell.
 */
export interface Plot {
  name: 'live' | 'sandbox'
  /** The scope of a key's sandbox, which takes the place of its host; absent on live data. */
  openSandbox?(keyId: number, isWrite: boolean): Promise<number>
}

/** Everything a route needs from outside; passed in, never imported. */
export interface Deps {
  config: Config
  clock: Clock
  log: Logger
  db: Db
  windows: Windows
  authenticator: Authenticator
  usage: UsageTracker
  outbox: OutboxWorker
  clockWatch: ClockWatch
  secrets: SecretBox
  ids: IdSource
  metrics: Metrics
  plot: Plot
}

/** The database alone, as the administrator's commands need it. */
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
    await carryOverAvailability(db)
  } finally {
    await db.close()
  }
}

/** Redis where it is configured, else windows in this process, with a warning. */
export async function openWindows(config: Config, namespace: string, log?: Logger): Promise<Windows> {
  if (config.redisUrl) return new RedisWindows(config.redisUrl, namespace, log).open()
  log?.warn('REDIS_URL is unset: rate limits live in this process and are not shared with others')
  return new MemoryWindows()
}

/** Encryption under `SECRET_KEY`, or under the development secret where it is unset. */
export async function openSecrets({ secretKey, secretKeyPrevious }: Config, db: Db): Promise<SecretBox> {
  return new SecretBox(secretKey ?? (await developmentSecret(db)), secretKeyPrevious)
}

/** Fields that may carry a secret are never written, whatever is logged. */
const redaction = {
  paths: ['*.password', '*.provider_api_key', '*.headers', '*.authorization', '*["x-api-key"]', '*.body'],
  remove: true,
}

/** The log, on standard error. Lines are written together, at the latest a tenth of a second after they came. */
export function openLog({ logLevel }: Config): Logger {
  const destination = pino.destination({ dest: 2, sync: true, minLength: 4096, periodicFlush: 100 })
  process.on('exit', () => destination.flushSync())
  return pino({ level: logLevel, redact: redaction }, destination)
}

/** What a service process runs on: live data and, beside it, the sandbox. */
export interface OpenDeps {
  deps: Deps
  sandbox: Deps
  close(): Promise<void>
}

/**
 * Opens everything a service process needs.
 *
 * @param clock tells what is written as the time
 * @param wall the clock of this process, which is held against the database's
 * @throws Error when the database cannot be reached
 */
export async function openDeps(
  config: Config,
  clock: Clock = systemClock,
  wall?: () => number,
): Promise<OpenDeps> {
  const log = openLog(config)
  const database = await openDatabase(config)
  const { db } = database
  const windows = await openWindows(config, db.name, log)
  const clockWatch = new ClockWatch(db, log, wall)
  await clockWatch.look()
  await moveEarlierRates(db)
  const usage = new UsageTracker(db, log)
  const outbox = new OutboxWorker(db, jobHandlers({ db, clock }, config.tagManagerUrl), clock, log)
  outbox.start()
  const deps: Deps = {
    config,
    clock,
    log,
    db,
    windows,
    authenticator: new Authenticator(db, windows, config.rateLimitPerMinute),
    usage,
    outbox,
    clockWatch,
    secrets: await openSecrets(config, db),
    ids: sequenceIds(db),
    metrics: new Metrics(),
    plot: { name: 'live' },
  }
  const sandbox = await openSandboxPlot(deps)
  return {
    deps,
    sandbox: sandbox.deps,
    async close() {
      clockWatch.close()
      await sandbox.close()
      await outbox.stop()
      await usage.close()
      await windows.close()
      await database.close()
    },
  }
}
