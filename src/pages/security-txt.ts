import { Elysia } from 'elysia'
import type { AppContext } from '../http/context.ts'

const validMilliseconds = 365 * 86_400_000

/**
 * Route for `/.well-known/security.txt` (RFC 9116), which names the contact for vulnerability reports. It requires no
 * API key and exists only if `SECURITY_CONTACT` is set (decisions §28).
 */
export function securityTextRoutes({ config, clock }: Pick<AppContext, 'config' | 'clock'>) {
  const { publicUrl, securityContact } = config
  const routes = new Elysia({ detail: { hide: true } })
  if (securityContact === undefined) return routes
  return routes.get('/.well-known/security.txt', ({ set }) => {
    set.headers['content-type'] = 'text/plain; charset=utf-8'
    const expires = new Date(clock().getTime() + validMilliseconds).toISOString()
    const fields = [
      `Contact: ${securityContact}`,
      `Expires: ${expires}`,
      'Preferred-Languages: en',
      // The standard requires an https address.
      ...(publicUrl.startsWith('https:') ? [`Canonical: ${publicUrl}/.well-known/security.txt`] : []),
    ]
    return `${fields.join('\n')}\n`
  })
}
