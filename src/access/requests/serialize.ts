import { toTimestamp } from '../../core/clock.ts'
import type { KindCounts } from './kinds.ts'
import type { RequestCount, RequestView } from './schema.ts'
import type { LoggedRequest } from './store.ts'

/** Serializes a logged request, omitting its host and key ids. */
export function serializeRequest({
  id,
  request_id,
  at,
  host_id: _,
  key_id: __,
  fault = null,
  ...entry
}: LoggedRequest): RequestView {
  return { id, request_id, at: toTimestamp(at), ...entry, fault }
}

/** Serializes the counts of one minute. */
export function serializeCount(
  minute: Date,
  { succeeded = 0, refused = 0, limited = 0, failed = 0, unanswered = 0 }: KindCounts,
): RequestCount {
  return { at: toTimestamp(minute), succeeded, refused, limited, failed, unanswered }
}
