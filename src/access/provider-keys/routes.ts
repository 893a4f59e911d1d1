import { Elysia } from 'elysia'
import type { AppContext } from '../../http/context.ts'
import { Envelope, ok } from '../../http/envelope.ts'
import { guard } from '../../http/guard.ts'
import { type Outcome, ProviderKeyResult, ProviderKeyWrite } from './schema.ts'
import { storeProviderKey } from './store.ts'

const messages: Record<Outcome, string> = {
  created: 'Provider key stored',
  updated: 'Provider key replaced',
  unchanged: 'Provider key unchanged',
}

/** Defines the route that stores the host's provider key (contract, `POST …/provider-key`). */
export function providerKeyRoutes(app: AppContext) {
  return new Elysia({ prefix: '/integrations/:provider/provider-key', tags: ['Provider key'] })
    .use(guard(app))
    .post(
      '',
      async (context) => {
        const { provider } = context.params as { provider: string }
        const { ownerId, isSandbox } = context.caller
        const status = await storeProviderKey(app, {
          ownerId,
          provider,
          key: context.body.provider_api_key,
          isSandbox,
        })
        return ok(context, { status, message: messages[status] })
      },
      {
        access: { permission: 'listings.write', provider: true, body: 'json', errors: ['conflict'] },
        body: ProviderKeyWrite,
        response: { 200: Envelope(ProviderKeyResult) },
        detail: { operationId: 'storeProviderKey', summary: 'Store the provider key' },
      },
    )
}
