import { toTimestampOrNull } from '../../core/clock.ts'
import { toVersion } from '../../host-clock/format.ts'
import type { Consumer } from './model.ts'
import type { Progress } from './progress.ts'
import type { ConsumerView } from './schema.ts'

/** Returns a consumer as partners see it, including its lag. */
export function serializeConsumer(
  { name, acknowledged, acknowledged_at }: Consumer,
  { pending, oldestPending }: Progress,
): ConsumerView {
  return {
    name,
    acknowledged: acknowledged ? toVersion(acknowledged) : null,
    acknowledged_at: toTimestampOrNull(acknowledged_at),
    pending,
    oldest_pending_at: toTimestampOrNull(oldestPending),
  }
}
