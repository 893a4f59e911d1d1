import { keyActivityStorage } from '../access/keys/activity-store.ts'
import { KeyAuthorizer } from '../access/keys/authorizer.ts'
import { KeyChanges } from '../access/keys/key-changes.ts'
import { UsageTracker } from '../access/keys/usage.ts'
import { RequestJournal } from '../access/requests/journal.ts'
import { ActivityTracker } from '../activity/tracker.ts'
import { type Bounds, bounds as certificationBounds } from '../certification/course/cases.ts'
import { CertificationLeader } from '../certification/leader.ts'
import { recordRequest } from '../certification/record/recording.ts'
import { AlarmLeader } from '../changes/health/alarms/leader.ts'
import { WebhookWorker } from '../changes/webhooks/send/worker.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import type { Config } from '../core/config.ts'
import { HostChanges } from '../host-clock/changes.ts'
import { UnreadResponses } from '../http/answer/send.ts'
import type { AppContext } from '../http/context.ts'
import { HeldRequests } from '../http/held-requests.ts'
import { newBodyBudget } from '../http/input/body.ts'
import { KeyLookUps } from '../http/key-look-ups.ts'
import { Pace } from '../http/pace.ts'
import { models, outboxTopics } from '../operations/release.ts'
import { sequenceIds } from '../platform/ids/id-source.ts'
import { openLog } from '../platform/log.ts'
import { ClockWatch } from '../platform/mongo/clock-watch.ts'
import { measureCommands, openMongo, serverVersion } from '../platform/mongo/connection.ts'
import { WorkWatch } from '../platform/mongo/turns/work-watch.ts'
import { OutboxWorker } from '../platform/outbox/worker.ts'
import { storedSecret } from '../platform/secrets/stored-secret.ts'
import { withTimeoutOrNull } from '../platform/time-limits.ts'
import { openSandboxEnvironment } from '../sandbox/environment.ts'
import type { SandboxContext } from '../sandbox/sandbox-context.ts'
import { newCheckPlaces, newReadingPlaces } from '../stays/calendars/places.ts'
import { CalendarReader } from '../stays/calendars/reader.ts'
import { Metrics } from './metrics.ts'
import { type OpenDatabase, openDatabase, openRateLimiter, openSecrets } from './open-context.ts'

/** Time allowed for a certification step to finish on shutdown. An unfinished step is left to the next process. */
const stopMilliseconds = 5000

/** A service process's contexts, for live data and for the sandbox. */
export interface OpenContext {
  live: AppContext
  sandbox: SandboxContext
  metrics: Metrics
  /** Returns the versions of the MongoDB and Redis servers; null for a server that is missing or reports none. */
  versions(): Promise<{ mongodb: string | null; redis: string | null }>
  /** Starts to export the spans that wait, while the process finishes its requests. */
  flushTraces(): void
  close(): Promise<void>
}

/** Values that tests use in place of a service process's defaults. */
export interface Overrides {
  /** The clock that dates stored data. */
  clock?: Clock | undefined
  /** This machine's clock, which is compared with the database's. */
  wall?: (() => number) | undefined
  /** Disables the database operations' time limits; see {@link openMongo}. */
  noTimeouts?: boolean
  /** The time limits of certifications. */
  certifying?: Bounds | undefined
  /** The interval of the rounds of the alarms on live data, in milliseconds. */
  alarmInterval?: number | undefined
  /** The interval at which the process asks for other processes' work, in milliseconds. */
  workInterval?: number | undefined
}

/**
 * Opens everything that a service process needs.
 *
 * @throws Error if the database cannot be reached
 */
export async function compose(config: Config, overrides: Overrides = {}): Promise<OpenContext> {
  const { clock = systemClock, noTimeouts = false } = overrides
  const log = openLog(config.logLevel)
  const rateLimiter = await openRateLimiter(config, log)
  const database = await openDatabase(config, { noTimeouts })
  try {
    return await composeOn({ config, clock, log, rateLimiter, database }, overrides)
  } catch (error) {
    // A failed start, for example because of a wrong secret, must not leave an embedded server running.
    await database.close()
    await rateLimiter.close()
    throw error
  }
}

/** Resources that are opened first and closed last. */
interface Opened extends Pick<AppContext, 'config' | 'clock' | 'log' | 'rateLimiter'> {
  database: OpenDatabase
}

async function composeOn(
  { config, clock, log, rateLimiter, database }: Opened,
  { wall, certifying = certificationBounds, alarmInterval, workInterval }: Overrides,
): Promise<OpenContext> {
  const { db, changedIndexes, close: closeDatabase } = database
  // An index that differs may slow this release down or allow data that the code assumes to be impossible.
  for (const index of changedIndexes)
    log.error({ index }, 'An index differs from its definition: run "partnerctl db migrate"')
  // A start may be refused here, so nothing that runs in the background begins before.
  const secrets = await openSecrets(config, db)
  const claimSecret = await storedSecret(db, secrets, 'idempotency')
  const clockWatch = new ClockWatch(db, log, wall)
  await clockWatch.measure()
  const usage = new UsageTracker(db, log)
  const activity = new ActivityTracker(keyActivityStorage(db), log)
  const topics = outboxTopics({ db, clock, config })
  const workWatch = new WorkWatch(db, log, workInterval)
  const mayWork = () => clockWatch.isSound()
  const outbox = new OutboxWorker({ db, topics, clock, log, workWatch, mayWork })
  const heldRequests = new HeldRequests(rateLimiter.slots, config.maxHeldRequests)
  const metrics = new Metrics(() => heldRequests.size)
  const traces = await openTraces(config, log, metrics)
  measureCommands(db, (command, seconds) => metrics.observeCommand(command, seconds))
  const pace = new Pace()
  rateLimiter.measure((seconds) => {
    metrics.observeHit(seconds)
    pace.noteDecision(seconds)
  })
  const journal = new RequestJournal(db, log, (entries) => metrics.countDropped(entries))
  const changes = new HostChanges(db, log)
  const keyChanges = new KeyChanges(changes)
  const shared = {
    db,
    liveDb: db,
    clock,
    clockWatch,
    workWatch,
    config,
    secrets,
    changes,
    log,
    metrics,
    rateLimiter,
  }
  const webhooks = new WebhookWorker({ ...shared, environment: { name: 'live' } })
  const readingPlaces = newReadingPlaces()
  const calendars = new CalendarReader({ ...shared, readingPlaces, environment: { name: 'live' } })
  const live: AppContext = {
    config,
    clock,
    log,
    db,
    liveDb: db,
    rateLimiter,
    cache: rateLimiter.cache,
    keyLookUps: new KeyLookUps(),
    bodyBudget: newBodyBudget(),
    readingPlaces,
    checkPlaces: newCheckPlaces(),
    unread: new UnreadResponses(),
    authorizer: new KeyAuthorizer({ db, rateLimiter, keyChanges }, config.rateLimitPerMinute),
    usage,
    activity,
    journal,
    outbox,
    changes,
    heldRequests,
    pace,
    clockWatch,
    workWatch,
    secrets,
    claimSecret,
    webhooks,
    calendars,
    ids: sequenceIds(db),
    metrics,
    environment: { name: 'live' },
  }
  const sandbox = await openSandboxEnvironment(live, {
    models,
    topicsOf: outboxTopics,
    observer: {
      maxHoldSeconds: certifying.hold / 1000,
      observe: (sandboxDb, id, seen) => recordRequest(sandboxDb, id, seen, clockWatch.databaseNow()),
    },
    workInterval,
  })
  const certifications = new CertificationLeader(sandbox.context, certifying)
  const alarms = new AlarmLeader(live, alarmInterval)
  outbox.start()
  webhooks.start()
  calendars.start()
  return {
    live,
    sandbox: sandbox.context,
    metrics,
    async versions() {
      const [mongodb, redis] = await Promise.all([serverVersion(db), rateLimiter.serverVersion()])
      return { mongodb, redis }
    },
    flushTraces: () => traces?.flush(),
    async close() {
      clockWatch.close()
      workWatch.close()
      await withTimeoutOrNull(certifications.stop(), stopMilliseconds)
      // These stop concurrently because each waits up to its own time limit if the database does not respond.
      const sending = webhooks.stop().then(() => changes.close())
      await Promise.all([
        sending,
        calendars.stop(),
        alarms.stop(),
        sandbox.close(),
        outbox.stop(),
        usage.close(),
        activity.close(),
        journal.close(),
      ])
      await traces?.close()
      await rateLimiter.close()
      await closeDatabase()
    },
  }
}

/** Exports spans if a collector is configured. */
async function openTraces({ tracing }: Config, log: AppContext['log'], metrics: Metrics) {
  if (!tracing) return undefined
  const { exportTraces } = await import('./traces.ts')
  return exportTraces(tracing, log, (spans) => metrics.countDroppedSpans(spans))
}
