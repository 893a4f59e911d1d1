import type { ApiKey } from './model.ts'

export const keyStatuses = ['active', 'inactive', 'expired', 'revoked'] as const

type KeyStatus = (typeof keyStatuses)[number]

/** Returns a key's current status. */
export function keyStatus(
  { active, revoked_at, expires_at }: Pick<ApiKey, 'active' | 'revoked_at' | 'expires_at'>,
  now: Date,
): KeyStatus {
  if (revoked_at) return 'revoked'
  // If this breaks: an expired key is accepted
  if (expires_at && expires_at <= now) return 'expired'
  return active ? 'active' : 'inactive'
}
