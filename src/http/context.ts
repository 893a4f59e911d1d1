import type { Logger } from 'pino'
import type { Clock } from '../core/clock.ts'
import type { Config } from '../core/config.ts'
import type { ClockWatch } from '../platform/mongo/clock-watch.ts'
import type { Db } from '../platform/mongo/connection.ts'
import type { OutboxWorker } from '../platform/outbox/worker.ts'
import type { RateDecision, RateLimiter } from '../platform/rate-limiter.ts'
import type { SecretBox } from '../platform/secrets/secret-box.ts'
import type { Changes } from '../versions/changes.ts'
import type { Fault, FaultRule } from './fault-rule.ts'
import type { HeldRequests } from './held-requests.ts'
import type { IdSource } from './ids.ts'
import type { Observed } from './observation.ts'
import type { EnvironmentName } from './paths.ts'
import type { Permission } from './permissions.ts'
import type { RequestEntry } from './request-entry.ts'

/** A route's external dependencies. They are passed in, never imported. Routes cannot tell the environments apart. */
export interface AppContext {
  config: Config
  clock: Clock
  log: Logger
  db: Db
  /** The live database, which stores hosts and keys even for the sandbox. */
  liveDb: Db
  rateLimiter: RateLimiter
  authorizer: Authorizer
  usage: Usage
  journal: Journal
  outbox: OutboxWorker
  changes: Changes
  heldRequests: HeldRequests
  webhooks: Webhooks
  clockWatch: ClockWatch
  secrets: SecretBox
  /** Secret with which an `Idempotency-Key` is hashed before it is stored. */
  claimSecret: string
  ids: IdSource
  metrics: RequestMetrics
  environment: Environment
}

/** Sends hints to webhooks. */
export interface Webhooks {
  /** Looks for deliveries immediately, for use after an endpoint is created or changed or a delivery is requested. */
  wake(): void
}

/** Live data or the calling key's sandbox. */
export interface Environment {
  name: EnvironmentName
  /** Finds a key's sandbox, or null if it has none yet. Absent on live data. */
  findSandbox?(keyId: number): Promise<SandboxInUse | null>
  /** Finds the certification that watches a key's sandbox; the result may be a second old. Absent on live data. */
  findCourse?(keyId: number): Promise<Course | null>
  /** Returns a key's sandbox, creating one if necessary. Absent on live data. */
  openSandbox?(keyId: number): Promise<SandboxInUse>
  /** Clears a key's sandbox. Absent on live data. */
  clearSandbox?(keyId: number): Promise<void>
  /** Moves a sandbox's clock forward, or returns false if it would be too far ahead. Absent on live data. */
  advanceClock?(scope: number, seconds: number): Promise<boolean>
  /**
   * Runs `work` while no other scenario plays in the same sandbox. Absent on live data.
   *
   * @param work receives a function that takes a number of documents and throws DomainError `conflict` if the sandbox
   * has no room for them
   */
  inTurn?<T>(
    scope: number,
    work: (requireRoom: (documents: number) => Promise<void>) => Promise<T>,
  ): Promise<T>
  /** Fault rules of the sandboxes. Absent on live data. */
  faults?: {
    read(scope: number): Promise<FaultRule[]>
    replace(scope: number, rules: FaultRule[]): Promise<void>
    /** Returns the fault that a hint's first try meets, or null. */
    ofHint(scope: number, event: string): Promise<Fault | null>
  }
  /** Reloads the offsets of all sandbox clocks for background work. Absent on live data. */
  refreshClocks?(): Promise<void>
}

/** The sandbox that a request uses. */
export interface SandboxInUse {
  /** Id that takes the place of the host id. */
  scope: number
  /**
   * Counts a request to a route and returns the fault that it meets, or null. Absent if there are no rules.
   *
   * @param route method and path, for example `POST /sandbox/bookings`
   */
  faultOf?(route: string): Promise<Fault | null>
  /** @throws DomainError `conflict` if the sandbox is full */
  requireRoom(): Promise<void>
  /** The certification that watches this sandbox; absent if none is running. */
  course?: Course
  /** Records a completed write, with an upper bound on its growth, and extends the sandbox's lifetime. */
  noteWrite(growth: { documents: number; bytes: number }): Promise<void>
}

/** A certification running in a sandbox (decisions §25). */
export interface Course {
  /** Returns the fault that the next request to a route meets, or null. */
  faultOf(route: string): Promise<Fault | null>
  /** Stores a request's observation before its response is sent. */
  observe(seen: Observed): Promise<void>
  /** Maximum time, in seconds, for which a request is held. */
  maxHoldSeconds: number
}

/** The rate limit that a request counts against. Requests about the key itself leave the main limit untouched. */
export type RateWindow = 'default' | 'insight'

/** The key and host behind a request, and the rate limit's decision on it. */
export interface Authorization extends RateDecision {
  key: { id: number; permissions: readonly Permission[] }
  host: { id: number; name: string; email: string; created_at: Date; last_login_at: Date | null }
  /** Requests per minute. */
  limit: number
  window: RateWindow
}

/** The values of the rate limit headers. */
export type LimitState = Pick<Authorization, 'window' | 'limit' | 'remaining' | 'waitMilliseconds'>

/** Recognizes API keys and counts their requests. */
export interface Authorizer {
  /**
   * Checks a key and counts the request against its rate limit.
   *
   * @param mayLookUp returns false if the client has sent too many wrong keys to be allowed another database query
   * @throws DomainError `auth` with the messages of decisions §3
   */
  authorize(
    apiKey: string,
    now: Date,
    mayLookUp: () => Promise<boolean>,
    window?: RateWindow,
  ): Promise<Authorization>
  /**
   * Checks a key again before a long-delayed response is sent, without counting a request.
   *
   * @throws DomainError `auth` if the key is no longer usable
   */
  confirm(apiKey: string, now: Date): Promise<LimitState>
}

/** Counts the requests made with each key. */
export interface Usage {
  track(keyId: number, address: string, now: Date): void
  /** Writes all counts collected so far. */
  flush(): Promise<void>
}

/** Records each key's requests for the key's holder to read (decisions §18). */
export interface Journal {
  /** Accepts an entry to be written soon. Recording never delays or fails a request. */
  record(key: { id: number; hostId: number }, entry: RequestEntry, where: EntryDestinations): void
  /** Writes all entries accepted so far. */
  flush(): Promise<void>
}

/** Places where a request appears. */
export interface EntryDestinations {
  /** True if the request appears in the list of the key's requests. */
  isListed: boolean
  /** True if the request appears in the counts that are compared with the key's rate limit. */
  isCounted: boolean
}

/** Metrics of requests, the request journal and hints. */
export interface RequestMetrics {
  observeRequest(method: string, route: string, status: number, seconds: number): void
  countDecision(isAllowed: boolean, isShared: boolean): void
  /** Counts entries that were dropped because the journal was full. */
  countDropped(entries: number): void
  /** Counts an attempt to deliver a hint. */
  countHint(isDelivered: boolean): void
}
