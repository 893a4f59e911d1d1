import type { Trace } from '../core/trace.ts'
import type { Access, LimitState } from './access.ts'
import type { IncomingBody } from './input/incoming-body.ts'
import type { Permission } from './permissions.ts'

/** The sender of an authorized request. */
export interface Caller {
  readonly keyId: number
  /** The host or sandbox whose data the request reads and changes. */
  readonly ownerId: number
  readonly isSandbox: boolean
  readonly permissions: readonly Permission[]
  /** Client address, for `login_ip` and the key's usage. */
  readonly address: string
  /** Maximum time, in seconds, for which the request may be held; undefined if there is no limit. */
  readonly maxHoldSeconds: number | undefined
  readonly host: { id: number; name: string; email: string; createdAt: Date; lastLoginAt: Date | null }
}

/** A request's input other than its path and query. */
export interface RequestInput {
  readonly idempotencyKey: string | undefined
  /** The JSON body as sent, including unknown fields; undefined if the route takes no body. */
  readonly body: Record<string, unknown> | undefined
}

/** A request as it arrives at its route. */
export interface Arrival {
  request: Request
  /** Path pattern of the matched route. */
  route: string
  params: Record<string, string> | undefined
  set: ResponseSettings
  server: { requestIP(request: Request): { address: string } | null } | null
  facts: RequestFacts
}

/** Status and headers of a response that is being prepared. */
export interface ResponseSettings {
  status?: number | string
  headers: Record<string, string | number | undefined>
}

/** A request that the pipeline has accepted, as a handler gets it. A GET may reach its handler before it is admitted. */
export interface Accepted<Params extends object = object, Query = unknown, Body = unknown> {
  request: Request
  /** Path pattern of the matched route. */
  route: string
  facts: RequestFacts
  set: ResponseSettings
  caller: Caller
  params: Params
  query: Query
  body: Body
  sent: RequestInput
  admitted: Admitted
}

/**
 * Resolves once the request is admitted, and rejects if it is refused after all (`early-start.ts`). A handler that changes,
 * announces or notes anything, or looks at the headers of its response, waits for it first.
 */
export type Admitted = () => Promise<void> | undefined

/** The parts of a request that a route's `check` and `current` get before the body is checked. */
export interface Unchecked<Params extends object = object> {
  /** The fields of the {@link Caller} that are needed to find a resource. */
  caller: { ownerId: number; keyId: number }
  params: Params
  /** The body as it was sent. */
  body: Record<string, unknown>
  /** Current time in the caller's environment. */
  now: Date
}

/**
 * Everything that is known about a request, apart from the {@link Caller} and the {@link RequestInput}, which handlers
 * receive. It grows from step to step, so that the log, the metrics and the journal record refused requests too. Each part
 * says when it is known.
 */
export interface RequestFacts extends FactsOnArrival, Partial<FactsOfInput>, Partial<FactsAtEnd> {
  /** Known as soon as the pipeline serves the request; absent for a request that no route below a root takes. */
  served?: ServedRequest
  /** The environment's steps around the request; absent on live data, and on routes that skip these steps. */
  visit?: Visit | undefined
}

/** Known when the request arrives. */
interface FactsOnArrival {
  /** `performance.now()` when the request arrived. */
  readonly startedAt: number
  /** Time of arrival, from the clock that also timestamps stored data. */
  readonly at: Date
  /** The trace that the request belongs to. */
  readonly trace: Trace | undefined
  /** The body as it arrives. */
  readonly incomingBody: IncomingBody
  /** How long the request was deliberately held, in milliseconds. This time is not part of the request's duration. */
  heldMilliseconds: number
}

/** Which route serves a request, and who sends it, as far as it is known. */
export interface ServedRequest {
  readonly operationId: string
  /**
   * True if the request only reads information about its own key. The key's log lists such a request only if it fails.
   */
  readonly readsOwnKey: boolean
  /** Client address. */
  readonly address: string
  /** The request's key, once it is known, even if the key is inactive or expired. */
  key?: { id: number; hostId: number }
  /** True if the request counts against its key's main rate limit. */
  isCounted: boolean
  /** True if the request's authentication failed. A 401 injected by a sandbox fault does not count. */
  isUnauthenticated: boolean
}

/** Known once the pipeline has read the input, one after another, before it is checked. */
interface FactsOfInput {
  /** The query as it was sent, with integers and lists in the form of the route. */
  query: Record<string, unknown>
  sent: RequestInput
  /** Paths of the fields of the body that were ignored, at most 20 (decisions §27). Known once the body is valid. */
  ignored: string[]
}

/** Known once the response is ready. */
interface FactsAtEnd {
  /** The error that the request was refused with; absent if it succeeded. */
  error: unknown
  /** `performance.now()` when the response was ready. In a busy process, the request may be logged much later. */
  answeredAt: number
}

/** A request whose key is known, as it enters an environment. */
export interface Entry {
  request: Request
  facts: RequestFacts
  /** Path pattern of the matched route. */
  route: string
  access: Access
  limits: LimitState & { key: { id: number } }
  set: ResponseSettings
}

/** The sandbox's part in a request, in the order of the pipeline. */
export interface Visit {
  /**
   * Runs after the rate limit and address checks, for a request that exceeds the limit too. May throw to respond instead
   * of the route.
   */
  enter(isAllowed: boolean): Promise<void>
  /** Runs after the permission check. Returns the id of the sandbox, which owns the request's data instead of the host. */
  open(): Promise<number>
  /** Runs the handler of a write, or throws to refuse the write. */
  write(run: () => Promise<object>, body: RequestInput['body']): Promise<object>
  /** Runs once the response is ready. Sends or replaces the response. */
  respond(answer: object, send: () => Sent): Promise<Sent>
  /** Id of the sandbox, once it is known; undefined while the key has none. */
  readonly ownerId: number | undefined
  /** Maximum time, in seconds, for which the request may be held; undefined if there is no limit. */
  readonly maxHoldSeconds: number | undefined
  /** Name of the fault to show in the request's log entry; undefined if there is none. */
  readonly shownFault: string | undefined
  /**
   * The status to log if the environment dropped the response or cut it off: the status that would have been sent, or 0
   * if the request was dropped before it was handled. Undefined for all other responses.
   */
  readonly lostStatus: number | undefined
}

/** What Elysia is given to send: a finished response, or JSON text, which it sends with the context's headers. */
export type Sent = Response | string

/** A request as its key's log shows it, without its body, headers or query (decisions §18). */
export interface RequestEntry {
  /** Time of arrival. */
  at: Date
  /** Null if `REQUEST_IDS=off`. */
  request_id: string | null
  method: string
  path: string
  status: number
  error: ShownError | null
  /** Duration in milliseconds, excluding the time for which the request was held. */
  duration_ms: number
  /** True if the response is the stored response to an earlier request. */
  replayed: boolean
  sandbox: boolean
  address: string
  /** The fault that the sandbox injected into the request; null if there was none or a certification hides it. */
  fault: string | null
}

/** A response's error as the client saw it. */
export interface ShownError {
  type: string
  message: string
  errors: { path: string; code: string; message: string }[]
}
