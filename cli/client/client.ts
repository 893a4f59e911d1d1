import { readFile, stat } from 'node:fs/promises'
import { type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { ArgsDef } from 'citty'
import type { Problem } from '../../src/core/errors.ts'
import { parseRetryAfter } from '../../src/http/retry-after.ts'
import { roots } from '../../src/http/roots.ts'
import { UsageError } from '../errors.ts'
import { findProfile, requireSafeAddress } from './profile.ts'

/** Arguments of every command that speaks to the service over HTTP. */
export const clientArgs = {
  'base-url': { type: 'string', description: 'Address of the service (PARTNER_BASE_URL)', valueHint: 'url' },
  'key-file': {
    type: 'string',
    description: 'File that holds the API key (or PARTNER_API_KEY)',
    valueHint: 'path',
  },
  profile: { type: 'string', description: 'Profile to use, as stored by login', valueHint: 'name' },
  sandbox: { type: 'boolean', description: 'Use the sandbox instead of live data' },
} as const satisfies ArgsDef

const { sandbox: _, ...alwaysSandbox } = clientArgs
/** Arguments of commands that are for the sandbox alone. */
export const sandboxArgs = alwaysSandbox

interface ClientOptions {
  'base-url'?: string | undefined
  'key-file'?: string | undefined
  profile?: string | undefined
  sandbox?: boolean | undefined
}

/** The service responded with an error. */
export class PartnerError extends Error {
  override readonly name = 'PartnerError'
  constructor(
    readonly status: number,
    message: string,
    readonly problems: Problem[],
    readonly requestId: string | undefined,
    readonly retryAfterSeconds: number | undefined,
  ) {
    super(message)
  }
}

/** The service could not be reached, or something else responded: a proxy, say. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError'
  constructor(
    message: string,
    readonly retryAfterSeconds?: number,
  ) {
    super(message)
  }
}

/** A response of the service: its envelope, and the headers that pace a client. */
export interface ServiceResponse<T> {
  data: T
  meta: {
    pagination?: { total: number; last_page: number; current_page: number; next_cursor?: string | null }
  }
  envelope: unknown
  headers: Headers
}

export interface PartnerClient {
  /** The versioned root that requests go to. */
  root: string
  isSandbox: boolean
  /** Name of the profile it was opened from. */
  profile: string | undefined
  send<T>(method: string, path: string, options?: SendOptions): Promise<ServiceResponse<T>>
}

export interface SendOptions {
  query?: Record<string, string | number | string[] | undefined>
  body?: string
  headers?: Record<string, string>
  /** The schema of `data`, as far as the command relies on it. */
  expects?: TSchema
  /** Seconds by which the response may take longer, because the service waits for something. */
  longerSeconds?: number | undefined
  /** Ends the request early. */
  signal?: AbortSignal
}

export const defaultBaseUrl = 'http://127.0.0.1:3000'
const timeoutMilliseconds = 30_000

/**
 * A client for the address and key of a command: from its options, else the environment, else the profile.
 *
 * @throws UsageError when there is no key, or the address is not valid
 */
export async function openClient(options: ClientOptions): Promise<PartnerClient> {
  const profile = await findProfile(options.profile)
  const elsewhere = options['base-url'] ?? process.env.PARTNER_BASE_URL
  const key = await readKey(options, profile?.key)
  // A profile's key goes to the profile's own address alone.
  if (elsewhere !== undefined && key.isOfProfile && profile)
    throw new UsageError(
      `The key of the profile "${profile.name}" is only sent to ${profile.base_url}: leave out --base-url and PARTNER_BASE_URL, or name another key with PARTNER_API_KEY or --key-file`,
    )
  if (key.isOfProfile && profile) requireSafeAddress(profile.base_url)
  const base = elsewhere ?? profile?.base_url ?? defaultBaseUrl
  const isSandbox = options.sandbox ?? profile?.sandbox ?? false
  return clientFor(base, isSandbox, key.text, profile?.name)
}

/** {@link openClient} for the sandbox, whatever the profile says. */
export function openSandboxClient(options: Omit<ClientOptions, 'sandbox'>): Promise<PartnerClient> {
  return openClient({ ...options, sandbox: true })
}

/**
 * A client for one address and key.
 *
 * @param profile name of the profile they come from
 * @throws UsageError when the address is not valid
 */
export function clientFor(base: string, isSandbox: boolean, key: string, profile?: string): PartnerClient {
  const root = rootOf(base, isSandbox)
  return {
    root,
    isSandbox,
    profile,
    send: (method, path, more) => send(root, key, method, path, more),
  }
}

function rootOf(base: string, isSandbox: boolean): string {
  if (!URL.canParse(base)) throw new UsageError(`"${base}" is not a valid address`)
  const address = base.replace(/\/+$/, '')
  const root = Object.values(roots).find((known) => address.endsWith(known))
  return address.slice(0, address.length - (root?.length ?? 0)) + roots[isSandbox ? 'sandbox' : 'live']
}

interface SentKey {
  text: string
  isOfProfile: boolean
}

async function readKey(options: ClientOptions, profileKey: string | undefined): Promise<SentKey> {
  if (options['key-file']) return { text: await readKeyFile(options['key-file']), isOfProfile: false }
  const ownKey = options.profile ? undefined : process.env.PARTNER_API_KEY?.trim()
  if (ownKey) return { text: ownKey, isOfProfile: false }
  if (!profileKey)
    throw new UsageError('No API key: run partnerctl login, set PARTNER_API_KEY, or use --key-file')
  return { text: profileKey, isOfProfile: true }
}

async function readKeyFile(path: string): Promise<string> {
  const { mode } = await stat(path).catch(() => {
    throw new UsageError(`Cannot read the key file "${path}"`)
  })
  if ((mode & 0o077) !== 0) throw new UsageError(`Others can read "${path}"; run: chmod 600 ${path}`)
  return (await readFile(path, 'utf8')).trim()
}

async function send<T>(
  root: string,
  key: string,
  method: string,
  path: string,
  { query = {}, body, headers = {}, expects, longerSeconds = 0, signal }: SendOptions = {},
): Promise<ServiceResponse<T>> {
  const url = new URL(root + path)
  for (const [name, value] of Object.entries(query))
    for (const one of [value ?? []].flat()) url.searchParams.append(name, String(one))
  const timeout = AbortSignal.timeout(timeoutMilliseconds + longerSeconds * 1000)
  const response = await fetch(url, {
    method,
    headers: {
      ...headers,
      'x-api-key': key,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
    // The key is meant for this address only, wherever it redirects.
    redirect: 'manual',
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  }).catch((error) => {
    throw new UnreachableError(`Cannot reach ${root}: ${error.message}`)
  })
  return readResponse(root, response, expects)
}

async function readResponse<T>(
  root: string,
  response: Response,
  expects?: TSchema,
): Promise<ServiceResponse<T>> {
  const retryAfter = retryAfterOf(response.headers)
  // biome-ignore lint/suspicious/noExplicitAny: may come from a foreign server; checked before it is used
  const envelope: any = await response.json().catch(() => null)
  const { status } = response
  if (typeof envelope?.error?.message === 'string') throw toPartnerError(response, envelope.error, retryAfter)
  if (status === 401 || status === 403)
    throw new PartnerError(status, `${root} responded ${status}`, [], undefined, retryAfter)
  if (status >= 300 && status < 400)
    throw new UnreachableError(
      `${root} redirects to another address; use the address of the service itself`,
      retryAfter,
    )
  if (!response.ok) throw new UnreachableError(`${root} responded ${status}`, retryAfter)
  const isOurs = typeof envelope === 'object' && envelope !== null && 'data' in envelope
  if (!isOurs || (expects && !Value.Check(expects, envelope.data)))
    throw new UnreachableError(`The response of ${root} is not from the partner interface`, retryAfter)
  return { data: envelope.data, meta: envelope.meta ?? {}, envelope, headers: response.headers }
}

/** A foreign server may send anything. */
const Problems = Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))

function toPartnerError(
  { status, headers }: Response,
  error: { message: string; errors?: unknown; request_id?: string },
  retryAfter: number | undefined,
): PartnerError {
  const problems = Value.Check(Problems, error.errors) ? (error.errors as Problem[]) : []
  const requestId = error.request_id ?? headers.get('x-request-id') ?? undefined
  return new PartnerError(status, error.message, problems, requestId, retryAfter)
}

const maxWaitSeconds = 3600

/** Bounded, because a foreign server may have sent it. */
function retryAfterOf(headers: Headers): number | undefined {
  const seconds = parseRetryAfter(headers.get('retry-after'))
  return seconds === null ? undefined : Math.min(maxWaitSeconds, seconds)
}
