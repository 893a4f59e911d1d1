import type { Access } from './door.ts'

/** What the OpenAPI document says of a route because of its `access`. */
export function documentAccess(access: Access) {
  const idempotencyKey = {
    name: 'Idempotency-Key',
    in: 'header' as const,
    required: false,
    description: 'Makes a retry safe: the same key and body give the first answer again',
    schema: { type: 'string' as const, minLength: 1, maxLength: 255 },
  }
  return {
    'x-permission': access.permission,
    security: [{ apiKey: [] }, { bearer: [] }],
    ...(access.idempotent ? { parameters: [idempotencyKey] } : {}),
  }
}
