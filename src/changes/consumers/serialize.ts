import { toTimestampOrNull } from '../../core/clock.ts'
import { toVersion } from '../../versions/format.ts'
import type { Consumer } from './model.ts'
import type { Progress } from './progress.ts'
import type { ConsumerView } from './schema.ts'

/** A consumer with how far it is behind. */
export function serializeConsumer(
  { name, acknowledged, acknowledged_at }: Consumer,
  { pending, oldestPending }: Progress,
): ConsumerView {
  return {
    name,
    acknowledged: acknowledged && toVersion(acknowledged),
    acknowledged_at: toTimestampOrNull(acknowledged_at),
    pending,
    oldest_pending_at: toTimestampOrNull(oldestPending),
  }
}
