import { DomainError, type Problem, rateLimited } from '../core/errors.ts'
import { type Access, deprecationHeaders } from './access.ts'
import { toErrorResponse } from './answer/error-response.ts'
import { sendEnvelope } from './answer/send.ts'
import { identifyKey, rateLimitHeaders } from './authorization.ts'
import type { AppContext, Authorization, KnownKey } from './context.ts'
import { type Admission, alreadyAdmitted, EarlyStart } from './early-start.ts'
import { readJsonObject } from './input/body.ts'
import { clientAddress, requireNetwork } from './input/client-address.ts'
import { readIdempotencyKey } from './input/idempotency-key.ts'
import type { IncomingBody } from './input/incoming-body.ts'
import { readPathIds } from './input/path-ids.ts'
import { prefersPeek, prefersStrict } from './input/prefer.ts'
import { requireProvider } from './input/provider.ts'
import { type QueryForm, readQuery } from './input/query.ts'
import type { RequestSchema } from './input/schema/fields.ts'
import { readValidBody, readValidQuery } from './input/schema/read.ts'
import { mayStayUnread } from './input/unread-body.ts'
import { requirePermission } from './permissions.ts'
import type {
  Accepted,
  Arrival,
  Caller,
  RequestFacts,
  Sent,
  ServedRequest,
  Unchecked,
  Visit,
} from './request.ts'
import type { WriteAnswer, Writer } from './writer.ts'

/** A route as the pipeline serves it. */
export interface Route {
  operationId: string
  access: Access
  query: RequestSchema | undefined
  queryForm: QueryForm
  body: RequestSchema | undefined
  check: ((request: Unchecked) => Problem[]) | undefined
  current: ((request: Unchecked) => Promise<unknown>) | undefined
  handler: Handler | DeclaredWrite
  /** @throws Error if the documentation does not promise such an answer with this status: a bug in the service */
  requirePromised: (status: number, answer: object) => void
}

/** Answers a request that the pipeline has accepted. */
type Handler = (request: Accepted) => Answer | Promise<Answer>

/** A write that a route declares in place of a function. */
interface DeclaredWrite {
  writer: Writer<unknown, object, unknown>
  answer: WriteAnswer<Accepted, unknown, unknown>
}

/** What a handler returns: an envelope, or a finished `Response`, such as a stream or a replay. */
export type Answer = object | Response

/**
 * Serves the requests of one route, from their arrival to their answer, in the order of decisions §1. Every route below
 * `/v1` and `/sandbox` is served by this function alone: whatever is refused, is refused here, before the handler runs.
 *
 *     identify ──> admit ──> answer: allow ──> findCaller ──> readInput ──> handle ──> send ──> (record)
 *         └──────────┴──────────────────┴───────────┴──────────────┴────────────┴──> refuse ──┘
 *
 * The last step, once the response has been sent, is the only one outside: it also records requests that no route takes,
 * so Elysia calls it (`answer/record.ts`). Whatever it records, the steps note in the request's facts.
 *
 * On live data, `answer` is begun early if it can be foreseen that the request will be admitted. It runs beside
 * `identify` up to its first effect, and there waits (`early-start.ts`). What it returns or throws counts only after
 * `admit`, as if it had been begun then:
 *
 *     identify ────────────────> admit ──────────────────> send
 *         └──> answer ······ waits for admission ··> ─┘
 *
 * The sandbox takes part through its `visit`, which live data does not have. The returned function rejects only if the
 * sandbox cannot record an error; Elysia's error hook then answers.
 */
export function serve(app: AppContext, route: Route): (arrival: Arrival) => Promise<Sent> {
  return async (arrival) => {
    const early = new EarlyStart<Answer>()
    const begin = (known: KnownKey) =>
      early.begin(known, (admission) => answerOf(app, route, arrival, { ...known, admission }))
    app.pace.enter()
    const foresee = mayBeginEarly(app, arrival) ? begin : undefined
    try {
      const authorization = await identify(app, route, arrival, foresee)
      const { key, host } = authorization
      const visit = meet(app, route, arrival, authorization)
      await admit(arrival, authorization, visit)
      const begun = early.admit(authorization)
      const answer = await (begun ??
        answerOf(app, route, arrival, { key, host, visit, admission: alreadyAdmitted }))
      return await send(app, route, arrival, answer)
    } catch (error) {
      early.giveUp()
      return await refuse(app, route, arrival, error)
    } finally {
      app.pace.leave()
    }
  }
}

/**
 * Returns true if a request may be begun before it is admitted, and gains by it. In the sandbox, its visit has effects from
 * the start. A body that may be large takes up memory, and is thrown away unread if its request is refused
 * (`input/unread-body.ts`).
 */
function mayBeginEarly({ environment, heldRequests, pace }: AppContext, { request }: Arrival): boolean {
  return (
    environment.visit === undefined && !mayStayUnread(request) && pace.gainsByEarlyStart(heldRequests.size)
  )
}

/** A request whose key is known, and which is admitted or may be. */
interface Entering extends KnownKey {
  visit?: Visit | undefined
  admission: Admission
}

/** Takes the steps of a request after its admission, or up to their first effect if it has yet to be admitted. */
async function answerOf(
  app: AppContext,
  route: Route,
  arrival: Arrival,
  entering: Entering,
): Promise<Answer> {
  const { key, visit, admission } = entering
  const idempotencyKey = allow(app, route, arrival, key)
  const caller = await findCaller(app, arrival, entering)
  const accepted = await readInput(app, route, arrival, { caller, idempotencyKey, admission })
  return handle(route, accepted, visit)
}

/**
 * Identifies the key, counts the request, and sets the rate limit headers and any deprecation headers.
 *
 * @throws DomainError `auth`, or `rate_limit` if too many requests from the address have failed
 */
async function identify(
  app: AppContext,
  { access, operationId }: Route,
  arrival: Arrival,
  foresee: ((known: KnownKey) => void) | undefined,
): Promise<Authorization> {
  const { request, set, server, facts } = arrival
  if (access.body && prefersStrict(request.headers)) set.headers['preference-applied'] = 'handling=strict'
  if (access.feed && prefersPeek(request.headers)) set.headers['preference-applied'] = 'peek'
  if (access.deprecated) Object.assign(set.headers, deprecationHeaders(access.deprecated))
  const socketAddress = server?.requestIP(request)?.address ?? '127.0.0.1'
  const address = clientAddress(socketAddress, request.headers, app.config.trustedProxies)
  const served: ServedRequest = {
    operationId,
    readsOwnKey: access.readsOwnKey ?? false,
    address,
    isCounted: false,
    isUnauthenticated: false,
  }
  facts.served = served
  const { window } = access
  const authorization = await identifyKey(app, { headers: request.headers, served, window, foresee })
  app.usage.track(authorization.key.id, address, app.clock())
  app.metrics.countDecision(authorization.allowed, authorization.revision !== null)
  Object.assign(set.headers, rateLimitHeaders(authorization))
  return authorization
}

/** Returns the sandbox's part in the request; undefined on live data and for a route that skips it. */
function meet(
  app: AppContext,
  { access }: Route,
  arrival: Arrival,
  limits: Authorization,
): Visit | undefined {
  if (access.environment === 'skips') return
  const { request, facts, route, set } = arrival
  const visit = app.environment.visit?.({ request, facts, route, access, limits, set })
  facts.visit = visit
  return visit
}

/**
 * Lets the request in if its key has room and may be used from its address. A request that is over the limit visits the
 * sandbox too, which observes how a product reacts to a 429.
 *
 * @throws DomainError `rate_limit`, or `forbidden` for an address outside the key's networks
 */
async function admit({ facts }: Arrival, limits: Authorization, visit: Visit | undefined): Promise<void> {
  if (limits.allowed) requireNetwork(addressOf(facts), limits.key.allowed_from)
  await visit?.enter(limits.allowed)
  if (!limits.allowed) throw rateLimited(limits.waitMilliseconds)
}

/**
 * Checks what needs neither the sandbox nor the input: the permission, the clock, the provider and the form of the
 * `Idempotency-Key`, which it returns. The key's networks are checked here too, because a request that is begun early has
 * not passed `admit`.
 *
 * @throws DomainError `forbidden`, `unsupported_provider` or `validation`; ClockSkewError if a write could not be ordered
 */
function allow(
  app: AppContext,
  { access }: Route,
  { request, params, facts }: Arrival,
  key: Authorization['key'],
): string | undefined {
  requireNetwork(addressOf(facts), key.allowed_from)
  // If this breaks: a key does what it has no permission for
  requirePermission(access.permission, key.permissions)
  // If this breaks: a process whose clock is wrong gives versions
  if (isWrite(request)) app.clockWatch.requireSound()
  if (access.provider) requireProvider(params?.provider)
  return access.idempotent ? readIdempotencyKey(request.headers) : undefined
}

/**
 * Returns who sends the request, and whose data it is about: the host's, or those of the key's sandbox, which is opened for
 * its first request.
 */
async function findCaller(
  app: AppContext,
  { facts }: Arrival,
  { key, host, visit }: Entering,
): Promise<Caller> {
  return {
    keyId: key.id,
    ownerId: (await visit?.open()) ?? host.id,
    isSandbox: app.environment.name === 'sandbox',
    permissions: key.permissions,
    address: addressOf(facts),
    maxHoldSeconds: visit?.maxHoldSeconds,
    host: {
      id: host.id,
      name: host.name,
      email: host.email,
      createdAt: host.created_at,
      lastLoginAt: host.last_login_at,
    },
  }
}

/** A request whose caller is known. */
interface Identified {
  caller: Caller
  idempotencyKey: string | undefined
  admission: Admission
}

/**
 * Reads the query and the body in the types of the route's schemas.
 *
 * @throws DomainError `body_too_slow`, `conflict`, `body_too_large` or `validation`
 */
async function readInput(
  app: AppContext,
  route: Route,
  arrival: Arrival,
  { caller, idempotencyKey, admission }: Identified,
): Promise<Accepted> {
  const { request, facts, set } = arrival
  const { access } = route
  // A sandbox observes a request with invalid input too, so what was sent is noted before it is checked.
  facts.query = readQuery(request.url, route.queryForm)
  const body = access.body && (await readBody(app, facts.incomingBody, caller.host.id, access.body))
  // The body may have arrived long after the request was refused.
  admission.requireNotGivenUp()
  const sent = { idempotencyKey, body }
  facts.sent = sent
  const params = readPathIds(arrival.params)
  const query = route.query ? readValidQuery(route.query, facts.query) : facts.query
  const accepted = {
    request,
    route: arrival.route,
    facts,
    set,
    caller,
    params,
    query,
    body: {},
    sent,
    admitted: () => admission.wait(),
  }
  if (!route.body) return accepted
  const unchecked = { caller, params, body: body ?? {}, now: app.clock(caller.ownerId) }
  const valid = await readValidBody(route.body, body ?? {}, {
    problems: route.check?.(unchecked) ?? [],
    isStrict: prefersStrict(request.headers),
    current: () => route.current?.(unchecked).catch(unlessMissing),
  })
  facts.ignored = valid.ignored
  return { ...accepted, body: valid.body }
}

/** Reads the body, once for a request that is begun twice. */
function readBody(
  { config, bodyBudget }: AppContext,
  body: IncomingBody,
  hostId: number,
  kind: NonNullable<Access['body']>,
): Promise<Record<string, unknown>> {
  body.json ??= readJsonObject(bodyBudget, body, { hostId, maxBytes: maxBytesOf(kind, config), kind })
  return body.json
}

/** Maximum size of a body that contains a file, in bytes. */
const maxFileBodyBytes = 2 * 1024 * 1024

function maxBytesOf(
  kind: NonNullable<Access['body']>,
  { maxBodyBytes, maxBulkBodyBytes }: AppContext['config'],
): number {
  if (kind === 'bulk' || kind === 'bookings') return maxBulkBodyBytes
  return kind === 'file' ? maxFileBodyBytes : maxBodyBytes
}

/** Ignores a `not_found` error, because the handler itself responds 404 if the resource does not exist. */
function unlessMissing(error: unknown): undefined {
  if (!(error instanceof DomainError) || error.kind !== 'not_found') throw error
}

/**
 * Runs the handler, or carries out the write that the route declares: claim, prepare, take the host's turn, write, respond,
 * store the response, commit. Checks that the answer is what the route's documentation promises.
 */
async function handle(route: Route, accepted: Accepted, visit: Visit | undefined): Promise<Answer> {
  const { handler } = route
  const run = async () => {
    if (typeof handler !== 'function') return handler.writer.answer(accepted, handler.answer)
    // Only a declared write says which of its steps has the first effect.
    // If this breaks: a refused request deletes what it names
    if (isWrite(accepted.request)) await accepted.admitted()
    return handler(accepted)
  }
  const answer = visit && isWrite(accepted.request) ? await visit.write(run, accepted.sent.body) : await run()
  if (!(answer instanceof Response)) route.requirePromised(Number(accepted.set.status ?? 200), answer)
  return answer
}

/** Sends an answer; a sandbox records it first, and may lose it or cut it off. */
async function send(
  { unread }: AppContext,
  { access }: Route,
  arrival: Arrival,
  answer: Answer,
): Promise<Sent> {
  const { facts } = arrival
  const sendIt = () => sendEnvelope(unread, arrival, answer, access.conditional)
  const sent = facts.visit ? await facts.visit.respond(answer, sendIt) : sendIt()
  facts.answeredAt = performance.now()
  return sent
}

/** Sends the response that the contract gives an error. */
async function refuse(app: AppContext, route: Route, arrival: Arrival, error: unknown): Promise<Sent> {
  arrival.facts.error = error
  return send(app, route, arrival, toErrorResponse({ ...arrival, error }, app.log))
}

function addressOf({ served }: RequestFacts): string {
  return served?.address ?? ''
}

function isWrite({ method }: Request): boolean {
  return method !== 'GET' && method !== 'HEAD'
}
