import { modelOf } from '../../../platform/mongo/collections.ts'
import { moment, number, type Stored, schemaOf } from '../../../platform/mongo/fields.ts'

const fields = {
  host_id: number,
  id: number,
  items: number,
  applied_at: moment,
  expires_at: moment,
}

/** A rates-write job. The transaction that accepts the write also applies it. */
export type RateJob = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ host_id: 1, id: 1 }, { unique: true, name: 'rate_job_id' })
schema.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'rate_job_expiry' })

export const rateJobModel = modelOf<RateJob>('rate_jobs', schema)
