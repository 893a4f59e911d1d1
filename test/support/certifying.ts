import { createApp } from '../../src/app.ts'
import type { Bounds } from '../../src/certification/course/cases.ts'
import { serializeCertification } from '../../src/certification/serialize.ts'
import { findCertification } from '../../src/certification/store.ts'
import { readConfig } from '../../src/core/config.ts'
import type { Permission } from '../../src/http/permissions.ts'
import { longestTimerMilliseconds } from '../../src/platform/time-limits.ts'
import { compose } from '../../src/process/wiring.ts'
import { makeActor, sender, testEnvironment } from './app.ts'
import { createDatabase, mongodbUrlOf } from './databases.ts'

/**
 * Starts a service with its own database and certification times. It listens on a socket, because some faults affect
 * the connection.
 */
export async function certifyingService(certifying: Bounds, more: Record<string, string> = {}) {
  const name = `certify_${crypto.randomUUID().slice(0, 8)}`
  if (!more.MONGODB_URL) await createDatabase(name)
  const environment = testEnvironment({
    MONGODB_URL: mongodbUrlOf(name),
    WEBHOOKS_ALLOW_PRIVATE: 'on',
    ...more,
  })
  // A service that is advanced by hand must not be woken by its certifications.
  const workInterval = Math.min(4 * certifying.checkInterval, longestTimerMilliseconds)
  const context = await compose(readConfig(environment), { certifying, workInterval, noTimeouts: true })
  const app = createApp(context).listen({ hostname: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${app.server?.port}`
  const send = sender(fetch, url)
  return {
    url,
    context,
    send,
    mongodbUrl: environment.MONGODB_URL as string,
    look: async (keyId: number, id: number) =>
      serializeCertification(await findCertification(context.sandbox.db, keyId, id)),
    actor: (options: { permissions?: Permission[]; rateLimit?: number } = {}) =>
      makeActor(context.live, send, { rateLimit: 1_000_000, ...options }),
    async close() {
      await app.stop(true)
      await Promise.all([context.live, context.sandbox].map(({ db }) => db.dropDatabase().catch(() => {})))
      await context.close()
    },
  }
}
