import { Schema } from 'mongoose'
import { modelOf } from '../../../platform/mongo/collections.ts'

/** What became of one rates write: it is applied with the transaction that accepts it. */
export interface RateJob {
  host_id: number
  id: number
  items: number
  applied_at: Date
  expires_at: Date
}

const schema = new Schema<RateJob>({
  host_id: { type: Number, required: true },
  id: { type: Number, required: true },
  items: { type: Number, required: true },
  applied_at: { type: Date, required: true },
  expires_at: { type: Date, required: true },
})
schema.index({ host_id: 1, id: 1 }, { unique: true, name: 'rate_job_id' })
schema.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'rate_job_expiry' })

export const rateJobModel = modelOf<RateJob>('rate_jobs', schema)
