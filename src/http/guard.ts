import { Elysia } from 'elysia'
import { DomainError, rateLimited } from '../core/errors.ts'
import { type Access, deprecationHeaders } from './access.ts'
import { authorize, rateLimitHeaders } from './authorization.ts'
import { readJsonObject } from './body.ts'
import { clientAddress, requireNetwork } from './client-address.ts'
import type { AppContext, Authorization } from './context.ts'
import { readIdempotencyKey } from './idempotency/idempotency.ts'
import type { IncomingBody } from './incoming-body.ts'
import { requirePermission } from './permissions.ts'
import { prefersPeek, prefersStrict } from './prefer.ts'
import { requireProvider } from './provider.ts'
import { type QueryForm, queryFormOf, readQuery } from './query.ts'
import type { Caller, NoteOutcome, RequestFacts, RequestInput, Sent, Visit } from './request.ts'
import { documentAccess } from './route-documentation.ts'
import type { RequestSchema } from './schema/fields.ts'
import { readValidBody, requireValidQuery } from './schema/read.ts'
import { sendEnvelope } from './send.ts'

/** A request's context as Elysia passes it to the guard. */
interface Incoming {
  request: Request
  route: string
  params: Record<string, string> | undefined
  set: { status?: number | string; headers: Record<string, string | number | undefined> }
  server: { requestIP(request: Request): { address: string } | null } | null
  facts: RequestFacts
}

/** The values that the guard adds to a request's context when it accepts the request. */
type Accepted = {
  caller: Caller
  sent: RequestInput
}

/** The values that every context has in addition to Elysia's own. */
type Added = Accepted & Pick<Incoming, 'facts'>

/** The context after the guard has accepted the request. */
interface Guarded extends Incoming, Accepted {
  query: unknown
  body: unknown
  response: unknown
}

/**
 * The guard's view of a context. The types of Elysia's macros do not know the values that the application and the guard
 * add to a context, so this function and the next one state them, each at its time.
 */
const incoming = (context: unknown) => context as Incoming
const guarded = (context: unknown) => context as Guarded

/** Elysia's types allow only a `Response` here. Elysia itself also takes a string, as {@link Sent} says. */
const sendable = (sent: Sent | undefined) => sent as Response | undefined

/** Every context has these values from the start, so that its shape does not change. Handlers see them set. */
const beforeArrival: { [Name in keyof Added]: Added[Name] | undefined } = {
  facts: undefined,
  caller: undefined,
  sent: undefined,
}

/**
 * Guards every route below `/v1` and `/sandbox`. Each route declares `access: { … }`, and its requests are checked in
 * the order given in decisions §1.
 *
 * The guard is a `transform` hook, because that is the last step before Elysia's validation. It replaces Elysia's body
 * parser and validation, so that an invalid body is never reported before an invalid key.
 */
export function guard(app: AppContext) {
  return new Elysia({ name: 'guard', seed: app.environment.name }).decorate(beforeArrival as Added).macro({
    access: (access: Access) => {
      let input = inputOf({})
      return {
        // Runs once, when the route is added.
        introspect: (route: object) => {
          input = inputOf(route)
        },
        parse: () => unread,
        detail: documentAccess(access),
        transform: async (raw: unknown) => {
          const accepted = await guardRequest(app, access, input, incoming(raw))
          // The environment observes a request with invalid input too, so these values are set before it is validated.
          const context = Object.assign(guarded(raw), accepted)
          if (input.query) requireValidQuery(input.query, context.query)
          if (input.body) await readInput(app, access, input.body, context)
        },
        mapResponse: (context: unknown) => sendable(sendEnvelope(guarded(context), access.conditional)),
        ...(app.environment.visit ? environmentHooks(access) : {}),
      }
    },
  })
}

/** Placeholder for the body until the guard has read it. */
const unread = {}

/** What a route is, as far as the guard needs to know; `query` and `body` are undefined if it has none. */
interface RouteInput {
  operationId: string | undefined
  queryForm: QueryForm
  query: RequestSchema | undefined
  body: RequestSchema | undefined
}

interface DeclaredRoute {
  query?: RequestSchema
  body?: RequestSchema
  detail?: { operationId?: string }
}

function inputOf({ query, body, detail }: DeclaredRoute): RouteInput {
  return { operationId: detail?.operationId, queryForm: queryFormOf(query), query, body }
}

/**
 * Checks a request in the order given in decisions §1. The calls to `visit` run the environment's own steps.
 *
 * @returns the fields that the guard adds to the handler's context
 * @throws DomainError from the first step that refuses the request
 */
async function guardRequest(app: AppContext, access: Access, input: RouteInput, incoming: Incoming) {
  const { request, facts, set, params = {} } = incoming
  if (access.body && prefersStrict(request.headers)) set.headers['preference-applied'] = 'handling=strict'
  if (access.feed && prefersPeek(request.headers)) set.headers['preference-applied'] = 'peek'
  const authorization = await identify(app, access, incoming)
  const { key, host } = authorization
  const visit = beginVisit(app, access, incoming, authorization)
  if (isWrite(request) && input.operationId !== undefined)
    facts.noteOutcome = outcomeNoter(app, {
      operationId: input.operationId,
      keyId: key.id,
      hostId: host.id,
      at: facts.at,
      visit,
    })
  if (!authorization.allowed) {
    await visit?.refuse()
    throw rateLimited(authorization.waitMilliseconds)
  }
  requireNetwork(facts.address ?? '', key.allowed_from)
  await visit?.enter()
  requirePermission(access.permission, key.permissions)
  if (isWrite(request)) app.clockWatch.requireSound()
  if (access.provider) requireProvider(params.provider)
  const idempotencyKey = access.idempotent ? readIdempotencyKey(request.headers) : undefined
  const ownerId = (await visit?.open()) ?? host.id
  const body = access.body && (await readBody(app, facts.incomingBody, host.id, access.body))
  const caller: Caller = {
    keyId: key.id,
    ownerId,
    isSandbox: app.environment.name === 'sandbox',
    permissions: key.permissions,
    address: facts.address ?? '',
    maxHoldSeconds: visit?.maxHoldSeconds,
    host: {
      id: host.id,
      name: host.name,
      email: host.email,
      createdAt: host.created_at,
      lastLoginAt: host.last_login_at,
    },
  }
  return {
    caller,
    sent: { idempotencyKey, body },
    query: readQuery(request.url, input.queryForm),
  }
}

/**
 * Validates the body and sets it in the form in which the handler receives it.
 *
 * @throws DomainError `validation`
 */
async function readInput(app: AppContext, access: Access, schema: RequestSchema, context: Guarded) {
  const { request, facts, caller, params = {} } = context
  const { body = {} } = context.sent
  const checked = { caller, params, body, now: app.clock(caller.ownerId) }
  const valid = await readValidBody(schema, body, {
    problems: access.check?.(checked) ?? [],
    isStrict: prefersStrict(request.headers),
    current: () => access.current?.(checked).catch(unlessMissing),
  })
  context.body = valid.body
  facts.ignored = valid.ignored
}

/** Ignores a `not_found` error, because the handler itself responds 404 if the resource does not exist. */
function unlessMissing(error: unknown): undefined {
  if (!(error instanceof DomainError) || error.kind !== 'not_found') throw error
}

/** Identifies the key, counts the request, and sets the rate limit headers and any deprecation headers. */
async function identify(
  app: AppContext,
  access: Access,
  { request, set, server, facts }: Incoming,
): Promise<Authorization> {
  if (access.deprecated) Object.assign(set.headers, deprecationHeaders(access.deprecated))
  const socketAddress = server?.requestIP(request)?.address ?? '127.0.0.1'
  const address = clientAddress(socketAddress, request.headers, app.config.trustedProxies)
  facts.address = address
  facts.readsOwnKey = access.readsOwnKey ?? false
  const authorization = await authorize(app, {
    headers: request.headers,
    address,
    facts,
    window: access.window,
  })
  app.usage.track(authorization.key.id, address, app.clock())
  app.metrics.countDecision(authorization.allowed, authorization.revision !== null)
  Object.assign(set.headers, rateLimitHeaders(authorization))
  return authorization
}

/** Starts the environment's own steps; returns undefined if there are none or the route skips them. */
function beginVisit(app: AppContext, access: Access, incoming: Incoming, limits: Authorization) {
  if (access.environment === 'skips') return
  const { request, route, set, facts } = incoming
  const visit = app.environment.visit?.({ request, facts, route, access, limits, set })
  if (visit) facts.visit = visit
  return visit
}

/** Refusals that say nothing about what was sent: they depend on the key's state, on other writers, or on the pace. */
const passingRefusals = [401, 409, 429]

/** A write whose end is to be noted. */
interface NotedWrite {
  operationId: string
  keyId: number
  hostId: number
  /** Time of arrival. */
  at: Date
  visit: Visit | undefined
}

/**
 * Returns a function that notes how a write ended, for `writes_refused` (decisions §29). A write to a sandbox that does
 * not exist yet is not noted.
 */
function outcomeNoter({ environment, clock, activity }: AppContext, write: NotedWrite): NoteOutcome {
  const { operationId, keyId, hostId, visit } = write
  return ({ status, isReplayed }) => {
    const ownerId = environment.name === 'sandbox' ? visit?.ownerId : hostId
    if (ownerId === undefined) return
    const hasSucceeded = isReplayed || (status >= 200 && status < 400)
    const isRefused = !hasSucceeded && status >= 400 && status < 500 && !passingRefusals.includes(status)
    if (!hasSucceeded && !isRefused) return
    // A sandbox's clock may be ahead.
    const lead = clock(ownerId).getTime() - clock().getTime()
    activity.noteWrite({ keyId, ownerId }, operationId, {
      isRefused,
      at: new Date(write.at.getTime() + lead),
    })
  }
}

function isWrite({ method }: Request): boolean {
  return method !== 'GET' && method !== 'HEAD'
}

function readBody(
  { config }: AppContext,
  body: IncomingBody,
  hostId: number,
  kind: NonNullable<Access['body']>,
) {
  const isLarge = kind === 'bulk' || kind === 'bookings'
  return readJsonObject(body, hostId, isLarge ? config.maxBulkBodyBytes : config.maxBodyBytes, kind)
}

/** Hooks that run an environment's own steps around the handler and its response. */
const environmentHooks = (access: Access) => ({
  async beforeHandle(context: unknown) {
    const { request, facts } = guarded(context)
    if (isWrite(request)) await facts.visit?.beforeWrite()
  },
  async afterHandle(context: unknown) {
    const { request, facts, sent, response } = guarded(context)
    const isReplayed = response instanceof Response && response.headers.has('idempotent-replayed')
    if (isWrite(request) && !isReplayed) await facts.visit?.afterWrite(sent.body)
  },
  async mapResponse(raw: unknown) {
    const context = guarded(raw)
    const { visit } = context.facts
    const send = () => sendEnvelope(context, access.conditional)
    return sendable(visit ? await visit.respond(context, send) : send())
  },
})
