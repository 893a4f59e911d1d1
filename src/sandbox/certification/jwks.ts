import { Elysia } from 'elysia'
import type { AppContext } from '../../http/context.ts'
import { publicSigningKeys } from '../../platform/secrets/signing-keys.ts'
import { share } from '../../platform/share.ts'

/** A key that was made just now is published after so long: nothing was signed with it before. */
const sharedSeconds = 5

/** The public keys that reports are verified with: needs no key, and is the same in every process (decisions §25). */
export function jwksRoutes({ liveDb }: Pick<AppContext, 'liveDb'>) {
  const read = share(sharedSeconds * 1000, () => publicSigningKeys(liveDb))
  return new Elysia({ detail: { hide: true } }).get('/.well-known/jwks.json', async ({ set }) => {
    const keys = await read()
    set.headers['cache-control'] = `public, max-age=${sharedSeconds}`
    return { keys }
  })
}
