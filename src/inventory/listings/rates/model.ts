import { modelOf } from '../../../platform/mongo/collections.ts'
import { field, type Stored, schemaOf } from '../../../platform/mongo/fields.ts'

const fields = {
  owner_id: field.number,
  id: field.number,
  items: field.number,
  applied_at: field.moment,
  expires_at: field.moment,
}

/** The job of a rates write. The transaction that accepts the write also applies it. */
export type RateJob = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ owner_id: 1, id: 1 }, { unique: true, name: 'rate_job_id' })
schema.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'rate_job_expiry' })

export const rateJobModel = modelOf<RateJob>('rate_jobs', schema, { owner: 'owner_id' })
