import { findKeyById } from '../../access/keys/store.ts'
import { Envelope, ok } from '../../http/answer/envelope.ts'
import type { AppContext } from '../../http/context.ts'
import { routes } from '../../http/route.ts'
import { readFacts } from './facts.ts'
import type { HealthFacts } from './findings.ts'
import { HealthView } from './schema.ts'
import { serializeHealth } from './serialize.ts'

/** Defines the route that tells a partner whether their integration is quiet or broken (decisions §29). */
export function integrationHealthRoutes(app: AppContext) {
  return routes(app, { tags: ['Health'] }).get(
    '/health',
    {
      access: { permission: 'any', window: 'insight', environment: 'spared', readsOwnKey: true },
      response: { 200: Envelope(HealthView) },
      detail: { operationId: 'getHealth', summary: 'Learn whether the integration is quiet or broken' },
    },
    async (context) => {
      const { keyId, ownerId, host, permissions } = context.caller
      const lookUp = findKeyById(app.liveDb, keyId).then((key) => [key])
      const [facts] = await readFacts(app, [{ keyId, hostId: host.id, ownerId, permissions }], lookUp)
      return ok(context, serializeHealth(facts as HealthFacts, app.config.publicUrl))
    },
  )
}
