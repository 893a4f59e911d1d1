import { toTimestampOrNull } from '../../core/clock.ts'
import type { Host } from '../hosts/model.ts'
import type { inspectKey } from './authorizer.ts'
import type { ApiKey } from './model.ts'
import type { KeyView } from './schema.ts'
import { keyStatus } from './status.ts'

/** Serializes a key for its holder (decisions §18). */
export function serializeKey(
  { key, limit, remaining, windowSeconds }: Awaited<ReturnType<typeof inspectKey>>,
  host: Pick<Host, 'name' | 'email'>,
  now: Date,
): KeyView {
  return {
    id: key.id,
    name: key.name,
    host: { name: host.name, email: host.email },
    permissions: key.permissions,
    allowed_from: key.allowed_from ?? [],
    status: keyStatus(key, now),
    expires_at: toTimestampOrNull(key.expires_at),
    previous_expires_at: toTimestampOrNull(latestOverlap(key, now)),
    rate_limit: { limit, remaining, window_seconds: windowSeconds },
    usage: { count: key.usage_count, last_used_at: toTimestampOrNull(key.last_used_at) },
  }
}

/** Returns the time at which the last of a key's running overlaps ends, or null if no overlap is running. */
function latestOverlap({ secrets }: ApiKey, now: Date): Date | null {
  let latest: Date | null = null
  for (const { expires_at } of secrets)
    if (expires_at && expires_at > now && (!latest || expires_at > latest)) latest = expires_at
  return latest
}
