import { LRUCache } from 'lru-cache'
import { DomainError } from '../core/errors.ts'
import { requestIdOf } from '../http/answer/envelope.ts'
import type { AppContext } from '../http/context.ts'
import type { Entry, RequestInput, ResponseSettings, Sent, Visit } from '../http/request.ts'
import type { Db } from '../platform/mongo/connection.ts'
import type { SandboxClocks } from './clock/clocks.ts'
import { takeRequestFault } from './faults/choose-fault.ts'
import { injectFault, truncateResponse } from './faults/inject.ts'
import type { Fault } from './faults/rule.ts'
import type { OwnedModel } from './lifecycle/documents-store.ts'
import { recordWrite } from './lifecycle/lifetime.ts'
import { findSandbox, openSandbox } from './lifecycle/open-sandbox.ts'
import { requireRoom } from './lifecycle/sandbox-room.ts'
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
export function visitsOf(sandboxes: Sandboxes): (entry: Entry) => Visit {
  const refused = new LRUCache<number, Promise<OpenSandbox | null>>({
    max: maxRefusedKeys,
    ttl: refusedMilliseconds,
  })
  const findRefused = (keyId: number) => {
    const finding = refused.get(keyId) ?? findSandbox(sandboxes, keyId).catch(() => null)
    refused.set(keyId, finding, { noUpdateTTL: true })
    return finding
  }
  return (entry) => new SandboxVisit(sandboxes, entry, findRefused)
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
    private readonly entry: Entry,
    private readonly findRefused: (keyId: number) => Promise<OpenSandbox | null>,
  ) {}

  /**
   * Finds the key's open sandbox, if any, and injects the fault that its rules select for the request. A request that
   * exceeds the limit is only observed, because products are graded on how they react to a 429.
   *
   * @throws DomainError `conflict` if the route controls the sandbox while a certification is running in it
   */
  async enter(isAllowed: boolean): Promise<void> {
    const { access, set } = this.entry
    if (isAllowed) this.use(await findSandbox(this.sandboxes, this.keyId))
    else this.sandbox = await this.findRefused(this.keyId)
    this.at = this.sandboxes.clockWatch.databaseNow()
    if (!isAllowed) return
    if (access.environment === 'steers') {
      if (!this.isObserved) return
      throw new DomainError('conflict', 'A certification is running and controls this sandbox until it ends')
    }
    if (access.environment === 'spared') return
    const fault = await this.takeFault()
    if (!fault) return
    this.fault = fault.fault
    // If this breaks: a product sees which faults its certification makes
    if (!this.isObserved) set.headers['sandbox-fault'] = fault.fault
    await injectFault(this.sandboxes, fault, this.entry)
  }

  async open(): Promise<number> {
    if (!this.sandbox) this.use(await openSandbox(this.sandboxes, this.keyId))
    return this.sandboxId
  }

  /** Runs the handler of a write, and records the write unless a stored response is replayed. */
  async write(run: () => Promise<object>, body: RequestInput['body']): Promise<object> {
    if (this.sandbox) await requireRoom(this.sandboxes, this.sandbox)
    const answer = await run()
    const isReplayed = answer instanceof Response && answer.headers.has('idempotent-replayed')
    if (!isReplayed) await this.record(body)
    return answer
  }

  /** Records a write and an upper bound on the sandbox's growth. This also extends the sandbox's lifetime. */
  private async record(body: RequestInput['body']): Promise<void> {
    const items = Array.isArray(body?.data) ? body.data.length : 1
    const bytes = body ? Buffer.byteLength(JSON.stringify(body)) : 0
    await recordWrite(this.sandboxes, this.sandboxId, { documents: items * documentsPerItem, bytes })
  }

  async respond(answer: object, send: () => Sent): Promise<Sent> {
    await this.report(answer)
    const { fault } = this
    const sent = send()
    if (fault !== 'lost_response' && fault !== 'cut_response') return sent
    const response = toResponse(sent, this.entry.set)
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
    return this.entry.limits.key.id
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
    const { sandbox, sandboxes, entry } = this
    // The response to a HEAD request has no body, so it can be neither lost nor cut.
    if (entry.request.method === 'HEAD') return null
    const route = `${entry.request.method} ${entry.route}`
    return sandbox?.rules.length ? takeRequestFault(sandboxes.db, sandbox, route, this.at) : null
  }

  /** Reports the request to the observer. Without an injected fault, a disconnected client is reported as `broken`. */
  private async report(answer: object): Promise<void> {
    const { sandbox, sandboxes, entry, at, sandboxId, keyId } = this
    if (sandbox?.observer_id == null) return
    const { request, route, set, facts } = entry
    const isResponse = answer instanceof Response
    await sandboxes.observer.observe(sandboxes.db, sandbox.observer_id, {
      operation: `${request.method} ${route}`,
      at,
      sandboxId,
      keyId,
      requestId: requestIdOf({ set }) ?? null,
      status: isResponse ? answer.status : Number(set.status ?? 200),
      fault: this.fault ?? (request.signal.aborted ? 'broken' : null),
      query: facts.query,
      sent: facts.sent,
      data: isResponse ? null : ((answer as { data?: unknown }).data ?? null),
    })
  }
}

/** Builds the response that Elysia would send. */
function toResponse(sent: Sent, set: ResponseSettings): Response {
  if (sent instanceof Response) return sent
  const headers = set.headers as Record<string, string>
  return new Response(sent, { status: Number(set.status ?? 200), headers })
}
