import { rateLimitName } from '../../../src/access/keys/authorizer.ts'
import type { ApiKey } from '../../../src/access/keys/model.ts'
import { turnOffOfKeys } from '../../../src/changes/webhooks/switch.ts'
import { readConfig } from '../../../src/core/config.ts'
import { isRefusal } from '../../../src/platform/redis/cause.ts'
import { openRateLimiter } from '../../../src/process/open.ts'
import { note } from '../../output.ts'
import { withDatabase } from './administer.ts'

/**
 * Notifies the running processes that keys have changed. Without Redis, or while it is down, they find out by
 * themselves within five seconds.
 */
export async function announceKeys(keys: ApiKey[]): Promise<void> {
  const config = readConfig(process.env, ['MONGODB_URL'])
  if (!config.redisUrl || keys.length === 0) return
  try {
    const rateLimiter = await openRateLimiter(config)
    const announcing = keys.map(({ id }) => rateLimiter.invalidate(rateLimitName(id)))
    await Promise.all(announcing).finally(() => rateLimiter.close())
  } catch (error) {
    const why = isRefusal((error as Error).message) ? (error as Error).message : 'Redis does not respond'
    note(`${why}: running processes will notice within 5 s`)
  }
}

/** Turns off the webhooks of keys that have ended. */
export async function turnOffWebhooks(keys: ApiKey[]): Promise<void> {
  const ids = keys.map(({ id }) => id)
  await withDatabase((app) => turnOffOfKeys({ ...app, environment: { name: 'live' } }, ids))
}
