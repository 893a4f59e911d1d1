import type { ErrorKind } from '../../core/errors.ts'
import type { Access } from '../access.ts'
import { idempotencyKeyLength } from '../input/idempotency-key.ts'

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header' as const,
  required: false,
  description:
    'Key that makes retries safe: a repeated request with the same key and body gets the first response again. It may be quoted; a comma followed by a space is not allowed',
  schema: { type: 'string' as const, minLength: 1, maxLength: idempotencyKeyLength },
}

const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header' as const,
  required: false,
  description:
    '`ETag` of a page that the client already has; the response is a 304 without a body if the page is unchanged',
  schema: { type: 'string' as const },
}

const prefer = {
  name: 'Prefer',
  in: 'header' as const,
  required: false,
  description:
    '`handling=strict` refuses unknown and read-only fields with 422; otherwise they are ignored, and `meta.ignored` names them',
  schema: { type: 'string' as const },
}

const preferPeek = {
  name: 'Prefer',
  in: 'header' as const,
  required: false,
  description:
    '`peek` looks at the feed without counting as a read by the key, so that an alert about unread changes still sees them',
  schema: { type: 'string' as const },
}

/** Returns the parts of a route's documentation that follow from its `access`. */
export function documentAccess(access: Access) {
  const parameters = [
    ...(access.idempotent ? [idempotencyKey] : []),
    ...(access.body ? [prefer] : []),
    ...(access.feed ? [preferPeek] : []),
    ...(access.conditional ? [ifNoneMatch] : []),
  ]
  return {
    'x-permission': access.permission,
    'x-errors': errorsOf(access),
    'x-limit': access.window ?? 'default',
    'x-body': access.body ?? 'none',
    'x-opens-sandbox': access.environment !== 'skips',
    'x-meets-faults': access.environment === undefined,
    ...(access.deprecated ? { deprecated: true, 'x-sunset': access.deprecated.sunset.toISOString() } : {}),
    security: [{ apiKey: [] }, { bearer: [] }],
    ...(parameters.length > 0 ? { parameters } : {}),
  }
}

/** Returns the errors that a route declares and the errors that its requirements imply. */
function errorsOf({ body, provider, idempotent, errors = [] }: Access): ErrorKind[] {
  return [
    'auth',
    'forbidden',
    ...(provider ? (['unsupported_provider'] as const) : []),
    ...(idempotent ? (['idempotency_mismatch'] as const) : []),
    ...(body ? (['body_too_large', 'body_too_slow', 'validation'] as const) : []),
    // A queue of the service may be full, whatever the request is (decisions §1).
    'conflict',
    'rate_limit',
    ...errors,
  ]
}
