import { Elysia } from 'elysia'
import type { AppContext } from '../../http/context.ts'
import { publicSigningKeys } from '../../platform/secrets/signing-keys.ts'

/** The public keys that reports are verified with: needs no key, and is the same in every process (decisions §25). */
export function jwksRoutes({ liveDb }: Pick<AppContext, 'liveDb'>) {
  return new Elysia({ detail: { hide: true } }).get('/.well-known/jwks.json', async () => ({
    keys: await publicSigningKeys(liveDb),
  }))
}
