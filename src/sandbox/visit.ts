import { LRUCache } from 'lru-cache'
import { DomainError } from '../core/errors.ts'
import type { AppContext } from '../http/context.ts'
import { requestIdOf } from '../http/envelope.ts'
import type { Arrival, Exchange, RequestInput, Sent, Visit } from '../http/request.ts'
import type { Db } from '../platform/mongo/connection.ts'
import type { SandboxClocks } from './clock/clocks.ts'
import { takeRequestFault } from './faults/choose.ts'
import { injectFault, truncateResponse } from './faults/inject.ts'
import type { Fault } from './faults/rule.ts'
import type { OwnedModel } from './lifecycle/documents-store.ts'
import { recordWrite } from './lifecycle/lifetime.ts'
import { findSandbox, openSandbox } from './lifecycle/open.ts'
import { requireRoom } from './lifecycle/room.ts'
import type { OpenSandbox } from './store.ts'

/** A request to an observed sandbox, as reported just before its response is sent. */
export interface Observed {
  /** Method and route, for example `POST /sandbox/bookings`. */
  operation: string
  /** Time of arrival on the database's clock. */
  at: Date
  sandboxId: number
  keyId: number
  requestId: string | null
  /** Status of the response, even if a fault drops or cuts it; 200 for a page that is sent as a 304. */
  status: number
  /** The fault injected into the request; if there is none, `broken` if the client disconnected, otherwise null. */
  fault: string | null
  query: unknown
  sent: RequestInput | undefined
  /** `data` of a successful response; null for an error or a response without a body. */
  data: unknown
}

/**
 * Receives the requests to observed sandboxes, and limits how long these requests are held. Certifications are the only
 * observer. `process/wiring.ts` passes it in, because the sandbox knows nothing of what lies above it.
 */
export interface Observer {
  observe(db: Db, observerId: number, seen: Observed): Promise<void>
  maxHoldSeconds: number
}

/** Resources shared by all visits to the sandboxes. */
export type Sandboxes = Pick<
  AppContext,
  'db' | 'clock' | 'config' | 'ids' | 'heldRequests' | 'clockWatch'
> & {
  models: OwnedModel[]
  clocks: SandboxClocks
  observer: Observer
}

/** How long a key's refused requests share a lookup, so that even a flood of refused requests stays cheap. */
const refusedMilliseconds = 1000
const maxRefusedKeys = 10_000

/** Returns a function that creates the sandbox's {@link Visit} for a request (decisions §13 and §22). */
export function visitsOf(sandboxes: Sandboxes): (arrival: Arrival) => Visit {
  const refused = new LRUCache<number, Promise<OpenSandbox | null>>({
    max: maxRefusedKeys,
    ttl: refusedMilliseconds,
  })
  const findRefused = (keyId: number) => {
    const finding = refused.get(keyId) ?? findSandbox(sandboxes, keyId).catch(() => null)
    refused.set(keyId, finding, { noUpdateTTL: true })
    return finding
  }
  return (arrival) => new SandboxVisit(sandboxes, arrival, findRefused)
}

/**
 * Maximum number of documents that a write adds per item. A booking comes with a message, a conversation and a stored
 * response.
 */
const documentsPerItem = 5

/** The sandbox's steps around one request. */
class SandboxVisit implements Visit {
  private sandbox: OpenSandbox | null = null
  private at = new Date()
  private fault: Fault['fault'] | undefined
  private spoiledStatus: number | undefined

  constructor(
    private readonly sandboxes: Sandboxes,
    private readonly arrival: Arrival,
    private readonly findRefused: (keyId: number) => Promise<OpenSandbox | null>,
  ) {}

  /** Finds the sandbox, so that a refused request is observed too. Products are graded on how they react to a 429. */
  async refuse(): Promise<void> {
    this.sandbox = await this.findRefused(this.keyId)
    this.at = this.sandboxes.clockWatch.databaseNow()
  }

  /**
   * Finds the key's open sandbox, if any, and injects the fault that its rules select for the request.
   *
   * @throws DomainError `conflict` if the route controls the sandbox while a certification is running in it
   */
  async enter(): Promise<void> {
    const { access, set } = this.arrival
    this.use(await findSandbox(this.sandboxes, this.keyId))
    this.at = this.sandboxes.clockWatch.databaseNow()
    if (access.environment === 'steers') {
      if (!this.isObserved) return
      throw new DomainError('conflict', 'A certification is running and controls this sandbox until it ends')
    }
    if (access.environment === 'spared') return
    const fault = await this.takeFault()
    if (!fault) return
    this.fault = fault.fault
    if (!this.isObserved) set.headers['sandbox-fault'] = fault.fault
    await injectFault(this.sandboxes, fault, this.arrival)
  }

  async open(): Promise<number> {
    if (!this.sandbox) this.use(await openSandbox(this.sandboxes, this.keyId))
    return this.sandboxId
  }

  async beforeWrite(): Promise<void> {
    if (this.sandbox) await requireRoom(this.sandboxes, this.sandbox)
  }

  /** Records the write and an upper bound on the sandbox's growth. This also extends the sandbox's lifetime. */
  async afterWrite(body: RequestInput['body']): Promise<void> {
    const items = Array.isArray(body?.data) ? body.data.length : 1
    const bytes = body ? Buffer.byteLength(JSON.stringify(body)) : 0
    await recordWrite(this.sandboxes, this.sandboxId, { documents: items * documentsPerItem, bytes })
  }

  async respond(answered: Exchange, send: () => Sent | undefined): Promise<Sent | undefined> {
    await this.report(answered)
    const { fault } = this
    const sent = send()
    if (fault !== 'lost_response' && fault !== 'cut_response') return sent
    const response = toResponse(sent ?? answered.response, this.arrival.set)
    this.spoiledStatus = response.status
    return truncateResponse(fault, response)
  }

  get ownerId(): number | undefined {
    return this.sandbox?._id
  }

  get maxHoldSeconds(): number | undefined {
    return this.isObserved ? this.sandboxes.observer.maxHoldSeconds : undefined
  }

  /** The fault to show in headers and in the log. A certification's faults stay hidden (decisions §25). */
  get shownFault(): string | undefined {
    return this.isObserved ? undefined : this.fault
  }

  get lostStatus(): number | undefined {
    return this.fault === 'lost_request' ? 0 : this.spoiledStatus
  }

  private get keyId(): number {
    return this.arrival.limits.key.id
  }

  private get sandboxId(): number {
    return this.sandbox?._id ?? 0
  }

  private get isObserved(): boolean {
    return this.sandbox?.observer_id != null
  }

  private use(sandbox: OpenSandbox | null): void {
    this.sandbox = sandbox
    if (sandbox) this.sandboxes.clocks.note(sandbox._id, sandbox.ahead_seconds)
  }

  /** Counts the request against the sandbox's rules. Returns the fault to inject, or null. */
  private async takeFault(): Promise<Fault | null> {
    const { sandbox, sandboxes, arrival } = this
    // The response to a HEAD request has no body, so it can be neither lost nor cut.
    if (arrival.request.method === 'HEAD') return null
    const route = `${arrival.request.method} ${arrival.route}`
    return sandbox?.rules.length ? takeRequestFault(sandboxes.db, sandbox, route, this.at) : null
  }

  /** Reports the request to the observer. Without an injected fault, a disconnected client is reported as `broken`. */
  private async report(answered: Exchange): Promise<void> {
    const { sandbox, sandboxes, arrival, at, sandboxId, keyId } = this
    if (sandbox?.observer_id == null) return
    const { request, route, set } = arrival
    const { query, sent } = answered
    const { status, body } = splitResponse(answered.response, set)
    await sandboxes.observer.observe(sandboxes.db, sandbox.observer_id, {
      operation: `${request.method} ${route}`,
      at,
      sandboxId,
      keyId,
      requestId: requestIdOf({ set }) ?? null,
      status,
      fault: this.fault ?? (request.signal.aborted ? 'broken' : null),
      query,
      sent,
      data: (body as { data?: unknown } | undefined)?.data ?? null,
    })
  }
}

/** Builds the response that Elysia would send for a string, an envelope, or a status with its envelope. */
function toResponse(response: unknown, set: Arrival['set']): Response {
  if (response instanceof Response) return response
  const headers = set.headers as Record<string, string>
  if (typeof response === 'string')
    return new Response(response, { status: Number(set.status ?? 200), headers })
  const { status, body } = splitResponse(response, set)
  return Response.json(body, { status, headers })
}

/** Returns the status and body of a handler's envelope, or only the status of a `Response`. */
function splitResponse(response: unknown, set: Arrival['set']): { status: number; body?: unknown } {
  if (response instanceof Response) return { status: response.status }
  const { code = Number(set.status ?? 200), response: body = response } = response as {
    code?: number
    response?: unknown
  }
  return { status: code, body }
}
