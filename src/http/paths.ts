import { DomainError } from '../core/errors.ts'

/** Root path of each environment's routes. */
export const roots = { live: '/v1', sandbox: '/sandbox' } as const

export type EnvironmentName = keyof typeof roots

/** Splits a path into its environment and the rest. The environment is undefined if the path is below neither root. */
export function splitRoot(path: string): { environment: EnvironmentName | undefined; rest: string } {
  for (const [environment, root] of Object.entries(roots) as [EnvironmentName, string][])
    if (path === root || path.startsWith(`${root}/`)) return { environment, rest: path.slice(root.length) }
  return { environment: undefined, rest: path }
}

const id = /^[1-9]\d{0,15}$/

/** Returns true for a positive integer below 2^53, written in digits without leading zeros. */
export const isIdText = (text: string) => id.test(text) && Number.isSafeInteger(Number(text))

/** Returns a path id as a number, or undefined if it is not a positive integer below 2^53. */
export function parsePathId(value: string | undefined): number | undefined {
  return value !== undefined && isIdText(value) ? Number(value) : undefined
}

/** Returns true if the text consists of 1 to 64 lower-case letters, digits or hyphens. */
export const isSlug = (text: string) => /^[a-z0-9-]{1,64}$/.test(text)

/** The only integration provider (contract, Providers). */
export const supportedProvider = 'provider_one'

/** @throws DomainError `unsupported_provider` for any provider except {@link supportedProvider} */
export function requireProvider(provider: string | undefined): void {
  if (provider === supportedProvider) return
  const message = `Unsupported provider; the only supported one is "${supportedProvider}"`
  throw new DomainError('unsupported_provider', message)
}

interface Route {
  method: string
  path: string
  hooks?: { detail?: { operationId?: string; 'x-meets-faults'?: boolean } }
}

/**
 * Returns the method and path of each sandbox route into which faults can be injected, by operation id. A sandbox route
 * that also exists below `/v1` has the same operation id there.
 */
export function operationsOf(routes: readonly Route[]): ReadonlyMap<string, string> {
  return new Map(
    routes.flatMap(({ method, path, hooks }) => {
      const { operationId, 'x-meets-faults': meetsFaults } = hooks?.detail ?? {}
      const isMet = operationId !== undefined && meetsFaults && path.startsWith(`${roots.sandbox}/`)
      return isMet ? [[operationId, `${method} ${path}`] as const] : []
    }),
  )
}

/** Format checks for the path parameters that are not ids. */
const parameterFormats: Record<string, (value: string) => boolean> = {
  ':provider': (value) => value === supportedProvider,
  ':name': isSlug,
  ':delivery_id': (value) => /^msg_[0-9a-f]{24}$/.test(value),
}

/**
 * Returns a request's path as the key's log shows it. A malformed parameter is replaced with `…`, because it may
 * contain anything, even a secret (decisions §18).
 *
 * @param route path pattern of the matched route
 */
export function loggedPath(route: string, path: string): string {
  if (!route.includes(':')) return route
  const sent = path.split('/')
  return route
    .split('/')
    .map((part, index) => (part.startsWith(':') ? shownParameter(part, sent[index] ?? '') : part))
    .join('/')
}

function shownParameter(name: string, value: string): string {
  return (parameterFormats[name] ?? isIdText)(value) ? value : '…'
}

/** The format of an API key (decisions §3): `pis_`, 32 random base62 characters, and a 6-character checksum. */
export const apiKeyFormat = { prefix: 'pis_', randomLength: 32, checksumLength: 6 } as const

const { prefix, randomLength, checksumLength } = apiKeyFormat
const key = new RegExp(`${prefix}[0-9A-Za-z]{${randomLength + checksumLength}}`)

/** Returns true if the text contains something that looks like an API key. Such text must not be logged. */
export function mayContainApiKey(text: string): boolean {
  return key.test(text)
}

/**
 * Returns an ignored field's path as it appears in responses. A long or unusual path becomes `…`, because a client may send
 * any field name, even a secret (decisions §27).
 */
export function shownFieldPath(path: string): string {
  const isShown = path.length <= 64 && /^[\w.]+$/.test(path) && !mayContainApiKey(path)
  return isShown ? path : '…'
}
