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
