import { inSpan } from '../../core/trace.ts'
import type { SharedCache } from '../shared-cache.ts'
import { withTimeoutOrNull } from '../time-limits.ts'
import type { RedisClient } from './connection.ts'

/** Maximum time that a request waits for a value, after which the database answers. */
const timeoutMilliseconds = 50

/**
 * Shares values through Redis.
 *
 * @param isUp returns whether Redis responded when last tried and no probe of it is in progress
 */
export function redisCache(redis: () => RedisClient, isUp: () => boolean): SharedCache {
  return {
    async get(name) {
      if (!isUp()) return null
      const found = inSpan('redis get', () => redis().get(`cache:${name}`))
      return withTimeoutOrNull(found, timeoutMilliseconds)
    },
    set(name, value, milliseconds) {
      if (!isUp()) return
      const stored = inSpan('redis set', () => redis().set(`cache:${name}`, value, 'PX', milliseconds))
      stored.catch(() => {})
    },
  }
}
