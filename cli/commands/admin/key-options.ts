import { shownLength } from '../../../src/access/keys/secret.ts'
import { parseExpiry } from '../../../src/access/keys/store.ts'
import { rateLimitBounds } from '../../../src/core/config.ts'
import { normalizePermissions, permissions } from '../../../src/http/permissions.ts'
import { UsageError } from '../../errors.ts'

/** Argument that identifies the key a command acts on. */
export const keyArgument = {
  key: {
    type: 'positional',
    required: true,
    description: `Id of the key, or its first ${shownLength} characters`,
  },
} as const

/**
 * Reads a key's id or its first characters. A whole key is rejected, because arguments are visible in the process list.
 *
 * @throws UsageError for anything longer than the part of a key that is not secret
 */
export function readKeyName(text: string): string {
  if (text.length <= shownLength) return text
  throw new UsageError(
    `Identify the key by its id or its first ${shownLength} characters, never by the whole key`,
  )
}

/** @throws UsageError for a word that is not a permission */
export function readPermissions(text: string) {
  const { known, unknown } = normalizePermissions(text.split(','))
  if (unknown.length > 0)
    throw new UsageError(`"${unknown[0]}" is not a permission; choose from ${permissions.join(', ')}`)
  if (known.length === 0) throw new UsageError('Option --permission needs at least one permission')
  return known
}

/** @throws UsageError for a name that is blank or too long */
export function readNewName(text: string): string {
  const name = text.trim()
  if (name === '') throw new UsageError('Option --name needs a value')
  if (name.length > 255) throw new UsageError('Option --name takes at most 255 characters')
  return name
}

/** @throws UsageError for anything but a date or an ISO time in the future */
export function readExpiry(text: string): Date {
  const moment = readMoment(text)
  if (moment.getTime() <= Date.now())
    throw new UsageError(`"${text}" is in the past: the key could never be used`)
  return moment
}

function readMoment(text: string): Date {
  try {
    return parseExpiry(text)
  } catch {
    throw new UsageError(`"${text}" is neither a date YYYY-MM-DD nor an ISO time`)
  }
}

/** @throws UsageError unless the limit is within the bounds of the service's own setting */
export function readRateLimit(text: string): number {
  const { minimum, maximum } = rateLimitBounds
  const limit = /^\d{1,7}$/.test(text) ? Number(text) : 0
  if (limit < minimum || limit > maximum)
    throw new UsageError(`Option --rate-limit must be an integer from ${minimum} to ${maximum}`)
  return limit
}
