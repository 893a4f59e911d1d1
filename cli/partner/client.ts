import { stat } from 'node:fs/promises'
import type { ArgsDef, ParsedArgs } from 'citty'
import {
  type Attempt,
  type Client,
  ConnectionError,
  createClient,
  PartnerError,
  type SandboxClient,
  type Schemas,
} from '../../client/src/index.ts'
import { flag, option } from '../shared/command.ts'
import { UsageError } from '../shared/errors.ts'
import { reasonOf } from '../shared/file-errors.ts'
import { note, visible } from '../shared/output.ts'
import { readText } from '../shared/values.ts'
import { describeConnectionError } from './format-error.ts'
import { findProfile, requireSafeAddress } from './profiles.ts'
import { keepFromProxy } from './proxy.ts'
import { requireKey, roots } from './service.ts'

/** Arguments of every command that calls the service over HTTP. */
export const clientArgs = {
  'base-url': option('Address of the service (PARTNER_BASE_URL)', 'url'),
  'key-file': option('File that holds the API key (or PARTNER_API_KEY)', 'path'),
  profile: option('Profile to use, as stored by login', 'name'),
  sandbox: flag('Use the sandbox instead of live data'),
} as const satisfies ArgsDef

const { sandbox: _, ...alwaysSandbox } = clientArgs
/** Arguments of commands that work only in the sandbox. */
export const sandboxArgs = alwaysSandbox

export type ClientOptions = Partial<Pick<ParsedArgs<typeof clientArgs>, keyof typeof clientArgs>>

/** A client and the address to which it sends requests. */
export type PartnerClient = Client & {
  /** Address of the service, without `/v1` or `/sandbox`. */
  address: string
  /** Address of the service, with `/v1` or `/sandbox`. */
  root: string
  isSandbox: boolean
}

export const defaultBaseUrl = 'http://127.0.0.1:3000'

/**
 * Opens a client with the address and key from the command's options, the environment or the profile, in that order.
 *
 * @param retries maximum number of retries per request; each retry is announced on standard error
 * @throws UsageError if there is no key, or the address is not valid
 */
export async function openClient(options: ClientOptions, retries = 0): Promise<PartnerClient> {
  const { base, isSandbox, key } = await settingsOf(options)
  return clientFor(base, isSandbox, key, retries)
}

/** Opens a client like {@link openClient}, but always for the sandbox, even if the profile is for live data. */
export async function openSandboxClient(
  options: Omit<ClientOptions, 'sandbox'>,
  retries = 0,
): Promise<SandboxClient> {
  const { base, key } = await settingsOf(options)
  return createClient({ key, baseUrl: addressOf(base), retries, onRequest, sandbox: true })
}

/** Returns the address that {@link openClient} would use, without `/v1` or `/sandbox`. No key is needed. */
export async function findAddress(options: ClientOptions): Promise<string> {
  const profile = await findProfile(options.profile)
  return addressOf(options['base-url'] ?? process.env.PARTNER_BASE_URL ?? profile?.base_url ?? defaultBaseUrl)
}

/**
 * Creates a client for the given address and key.
 *
 * @throws UsageError if the address is not valid
 */
export function clientFor(base: string, isSandbox: boolean, key: string, retries = 0): PartnerClient {
  const address = addressOf(base)
  const client = createClient({ key, baseUrl: address, retries, onRequest, sandbox: isSandbox })
  return { ...client, address, root: address + roots[isSandbox ? 'sandbox' : 'live'], isSandbox }
}

/**
 * Returns the time in the client's environment: this machine's on live data, the sandbox's own in the sandbox (§22). A
 * running certification has a fresh sandbox, whose clock shows the real time and can neither be moved nor read.
 */
export async function timeOf(client: PartnerClient): Promise<Date> {
  if (!client.isSandbox) return new Date()
  try {
    const { now } = await client.request<Schemas['SandboxClock']>('GET', '/clock')
    return new Date(now)
  } catch (error) {
    if (error instanceof PartnerError && error.type === 'conflict') return new Date()
    throw error
  }
}

/** Prints a note that says when a failed request will be retried. */
function onRequest({ error, retryInSeconds }: Attempt): void {
  if (!error || retryInSeconds === undefined) return
  const reason = error instanceof ConnectionError ? describeConnectionError(error) : error.message
  note(visible(`${reason}; trying again in ${retryInSeconds.toFixed(1)} s`))
}

interface Settings {
  base: string
  isSandbox: boolean
  key: string
}

/** @throws UsageError if there is no key, if it has another form, or if the profile's key would be sent elsewhere */
async function settingsOf(options: ClientOptions): Promise<Settings> {
  const profile = await findProfile(options.profile)
  const elsewhere = options['base-url'] ?? process.env.PARTNER_BASE_URL
  const ownKey = await readOwnKey(options)
  const isSandbox = options.sandbox ?? profile?.sandbox ?? false
  if (ownKey !== undefined)
    return { base: elsewhere ?? profile?.base_url ?? defaultBaseUrl, isSandbox, key: ownKey }
  if (!profile?.key)
    throw new UsageError('No API key: run partnerctl login, set PARTNER_API_KEY, or use --key-file')
  // A profile's key is sent only to the profile's own address.
  if (elsewhere !== undefined && addressOf(elsewhere) !== addressOf(profile.base_url))
    throw new UsageError(
      `The key of the profile "${profile.name}" is only sent to ${profile.base_url}: leave out --base-url and PARTNER_BASE_URL, or use another key with PARTNER_API_KEY or --key-file`,
    )
  requireSafeAddress(profile.base_url)
  const key = requireKey(profile.key, `the profile "${profile.name}"`)
  return { base: profile.base_url, isSandbox, key }
}

/** Returns an address without trailing slashes and without `/v1` or `/sandbox`, to which requests can be sent. */
function addressOf(base: string): string {
  if (!URL.canParse(base)) throw new UsageError(`"${base}" is not a valid address`)
  keepFromProxy(base)
  const address = base.replace(/\/+$/, '')
  const root = Object.values(roots).find((known) => address.endsWith(known))
  return address.slice(0, address.length - (root?.length ?? 0))
}

/**
 * Reads the key from the command's options or environment; undefined if neither has one.
 *
 * @throws UsageError for a file that cannot be read, and for anything but a key
 */
async function readOwnKey(options: ClientOptions): Promise<string | undefined> {
  const file = options['key-file']
  if (file) return requireKey(await readKeyFile(file), `"${file}"`)
  const key = options.profile ? undefined : process.env.PARTNER_API_KEY?.trim()
  return key ? requireKey(key, 'PARTNER_API_KEY') : undefined
}

async function readKeyFile(path: string): Promise<string> {
  const { mode } = await stat(path).catch((error) => {
    throw new UsageError(`Cannot read "${path}": ${reasonOf(error)}`)
  })
  // On Windows, the mode says nothing about who can read a file.
  if ((mode & 0o077) !== 0 && process.platform !== 'win32')
    throw new UsageError(`Others can read "${path}"; run: chmod 600 ${path}`)
  return (await readText(path)).trim()
}
