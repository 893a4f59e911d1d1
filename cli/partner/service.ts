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
export const apiKeyForm = 'pis_[0-9A-Za-z]{38}'
const apiKey = new RegExp(apiKeyForm, 'g')

/** Returns the text with every API key replaced with `…`. */
export function hideApiKeys(text: string): string {
  return text.replaceAll(apiKey, '…')
}
