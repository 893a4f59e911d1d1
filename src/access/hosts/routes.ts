import { Elysia } from 'elysia'
import { toTimestamp } from '../../core/clock.ts'
import type { AppContext } from '../../http/context.ts'
import { Envelope, ok } from '../../http/envelope.ts'
import { guard } from '../../http/guard.ts'
import { HostProfile } from './schema.ts'

/** The host profile check (contract, `GET /v1/me`). */
export function hostRoutes(app: AppContext) {
  return new Elysia({ tags: ['Host'] }).use(guard(app)).get(
    '/me',
    (context) => {
      const { name, email, createdAt, lastLoginAt } = context.caller.host
      const created_at = toTimestamp(createdAt)
      const last_login_at = toTimestamp(lastLoginAt ?? createdAt)
      return ok(context, { name, email, created_at, last_login_at })
    },
    {
      access: { permission: 'any' },
      response: { 200: Envelope(HostProfile) },
      detail: { operationId: 'getHostProfile', summary: 'Check the key and read the host profile' },
    },
  )
}
