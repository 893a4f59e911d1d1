import { DomainError } from '../core/errors.ts'
import type { Permission } from './permissions.ts'

/** @throws DomainError `forbidden` that names the permission, unless it was granted */
export function requirePermission(permission: Permission | 'any', granted: readonly Permission[]): void {
  if (permission === 'any' || granted.includes(permission)) return
  throw new DomainError('forbidden', `The API key lacks the required permission "${permission}"`, [
    { path: 'required_permission', code: 'forbidden', message: permission },
  ])
}
