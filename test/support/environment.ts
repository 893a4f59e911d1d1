import { readConfig } from '../../src/core/config.ts'

/**
 * Returns the settings of a service that uses these servers. The limit for failed authentications is high, because many
 * clients share an address.
 */
export function environmentOf(mongodbUrl: string, redisUrl: string): Record<string, string> {
  return {
    MONGODB_URL: mongodbUrl,
    REDIS_URL: redisUrl,
    LOG_LEVEL: 'error',
    AUTH_FAILURES_PER_MINUTE: '1000000',
  }
}

/** Returns the names of all variables that the configuration reads. */
export function settingNames(): Set<string> {
  const names = new Set<string>()
  readConfig(new Proxy({}, { get: (_, name) => void names.add(String(name)) }), [])
  return names
}
