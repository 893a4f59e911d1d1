import { systemClock } from '../../src/core/clock.ts'
import { openMongo } from '../../src/platform/mongo/connection.ts'
import { makeActor, sender, testEnvironment } from './app.ts'
import { onScopeEnd } from './databases.ts'
import { startService } from './processes.ts'

/** Starts a service; returns it with functions that create partners and read its log lines. */
export async function serve(more: Record<string, string>) {
  const settings = testEnvironment({ WEBHOOKS_ALLOW_PRIVATE: 'on', LOG_LEVEL: 'info', ...more })
  const service = await startService(settings)
  onScopeEnd(service.stop)
  const db = await openMongo(settings.MONGODB_URL as string)
  onScopeEnd(() => db.close())
  const actor = () => makeActor({ db, clock: systemClock }, sender(fetch, service.url))
  const lines = () => {
    const written = service.output().split('\n')
    return written.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line))
  }
  return { ...service, settings, actor, lines }
}
