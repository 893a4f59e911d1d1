import { Envelope, ok } from '../../http/answer/envelope.ts'
import type { AppContext } from '../../http/context.ts'
import { routes } from '../../http/route.ts'
import { type Outcome, ProviderKeyResult, ProviderKeyWrite } from './schema.ts'
import { storeProviderKey } from './store.ts'

const messages: Record<Outcome, string> = {
  created: 'Provider key stored',
  updated: 'Provider key replaced',
  unchanged: 'Provider key unchanged',
}

/** Defines the route that stores the host's provider key (contract, `POST …/provider-key`). */
export function providerKeyRoutes(app: AppContext) {
  return routes(app, { prefix: '/integrations/:provider/provider-key', tags: ['Provider key'] }).post(
    '',
    {
      access: { permission: 'listings.write', provider: true, body: 'json', errors: ['conflict'] },
      body: ProviderKeyWrite,
      response: { 200: Envelope(ProviderKeyResult) },
      detail: { operationId: 'storeProviderKey', summary: 'Store the provider key' },
    },
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
  )
}
