import { readFile, stat } from 'node:fs/promises'
import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { ArgsDef } from 'citty'
import {
  type Attempt,
  type Client,
  ConnectionError,
  createClient,
  type FeedPage,
  PartnerError,
} from '../../client/src/index.ts'
import { roots } from '../../src/http/paths.ts'
import { UsageError } from '../errors.ts'
import { noteRetry } from '../output.ts'
import { findProfile, requireSafeAddress } from './profile.ts'

/** Arguments of every command that calls the service over HTTP. */
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
/** Arguments of commands that work only in the sandbox. */
export const sandboxArgs = alwaysSandbox

interface ClientOptions {
  'base-url'?: string | undefined
  'key-file'?: string | undefined
  profile?: string | undefined
  sandbox?: boolean | undefined
}

/** Error thrown if the service could not be reached, or if something else, such as a proxy, responded. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError'
  constructor(
    message: string,
    readonly retryAfterSeconds?: number,
  ) {
    super(message)
  }
}

/** A response from the service: its envelope, and the headers that tell a client how fast it may go. */
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
  /** Name of the profile that the client was opened from. */
  profile: string | undefined
  send<T>(method: string, path: string, options?: SendOptions): Promise<ServiceResponse<T>>
  /** Iterates over a feed's pages. Each failure that is retried is noted on standard error. */
  pages<T>(feed: 'bookings' | 'messages', options: FeedOptions): AsyncIterable<FeedPage<T>>
}

/** Options that select which changes of a feed to read, and whether to wait for more. */
export interface FeedOptions {
  after: string | undefined
  filters: Record<string, string | undefined>
  wait: number | undefined
  /** Seconds to pause after a wait that the service cut short. */
  pauseSeconds: number | undefined
  signal: AbortSignal
}

export interface SendOptions {
  query?: Record<string, string | number | string[] | undefined>
  body?: string
  idempotencyKey?: string
  /** Schema of the parts of `data` that the command relies on. */
  expects?: TSchema
  /** Ends the request early. */
  signal?: AbortSignal
}

export const defaultBaseUrl = 'http://127.0.0.1:3000'

/**
 * Opens a client for a command's address and key, taken from its options, else the environment, else the profile.
 *
 * @throws UsageError if there is no key, or the address is not valid
 */
export async function openClient(options: ClientOptions): Promise<PartnerClient> {
  const profile = await findProfile(options.profile)
  const elsewhere = options['base-url'] ?? process.env.PARTNER_BASE_URL
  const key = await readKey(options, profile?.key)
  // A profile's key is sent only to the profile's own address.
  if (elsewhere !== undefined && key.isOfProfile && profile)
    throw new UsageError(
      `The key of the profile "${profile.name}" is only sent to ${profile.base_url}: leave out --base-url and PARTNER_BASE_URL, or name another key with PARTNER_API_KEY or --key-file`,
    )
  if (key.isOfProfile && profile) requireSafeAddress(profile.base_url)
  const base = elsewhere ?? profile?.base_url ?? defaultBaseUrl
  const isSandbox = options.sandbox ?? profile?.sandbox ?? false
  return clientFor(base, isSandbox, key.text, profile?.name)
}

/** Opens a client with {@link openClient} for the sandbox, whatever the profile says. */
export function openSandboxClient(options: Omit<ClientOptions, 'sandbox'>): Promise<PartnerClient> {
  return openClient({ ...options, sandbox: true })
}

/**
 * Creates a client for one address and key.
 *
 * @param profile name of the profile that the address or key comes from
 * @throws UsageError if the address is not valid
 */
export function clientFor(base: string, isSandbox: boolean, key: string, profile?: string): PartnerClient {
  const address = addressOf(base)
  const root = address + roots[isSandbox ? 'sandbox' : 'live']
  // Each command decides how long to retry.
  const client = createClient({ key, baseUrl: address, sandbox: isSandbox, retries: 0, onRequest })
  function onRequest({ error, retryInSeconds }: Attempt): void {
    if (error && retryInSeconds !== undefined) noteRetry(explain(root, error), retryInSeconds)
  }
  return {
    ...{ root, isSandbox, profile },
    send: (method, path, more) => send(client, root, method, path, more),
    async *pages<T>(feed: 'bookings' | 'messages', { filters, ...options }: FeedOptions) {
      try {
        yield* client[feed].feed({ ...filters, ...options }).pages() as AsyncIterable<FeedPage<T>>
      } catch (error) {
        throw explain(root, error)
      }
    },
  }
}

/** Returns an address without its environment's root. */
function addressOf(base: string): string {
  if (!URL.canParse(base)) throw new UsageError(`"${base}" is not a valid address`)
  const address = base.replace(/\/+$/, '')
  const root = Object.values(roots).find((known) => address.endsWith(known))
  return address.slice(0, address.length - (root?.length ?? 0))
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
  client: Client,
  root: string,
  method: string,
  path: string,
  { expects, ...options }: SendOptions = {},
): Promise<ServiceResponse<T>> {
  const { data, meta, envelope, response } = await client
    .request(method, path, options)
    .withResponse()
    .catch((error) => {
      throw explain(root, error)
    })
  if (expects && !Value.Check(expects, data)) throw notOurs(root)
  return { data, meta, envelope, headers: response.headers }
}

/** Converts a client error to an error that tells the user what to do about it. */
function explain(root: string, error: unknown): unknown {
  // The client rejects a name such as "..", which would lead to a different route.
  if (error instanceof TypeError) return new UsageError(error.message)
  if (!(error instanceof ConnectionError)) return error
  const { status, retryAfterSeconds, cause } = error
  const message = `${root} responded ${status}`
  const facts = { message, status: status ?? 0, requestId: undefined, errors: [], retryAfterSeconds }
  if (status === undefined) return new UnreachableError(`Cannot reach ${root}: ${(cause as Error).message}`)
  if (status === 401 || status === 403) return new PartnerError('unknown_error', facts)
  if (status >= 400) return new UnreachableError(message, retryAfterSeconds)
  if (status < 300) return notOurs(root)
  const advice = 'redirects to another address; use the address of the service itself'
  return new UnreachableError(`${root} ${advice}`, retryAfterSeconds)
}

function notOurs(root: string): UnreachableError {
  return new UnreachableError(`The response of ${root} is not from the partner interface`)
}
