import { toTimestamp, toTimestampOrNull } from '../clock.ts'
import type { RateJob } from '../listings/rate-jobs-model.ts'
import type { RateJobView } from './schema.ts'

/** What became of a rates write (decisions §20). */
export function serializeRateJob({ id, status, problems, items, ...times }: RateJob): RateJobView {
  return {
    id,
    status,
    errors: problems,
    accepted_at: toTimestamp(times.accepted_at),
    applied_at: toTimestampOrNull(times.applied_at),
    items,
  }
}
