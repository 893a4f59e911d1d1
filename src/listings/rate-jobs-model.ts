import { Schema } from 'mongoose'
import type { Problem } from '../errors.ts'
import { modelOf } from '../platform/mongo/collections.ts'
import type { RateJobStatus } from './rate-job-status.ts'

/** What became of one rates write. */
export interface RateJob {
  host_id: number
  id: number
  /** Place of the write, as in its waiting rates. */
  sequence: number
  status: RateJobStatus
  items: number
  accepted_at: Date
  applied_at: Date | null
  problems: Problem[]
  /** Null while it waits. */
  expires_at: Date | null
}

const schema = new Schema<RateJob>({
  host_id: { type: Number, required: true },
  id: { type: Number, required: true },
  sequence: { type: Number, required: true },
  status: { type: String, required: true },
  items: { type: Number, required: true },
  accepted_at: { type: Date, required: true },
  applied_at: { type: Date, default: null },
  problems: { type: Schema.Types.Mixed, required: true } as never,
  expires_at: { type: Date, default: null },
})
schema.index({ host_id: 1, id: 1 }, { unique: true, name: 'rate_job_id' })
schema.index({ host_id: 1, status: 1, sequence: 1 }, { name: 'rate_job_place' })
schema.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'rate_job_expiry' })

export const rateJobModel = modelOf<RateJob>('rate_jobs', schema)
