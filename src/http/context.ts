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

/** Everything a route needs from outside; passed in, never imported. Routes cannot tell which environment it is. */
export interface AppContext {
  config: Config
  clock: Clock
  log: Logger
  db: Db
  /** Where hosts and keys are: the live database, also in the sandbox. */
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
  /** With which an `Idempotency-Key` is hashed before it is stored. */
  claimSecret: string
  ids: IdSource
  metrics: RequestMetrics
  environment: Environment
}

/** Sends hints to webhooks. */
export interface Webhooks {
  /** Tells that an endpoint was made or changed, or that somebody wants a delivery. */
  wake(): void
}

/** Live data, or the sandbox of the calling key. */
export interface Environment {
  name: EnvironmentName
  /** Finds a key's sandbox, null where it has none yet; absent on live data. */
  findSandbox?(keyId: number): Promise<SandboxInUse | null>
  /** The certification that watches a key's sandbox, which may have begun or ended a second ago; absent on live data. */
  findCourse?(keyId: number): Promise<Course | null>
  /** Gives a key's sandbox; absent on live data. */
  openSandbox?(keyId: number): Promise<SandboxInUse>
  /** Clears a key's sandbox; absent on live data. */
  clearSandbox?(keyId: number): Promise<void>
  /** Moves a sandbox's clock forward; false where it would be too far ahead. Absent on live data. */
  advanceClock?(scope: number, seconds: number): Promise<boolean>
  /**
   * Runs what plays in a sandbox while nothing else does; absent on live data.
   *
   * @param work told of a way to ask for room for so many documents: throws DomainError `conflict` where there is none
   */
  inTurn?<T>(
    scope: number,
    work: (requireRoom: (documents: number) => Promise<void>) => Promise<T>,
  ): Promise<T>
  /** The rules of a sandbox's faults; absent on live data. */
  faults?: {
    read(scope: number): Promise<FaultRule[]>
    replace(scope: number, rules: FaultRule[]): Promise<void>
    /** The fault that the first try of a hint meets, or null. */
    ofHint(scope: number, event: string): Promise<Fault | null>
  }
  /** Learns how far the clocks of sandboxes are ahead, for what works in the background. Absent on live data. */
  refreshClocks?(): Promise<void>
}

/** The sandbox that a request uses. */
export interface SandboxInUse {
  /** Takes the place of the host id. */
  scope: number
  /**
   * The fault that the next request to a route meets, or null: counts it. Absent where there are no rules.
   *
   * @param route with its method, for example `POST /sandbox/bookings`
   */
  faultOf?(route: string): Promise<Fault | null>
  /** @throws DomainError `conflict` when it is full */
  requireRoom(): Promise<void>
  /** The certification that watches this sandbox; absent where none runs. */
  course?: Course
  /** Notes a write that was carried out, by the most that it can have added: it lengthens the life of the sandbox. */
  noteWrite(growth: { documents: number; bytes: number }): Promise<void>
}

/** A certification that is running in a sandbox (decisions §25). */
export interface Course {
  /** The fault that the next request to a route meets, or null. */
  faultOf(route: string): Promise<Fault | null>
  /** Stores what was seen of a request, before its response is sent. */
  observe(seen: Observed): Promise<void>
  /** A request is held no longer than this. */
  maxHoldSeconds: number
}

/** Which rate limit a request counts against: reading the key itself uses up nothing of the main limit. */
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
   * @param mayLookUp returns false when the client has sent too many wrong keys for another database query
   * @throws DomainError `auth` with the messages of decisions §3
   */
  authorize(
    apiKey: string,
    now: Date,
    mayLookUp: () => Promise<boolean>,
    window?: RateWindow,
  ): Promise<Authorization>
  /**
   * Looks at a key again, before a response that was long in coming; counts nothing.
   *
   * @throws DomainError `auth` when it is no longer usable
   */
  confirm(apiKey: string, now: Date): Promise<LimitState>
}

/** Counts the use of keys. */
export interface Usage {
  track(keyId: number, address: string, now: Date): void
  /** Writes what was counted so far. */
  flush(): Promise<void>
}

/** Keeps what was done with each key, for its holder to look at (decisions §18). */
export interface Journal {
  /** Takes an entry; it is written soon, and never delays or fails a request. */
  record(key: { id: number; hostId: number }, entry: RequestEntry, where: EntryDestinations): void
  /** Writes what was taken so far. */
  flush(): Promise<void>
}

/** Where a request appears. */
export interface EntryDestinations {
  /** In the list of the key's requests. */
  isListed: boolean
  /** In the counts that are compared with the key's rate limit. */
  isCounted: boolean
}

/** Counts what requests did. */
export interface RequestMetrics {
  observeRequest(method: string, route: string, status: number, seconds: number): void
  countDecision(isAllowed: boolean, isShared: boolean): void
  /** Entries that the journal had no room for. */
  countDropped(entries: number): void
  /** A try to deliver a hint. */
  countHint(isDelivered: boolean): void
}
