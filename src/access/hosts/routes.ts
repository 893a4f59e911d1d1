import { toTimestamp } from '../../core/clock.ts'
import { Envelope, ok } from '../../http/answer/envelope.ts'
import type { AppContext } from '../../http/context.ts'
import { output, responseObject, withTitle } from '../../http/input/schema/fields.ts'
import { routes } from '../../http/route.ts'

/** Defines the route that returns the host profile, which partners read to check a key (contract, `GET /v1/me`). */
export function hostRoutes(app: AppContext) {
  return routes(app, { tags: ['Host'] }).get(
    '/me',
    {
      access: { permission: 'any' },
      response: { 200: Envelope(HostProfile) },
      detail: { operationId: 'getHostProfile', summary: 'Check the key and read the host profile' },
    },
    (context) => {
      const { name, email, createdAt, lastLoginAt } = context.caller.host
      const created_at = toTimestamp(createdAt)
      const last_login_at = toTimestamp(lastLoginAt ?? createdAt)
      return ok(context, { name, email, created_at, last_login_at })
    },
  )
}

/** Response of `GET /v1/me` (contract, Host profile). */
export const HostProfile = withTitle(
  'HostProfile',
  responseObject({
    name: output.text('Name of the host account'),
    email: output.text('E-mail address of the host account', 'email'),
    created_at: output.timestamp('Time at which the host account was created'),
    last_login_at: output.timestamp(
      'Time at which the host last logged in; equal to `created_at` before the first login',
    ),
  }),
)
