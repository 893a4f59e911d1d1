import { DomainError } from '../core/errors.ts'

/** The canonical permissions (contract, Authentication 4). */
export const permissions = [
  'users.read',
  'users.write',
  'bookings.read',
  'bookings.write',
  'listings.read',
  'listings.write',
] as const
export type Permission = (typeof permissions)[number]

/**
 * Converts an administrator's input to canonical permissions: legacy `*.create` becomes `*.write`, and duplicates are
 * dropped. Words that are not permissions are returned in `unknown`.
 */
export function normalizePermissions(words: string[]): { known: Permission[]; unknown: string[] } {
  const canonical = words.map((word) =>
    word
      .trim()
      .toLowerCase()
      .replace(/\.create$/, '.write'),
  )
  const isKnown = (word: string): word is Permission => permissions.includes(word as Permission)
  return {
    known: permissions.filter((permission) => canonical.includes(permission)),
    unknown: canonical.filter((word) => word !== '' && !isKnown(word)),
  }
}

/** @throws DomainError `forbidden`, naming the permission, if it was not granted */
export function requirePermission(permission: Permission | 'any', granted: readonly Permission[]): void {
  if (permission === 'any' || granted.includes(permission)) return
  throw missingPermission(permission)
}

/** Returns the 403 error for a key that lacks the permission (contract, Authentication 7). */
export function missingPermission(permission: string): DomainError {
  return new DomainError('forbidden', `The API key lacks the required permission "${permission}"`, [
    { path: 'required_permission', code: 'forbidden', message: permission },
  ])
}
