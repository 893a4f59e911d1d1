import { Envelope, ok } from '../../http/answer/envelope.ts'
import type { AppContext } from '../../http/context.ts'
import { routes } from '../../http/route.ts'
import { inspectKey } from './authorizer.ts'
import { KeyView } from './schema.ts'
import { serializeKey } from './serialize.ts'

/** Defines the route that shows a key's record to its holder (decisions §18). */
export function keyRoutes(app: AppContext) {
  return routes(app, { tags: ['Key'] }).get(
    '/key',
    {
      access: { permission: 'any', window: 'insight', environment: 'skips', readsOwnKey: true },
      response: { 200: Envelope(KeyView) },
      detail: { operationId: 'getKey', summary: 'Read the permissions, expiry, limit and usage of this key' },
    },
    async (context) => {
      const { keyId, host } = context.caller
      return ok(context, serializeKey(await inspectKey(app, keyId), host, app.clock()))
    },
  )
}
