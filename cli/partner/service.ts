import { isCalendarDate, isVersion } from '../../client/src/index.ts'
import { UsageError } from '../shared/errors.ts'

/** The parts of the contract that commands check before they send a request. */

/** Root path of each environment's operations. */
export const roots = { live: '/v1', sandbox: '/sandbox' } as const

type EnvironmentName = keyof typeof roots

/** Splits a path into its environment and the rest. The environment is undefined if the path is below neither root. */
export function splitRoot(path: string): { environment: EnvironmentName | undefined; rest: string } {
  for (const [environment, root] of Object.entries(roots) as [EnvironmentName, string][])
    if (path === root || path.startsWith(`${root}/`)) return { environment, rest: path.slice(root.length) }
  return { environment: undefined, rest: path }
}

/** The only integration provider (contract, Providers). */
export const supportedProvider = 'provider_one'

/** The permissions that a key can have (contract, Authentication 4). */
export const allPermissions = [
  'users.read',
  'users.write',
  'bookings.read',
  'bookings.write',
  'listings.read',
  'listings.write',
] as const

/** The statuses that a booking can have. */
export const bookingStatuses: readonly string[] = ['pending', 'confirmed', 'cancelled']

/** Pattern of an API key (decisions §3): `pis_`, 32 random base62 characters, and a checksum of 6 characters. */
const apiKeyForm = 'pis_[0-9A-Za-z]{38}'
const apiKey = new RegExp(apiKeyForm, 'g')

/** Returns the text with every API key replaced with `…`. */
export function hideApiKeys(text: string): string {
  return text.replaceAll(apiKey, '…')
}

const isKey = new RegExp(`^${apiKeyForm}$`)
const isQuoted = new RegExp(`^(["'\`“‘„«]).*${apiKeyForm}.*$`, 's')
const hasWordBefore = new RegExp(`^\\S.*?[\\s=:]+["']?${apiKeyForm}["']?$`)

/**
 * Checks an API key before it is sent (decisions §15). No message repeats any part of it.
 *
 * @param source where the key comes from, such as `PARTNER_API_KEY`
 * @returns the key
 * @throws UsageError that says what is wrong with it
 */
export function requireKey(text: string, source: string): string {
  if (isKey.test(text)) return text
  if (isQuoted.test(text)) throw new UsageError(`The API key in ${source} is in quotes: leave them out`)
  if (hasWordBefore.test(text))
    throw new UsageError(`The API key in ${source} has a word before it, such as "Bearer": leave it out`)
  throw new UsageError(
    `The API key in ${source} is not complete or not a key: it must be "pis_" and 38 letters and digits, and nothing else`,
  )
}

/**
 * @throws UsageError unless the text, if given, is a feed's version or a date; a date means the beginning of that day
 */
export function requireVersion(text: string | undefined): void {
  if (text !== undefined && !isVersion(text) && !isCalendarDate(text))
    throw new UsageError(`"${text}" is not a valid version`)
}
