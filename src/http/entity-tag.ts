import { matches, strongTag } from './cached-content.ts'
import type { ResponseContext } from './envelope.ts'

/** A response that a client may keep for itself, if it asks each time whether it is still the same. */
const cacheControl = 'private, no-cache'

/**
 * Gives an envelope a weak entity tag over everything but its request id, and leaves the envelope away where the client
 * has it already (RFC 9110, 13.1.2).
 */
export function withEntityTag<E extends { data: unknown; meta: { pagination?: unknown } }>(
  { set, request }: ResponseContext & { request: Request },
  envelope: E,
): E {
  const { data, meta } = envelope
  const etag = `W/${strongTag(JSON.stringify([data, meta.pagination]))}`
  Object.assign(set.headers, { etag, 'cache-control': cacheControl })
  if (!matches(request.headers.get('if-none-match'), etag)) return envelope
  // Elysia sends a `Response` as it is.
  const headers = set.headers as Record<string, string>
  return new Response(null, { status: 304, headers }) as unknown as E
}
