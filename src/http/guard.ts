import { Elysia } from 'elysia'
import { DomainError, rateLimited } from '../core/errors.ts'
import { type Access, deprecationHeaders } from './access.ts'
import { authorize, rateLimitHeaders } from './authorization.ts'
import { isBodyToRefuse, readJsonObject } from './body.ts'
import type { Caller, RequestInput } from './caller.ts'
import { clientAddress } from './client-address.ts'
import type { AppContext, Authorization, Course, LimitState, SandboxInUse } from './context.ts'
import { meetFault, sendInSandbox } from './fault.ts'
import { readIdempotencyKey } from './idempotency/idempotency.ts'
import { sendLarge } from './large-response.ts'
import { observe } from './observation.ts'
import { outcomeOf } from './outcome.ts'
import { requireProvider } from './paths.ts'
import { requirePermission } from './permissions.ts'
import { readQuery } from './query.ts'
import { documentAccess } from './route-documentation.ts'
import { reportWith } from './schema/fields.ts'

/** The part of the request context that the guard reads and fills in. */
interface GuardContext {
  request: Request
  route: string
  params: Record<string, string> | undefined
  query: unknown
  body: unknown
  set: { headers: Record<string, string | number | undefined> }
  server: { requestIP(request: Request): { address: string } | null } | null
  caller: Caller
  sent: RequestInput
  sandbox?: SandboxInUse
  /** The certification that watches the sandbox. */
  course?: Course
  /** Time at which the sandbox or its certification was found, by the database's clock. */
  seenAt?: Date
}

/**
 * Guards every route below `/v1` and `/sandbox`. A route declares `access: { … }`, and its requests are checked in the
 * order of decisions §1: key, rate limit, permission, clock, provider, `Idempotency-Key`, body, query.
 *
 * The guard is a `transform` hook because that is the last step before validation. It reads the body in place of
 * Elysia's parser, so that a bad body is never reported before a bad key.
 */
export function guard(app: AppContext) {
  return new Elysia({ name: 'guard', seed: app.environment.name })
    .decorate('caller', undefined as unknown as Caller)
    .decorate('sent', undefined as unknown as RequestInput)
    .macro({
      access: (access: Access) => ({
        parse: () => unread,
        detail: documentAccess(access),
        transform: async (context: unknown) => guardRequest(app, access, context as GuardContext),
        mapResponse: (context: unknown) => sendLarge(context as Parameters<typeof sendLarge>[0]),
        ...(app.environment.openSandbox ? sandboxHooks : {}),
      }),
    })
}

/** Placeholder for the body until the guard has read it. */
const unread = {}

async function guardRequest(app: AppContext, access: Access, context: GuardContext): Promise<void> {
  const { request, set } = context
  if (access.deprecated) Object.assign(set.headers, deprecationHeaders(access.deprecated))
  const address = addressOf(app, context)
  const outcome = outcomeOf(request)
  outcome.address = address
  outcome.isLook = access.looksAtKey ?? false
  const authorization = await authorize(app, request.headers, address, outcome, access.window)
  app.usage.track(authorization.key.id, address, app.clock())
  app.metrics.countDecision(authorization.allowed, authorization.version !== null)
  context.caller = toCaller(authorization, address, app.environment.name === 'sandbox')
  Object.assign(set.headers, rateLimitHeaders(authorization))
  if (!authorization.allowed) {
    if (access.opensSandbox !== false) await findCourse(app, context)
    throw rateLimited(authorization.waitMilliseconds)
  }
  await findSandbox(app, access, context, authorization)
  requirePermission(access.permission, authorization.key.permissions)
  if (isWrite(request)) app.clockWatch.requireSound()
  if (access.provider) requireProvider(context.params?.provider)
  const idempotencyKey = access.idempotent ? readIdempotencyKey(request.headers) : undefined
  if (app.environment.openSandbox && access.opensSandbox !== false) {
    context.sandbox ??= await app.environment.openSandbox(context.caller.keyId)
    const { scope } = context.sandbox
    context.caller = { ...context.caller, scope, hostId: scope }
  }
  const body = access.body && (await readBody(app, request, context.caller.keyId, access.body))
  // The body has been read to its end, so the connection can be reused.
  if (body && isBodyToRefuse(request)) delete set.headers.connection
  const now = app.clock(context.caller.hostId)
  if (body && access.check) reportWith(body, access.check({ params: context.params ?? {}, body, now }))
  context.sent = { idempotencyKey, body }
  if (body) context.body = body
  context.query = readQuery(request.url)
}

/** Finds the key's sandbox, if there is one, and injects the fault that the request meets, if any. */
async function findSandbox(
  app: AppContext,
  access: Access,
  context: GuardContext,
  limits: LimitState,
): Promise<void> {
  if (!app.environment.findSandbox || access.opensSandbox === false) return
  const sandbox = await app.environment.findSandbox(context.caller.keyId)
  if (!sandbox) return
  context.sandbox = sandbox
  const { course } = sandbox
  if (course) context.course = course
  context.seenAt = app.clockWatch.databaseNow()
  if (access.steers && course)
    throw new DomainError('conflict', 'A certification is running: it plays the sandbox by itself')
  if (access.steers) return
  outcomeOf(context.request).isFaultSecret = course !== undefined
  const fault = await (course ?? sandbox).faultOf?.(`${context.request.method} ${context.route}`)
  if (fault) await meetFault(app, fault, context, limits)
}

/** Finds the certification that must record a refused request. Products are graded on how they react to a 429. */
async function findCourse(app: AppContext, context: GuardContext): Promise<void> {
  const course = await app.environment.findCourse?.(context.caller.keyId)
  if (!course) return
  context.course = course
  context.seenAt = app.clockWatch.databaseNow()
}

function addressOf({ config }: AppContext, { request, server }: GuardContext): string {
  const socketAddress = server?.requestIP(request)?.address ?? '127.0.0.1'
  return clientAddress(socketAddress, request.headers, config.trustedProxies)
}

function isWrite({ method }: Request): boolean {
  return method !== 'GET' && method !== 'HEAD'
}

function toCaller({ key, host }: Authorization, address: string, isSandbox: boolean): Caller {
  return {
    keyId: key.id,
    hostId: host.id,
    scope: key.id,
    isSandbox,
    permissions: key.permissions,
    address,
    host: { name: host.name, email: host.email, createdAt: host.created_at, lastLoginAt: host.last_login_at },
  }
}

/** Requires room before a sandbox write, records completed writes and observations, and applies response faults. */
const sandboxHooks = {
  async beforeHandle(raw: unknown) {
    const { request, sandbox } = raw as GuardContext
    if (isWrite(request)) await sandbox?.requireRoom()
  },
  async afterHandle(raw: unknown) {
    const { request, sandbox, sent } = raw as GuardContext
    if (!isWrite(request) || outcomeOf(request).isReplayed) return
    await sandbox?.noteWrite(growthOf(sent.body))
  },
  async mapResponse(raw: unknown) {
    const { course } = raw as GuardContext
    await course?.observe(observe(raw as Parameters<typeof observe>[0]))
    return sendInSandbox(raw as Parameters<typeof sendInSandbox>[0])
  },
}

/** Maximum number of documents added per item. A booking comes with a message, a conversation and a stored response. */
const documentsPerItem = 5

function growthOf(body: RequestInput['body']) {
  const items = Array.isArray(body?.data) ? body.data.length : 1
  return { documents: items * documentsPerItem, bytes: body ? JSON.stringify(body).length : 0 }
}

function readBody(
  { config }: AppContext,
  request: Request,
  keyId: number,
  kind: NonNullable<Access['body']>,
) {
  const isLarge = kind === 'bulk' || kind === 'bookings'
  return readJsonObject(request, keyId, isLarge ? config.maxBulkBodyBytes : config.maxBodyBytes, kind)
}
