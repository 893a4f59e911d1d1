import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { DomainError, invalidField } from '../errors.ts'
import { MemoryWindows } from '../infra/windows.ts'
import { type Admission, minute, type RateWindow, readApiKey } from '../keys/authentication.ts'
import type { Caller } from '../keys/caller.ts'
import type { Permission } from '../keys/permissions.ts'
import { isBodyToRefuse, readJsonObject } from './body.ts'
import { clientAddress, clientNetwork } from './client-address.ts'
import { documentAccess } from './documentation.ts'
import { readQuery } from './query.ts'

/** What a route asks of a request before its handler runs. */
export interface Access {
  /** Permission that the key must have; `any` for none. */
  permission: Permission | 'any'
  /** The request carries a JSON object; `bulk` for the larger size limit. */
  body?: 'json' | 'bulk'
  /** The path names an integration provider. */
  provider?: true
  /** The route takes an `Idempotency-Key`. */
  idempotent?: true
  /** The window that the request counts in, where it is not the main one. */
  window?: RateWindow
  /** False where a sandbox need not be there. */
  opensSandbox?: false
}

/** The context as the door finds it and leaves it behind. */
interface DoorContext {
  request: Request
  params: Record<string, string> | undefined
  query: unknown
  body: unknown
  set: { headers: Record<string, string | number | undefined> }
  server: { requestIP(request: Request): { address: string } | null } | null
  caller: Caller
}

const supportedProvider = 'provider_one'
const idempotencyKeyLength = 255

/**
 * The door of every route below `/v1`: a route says `access: { … }` and is entered in the order of
 * decisions §1, key → rate limit → permission → provider → `Idempotency-Key` → body and query.
 *
 * It is a `transform` hook because that is the last moment before validation; the body is read here and
 * not by Elysia's parser, so that a bad body never answers before a bad key.
 */
export function door(deps: Deps) {
  return new Elysia({ name: 'door', seed: deps.plot.name })
    .decorate('caller', undefined as unknown as Caller)
    .macro({
      access: (access: Access) => ({
        parse: () => unread,
        detail: documentAccess(access),
        transform: async (context: unknown) => enter(deps, access, context as DoorContext),
      }),
    })
}

/** Stands for a body until the door has read it. */
const unread = {}

async function enter(deps: Deps, access: Access, context: DoorContext): Promise<void> {
  const { request, set } = context
  const address = clientAddress(
    context.server?.requestIP(request)?.address ?? '127.0.0.1',
    request.headers,
    deps.config.trustedProxies,
  )
  const admission = await admit(deps, access, request.headers, address)
  deps.usage.track(admission.key.id, address, deps.clock())
  context.caller = toCaller(admission, address)
  deps.metrics.countDecision(admission.allowed, admission.epoch !== null)
  Object.assign(set.headers, rateLimitHeaders(admission))
  if (!admission.allowed) throw rateLimited(admission.waitMilliseconds)
  requirePermission(access.permission, admission.key.permissions)
  if (isWrite(request)) deps.clockWatch.requireSound()
  if (access.provider) requireProvider(context.params?.provider)
  if (access.idempotent) context.caller.idempotencyKey = readIdempotencyKey(request.headers)
  await enterSandbox(deps, access, context)
  if (access.body) {
    context.caller.sent = await readJsonObject(request, bodyLimit(deps, access.body))
    if (isBodyToRefuse(request)) delete set.headers.connection
    context.body = context.caller.sent
  }
  context.query = readQuery(request.url)
}

function isWrite({ method }: Request): boolean {
  return method !== 'GET' && method !== 'HEAD'
}

/** In the sandbox its scope takes the place of host and key. */
async function enterSandbox({ plot }: Deps, { opensSandbox }: Access, context: DoorContext): Promise<void> {
  if (!plot.openSandbox) return
  const { caller, request } = context
  caller.isSandbox = true
  if (opensSandbox === false) return
  caller.scope = await plot.openSandbox(caller.keyId, isWrite(request))
  caller.hostId = caller.scope
}

/**
 * Clients behind one address share its failures: a key that this process has not seen yet is still looked up now and
 * then, so that nobody is locked out by a neighbour, and no flood of wrong keys reaches the database.
 */
const looks = new MemoryWindows()
const looksBeyond = 10

async function admit(deps: Deps, { window }: Access, headers: Headers, address: string): Promise<Admission> {
  const name = `failures:${clientNetwork(address)}`
  const limit = deps.config.authFailuresPerMinute
  const mayRead = async () =>
    (await deps.windows.remaining(name, limit, minute)) > 0 || looks.take('beyond', looksBeyond, 1000).allowed
  try {
    return await deps.authenticator.admit(readApiKey(headers), deps.clock(), mayRead, window)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const failures = await deps.windows.hit(name, limit, minute)
    if (!failures.allowed) throw rateLimited(failures.waitMilliseconds)
    throw error
  }
}

function toCaller({ key, host }: Admission, address: string): Caller {
  return {
    keyId: key.id,
    hostId: host.id,
    scope: key.id,
    isSandbox: false,
    permissions: key.permissions,
    address,
    idempotencyKey: undefined,
    sent: undefined,
    host: { name: host.name, email: host.email, createdAt: host.created_at, lastLoginAt: host.last_login_at },
  }
}

/** The IETF draft's `RateLimit-Policy` and `RateLimit`. */
function rateLimitHeaders({ window, limit, remaining, waitMilliseconds }: Admission): Record<string, string> {
  return {
    'ratelimit-policy': `"${window}";q=${limit};w=60`,
    ratelimit: `"${window}";r=${remaining};t=${Math.ceil(waitMilliseconds / 1000)}`,
  }
}

function rateLimited(waitMilliseconds: number): DomainError {
  const seconds = Math.max(1, Math.ceil(waitMilliseconds / 1000))
  const problem = { path: 'retry_after', code: 'rate_limited', message: String(seconds) } as const
  return new DomainError('rate_limit', `Too many requests; try again in ${seconds} s`, [problem], seconds)
}

function requirePermission(permission: Permission | 'any', granted: readonly Permission[]): void {
  if (permission === 'any' || granted.includes(permission)) return
  throw new DomainError('forbidden', `The API key lacks the required permission "${permission}"`, [
    { path: 'required_permission', code: 'forbidden', message: permission },
  ])
}

function requireProvider(provider: string | undefined): void {
  if (provider === supportedProvider) return
  throw new DomainError(
    'unsupported_provider',
    `Unsupported provider; the supported one is "${supportedProvider}"`,
  )
}

function readIdempotencyKey(headers: Headers): string | undefined {
  const key = headers.get('idempotency-key')
  if (key === null) return undefined
  if (key.length > idempotencyKeyLength) {
    throw invalidField(
      'Idempotency-Key',
      `"Idempotency-Key" must be at most ${idempotencyKeyLength} characters`,
      'max',
    )
  }
  if (!/^[\x20-\x7e]+$/.test(key) || key.trim() === '') {
    throw invalidField('Idempotency-Key', '"Idempotency-Key" must be printable ASCII and not blank')
  }
  return key
}

function bodyLimit({ config }: Deps, size: 'json' | 'bulk'): number {
  return size === 'bulk' ? config.maxBulkBodyBytes : config.maxBodyBytes
}
