import type { Logger } from 'pino'
import type { KeyActivity } from '../activity/key-activity.ts'
import type { Clock } from '../core/clock.ts'
import type { Config } from '../core/config.ts'
import type { IdSource } from '../core/sequences.ts'
import type { Changes } from '../host-clock/changes.ts'
import type { ClockWatch } from '../platform/mongo/clock-watch.ts'
import type { Db } from '../platform/mongo/connection.ts'
import type { WorkWatch } from '../platform/mongo/turns/work-watch.ts'
import type { OutboxWorker } from '../platform/outbox/worker.ts'
import type { Places } from '../platform/outgoing/places.ts'
import type { RateDecision, RateLimiter } from '../platform/rate-limiter.ts'
import type { SecretBox } from '../platform/secrets/secret-box.ts'
import type { SharedCache } from '../platform/slots.ts'
import type { LimitState, RateWindow } from './access.ts'
import type { UnreadResponses } from './answer/send.ts'
import type { HeldRequests } from './held-requests.ts'
import type { BodyBudget } from './input/body-budget.ts'
import type { KeyLookUps } from './key-look-ups.ts'
import type { Pace } from './pace.ts'
import type { Permission } from './permissions.ts'
import type { Entry, RequestEntry, Visit } from './request.ts'
import type { EnvironmentName } from './roots.ts'

/** A route's external dependencies. They are passed in, so the same routes serve both environments. */
export interface AppContext {
  config: Config
  clock: Clock
  log: Logger
  db: Db
  /** The live database, which stores hosts and keys for the sandbox as well. */
  liveDb: Db
  rateLimiter: RateLimiter
  cache: SharedCache
  authorizer: Authorizer
  keyLookUps: KeyLookUps
  bodyBudget: BodyBudget
  /** Places for readings of calendars in this process. */
  readingPlaces: Places
  /** Places for checks of calendars' files in this process. */
  checkPlaces: Places
  unread: UnreadResponses
  usage: Usage
  activity: KeyActivity
  journal: Journal
  outbox: OutboxWorker
  changes: Changes
  heldRequests: HeldRequests
  pace: Pace
  webhooks: Webhooks
  calendars: Calendars
  clockWatch: ClockWatch
  workWatch: Pick<WorkWatch, 'add'>
  secrets: SecretBox
  /** Secret for hashing an `Idempotency-Key` before it is stored. */
  claimSecret: string
  ids: IdSource
  metrics: RequestMetrics
  environment: Environment
}

/** Sends hints to webhooks. */
export interface Webhooks {
  /** Checks for due deliveries immediately, for example after a webhook was changed or a delivery was requested. */
  wake(): void
}

/** Reads the calendars of rooms. */
export interface Calendars {
  /** Looks at once for calendars that are due, for example because an address was set. */
  wake(): void
  /** Waits for the readings in progress for a while, and begins no more. */
  stop(): Promise<void>
}

/** Live data or the calling key's sandbox. */
export interface Environment {
  name: EnvironmentName
  /** Adds the environment's own steps to a request. Absent on live data, which has no such steps. */
  visit?(entry: Entry): Visit
}

/** The key and host behind a request, and the rate limiter's decision on the request. */
export interface Authorization extends RateDecision {
  key: { id: number; permissions: readonly Permission[]; allowed_from?: readonly string[] | undefined }
  host: { id: number; name: string; email: string; created_at: Date; last_login_at: Date | null }
  /** Requests per minute. */
  limit: number
  window: RateWindow
}

/** A key and its host, from this process's cached record. */
export type KnownKey = Pick<Authorization, 'key' | 'host'>

/** How a request is counted. */
export interface CountedAs {
  /** The rate limit that the request counts against; `default` if undefined. */
  window?: RateWindow | undefined
  /**
   * Called while the limiter decides if this process can foresee that the request will be allowed: the key's record is
   * cached and usable, and the key is known to have room. Only if the authorization then has the very same record was it
   * foreseen rightly.
   */
  foresee?: ((known: KnownKey) => void) | undefined
}

/** Recognizes API keys and counts their requests. */
export interface Authorizer {
  /**
   * Checks a key and counts the request against its rate limit.
   *
   * @param mayLookUp returns false if the client has sent too many wrong keys for another database lookup
   * @throws DomainError `auth` with a message from decisions §3; `rate_limit` if `mayLookUp` returns false
   */
  authorize(
    apiKey: string,
    now: Date,
    mayLookUp: () => Promise<boolean>,
    countedAs?: CountedAs,
  ): Promise<Authorization>
  /**
   * Checks a key again before a long-delayed response is sent, without counting a request.
   *
   * @throws DomainError `auth` if the key is no longer usable
   */
  confirm(apiKey: string, now: Date): Promise<LimitState & Pick<Authorization, 'key'>>
}

/** Counts the requests made with each key. */
export interface Usage {
  track(keyId: number, address: string, now: Date): void
  /** Writes all pending counts. */
  flush(): Promise<void>
}

/** Records each key's requests, so that the key's holder can read them (decisions §18). */
export interface Journal {
  /** Queues an entry for writing. Recording never delays a request or makes it fail. */
  record(key: { id: number; hostId: number }, entry: RequestEntry, where: EntryDestinations): void
  /** Counts a failed authentication against the client's network (decisions §28). */
  countFailure(network: string, entry: RequestEntry): void
  /** Writes all pending entries. */
  flush(): Promise<void>
}

/** The parts of the journal in which a request appears. */
export interface EntryDestinations {
  /** True if the request appears in the list of the key's requests. */
  isListed: boolean
  /** True if the request appears in the counts that are compared with the key's rate limit. */
  isCounted: boolean
}

/** Metrics for requests, the request journal and hints. */
export interface RequestMetrics {
  observeRequest(method: string, route: string, status: number, seconds: number): void
  countDecision(isAllowed: boolean, isShared: boolean): void
  /** Counts entries that were dropped because the journal was full. */
  countDropped(entries: number): void
  /** Counts an attempt to deliver a hint. */
  countHint(isDelivered: boolean): void
  /** Counts an attempt to read a calendar: `read`, `unchanged` or the word for its error. */
  countCalendarReading(outcome: string): void
  /** Records the time in seconds from a change to the response that it triggered for a waiting feed reader. */
  observeDelivery(seconds: number): void
}
