import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { door } from '../http/door.ts'
import { Envelope, ok } from '../http/envelope.ts'
import { normalize } from '../schema/normalize.ts'
import { answerObject, requestObject, requiredText } from '../schema/types.ts'
import { type Outcome, storeProviderKey } from './store.ts'

const ProviderKeyWrite = requestObject({
  provider_api_key: requiredText(255, { trims: true, errorCode: 'required' }),
})

const ProviderKeyResult = answerObject({
  status: Type.Union([Type.Literal('created'), Type.Literal('updated'), Type.Literal('unchanged')]),
  message: Type.String(),
})

const messages: Record<Outcome, string> = {
  created: 'Provider key stored',
  updated: 'Provider key replaced',
  unchanged: 'Provider key unchanged',
}

/** Stores the host's key at the provider (contract, `POST …/provider-key`). */
export function providerKeyRoutes(deps: Deps) {
  return new Elysia({ prefix: '/integrations/:provider/provider-key', tags: ['Provider key'] })
    .use(door(deps))
    .post(
      '',
      async (context) => {
        const { provider } = context.params as { provider: string }
        const status = await storeProviderKey(
          deps,
          context.caller.hostId,
          provider,
          normalize(ProviderKeyWrite, context.body).provider_api_key,
          context.caller.isSandbox ? context.caller.hostId : undefined,
        )
        return ok(context, { status, message: messages[status] })
      },
      {
        access: { permission: 'listings.write', provider: true, body: 'json' },
        body: ProviderKeyWrite,
        response: { 200: Envelope(ProviderKeyResult) },
        detail: { summary: 'Store the provider key' },
      },
    )
}
