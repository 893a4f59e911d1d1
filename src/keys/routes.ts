import { Elysia } from 'elysia'
import { toTimestampOrNull } from '../clock.ts'
import type { Deps } from '../deps.ts'
import { door } from '../http/door.ts'
import { Envelope, ok } from '../http/envelope.ts'
import type { ApiKey } from './model.ts'
import { KeyView } from './schema.ts'

/** What a key can see of itself (decisions §18). */
export function keyRoutes(deps: Deps) {
  return new Elysia({ tags: ['Key'] }).use(door(deps)).get(
    '/key',
    async (context) => {
      const { keyId, host } = context.caller
      const { key, limit, remaining, windowSeconds } = await deps.authenticator.inspect(keyId)
      return ok(context, {
        id: key.id,
        name: key.name,
        host: { name: host.name, email: host.email },
        permissions: key.permissions,
        status: 'active',
        expires_at: toTimestampOrNull(key.expires_at),
        previous_expires_at: toTimestampOrNull(latestOverlap(key, deps.clock())),
        rate_limit: { limit, remaining, window_seconds: windowSeconds },
        usage: { count: key.usage_count, last_used_at: toTimestampOrNull(key.last_used_at) },
      })
    },
    {
      access: { permission: 'any', window: 'insight', opensSandbox: false },
      response: { 200: Envelope(KeyView) },
      detail: { summary: 'Read the key itself: permissions, expiry, limit and use' },
    },
  )
}

/** The latest end of a rotation's overlap that still runs. */
function latestOverlap({ secrets }: ApiKey, now: Date): Date | null {
  const running = secrets.flatMap(({ expires_at }) => (expires_at && expires_at > now ? [expires_at] : []))
  return running.sort((one, other) => other.getTime() - one.getTime())[0] ?? null
}
