import { toTimestamp } from '../../../core/clock.ts'
import type { RateJob } from './model.ts'
import type { RateJobView } from './schema.ts'

/** Serializes a rates-write job (decisions §20). */
export function serializeRateJob({ id, items, applied_at }: RateJob): RateJobView {
  const at = toTimestamp(applied_at)
  return { id, status: 'applied', errors: [], accepted_at: at, applied_at: at, items }
}
