import { readConfig } from '../../src/core/config.ts'

/**
 * The settings of a service that uses these servers, with a high limit for failed authentications, because many clients
 * share an address.
 */
export function environmentOf(mongodbUrl: string, redisUrl: string): Record<string, string> {
  return {
    MONGODB_URL: mongodbUrl,
    REDIS_URL: redisUrl,
    LOG_LEVEL: 'error',
    AUTH_FAILURES_PER_MINUTE: '1000000',
  }
}

/** The names of all variables that the configuration reads. */
export function settingNames(): Set<string> {
  const names = new Set<string>()
  readConfig(new Proxy({}, { get: (_, name) => void names.add(String(name)) }), [])
  return names
}
