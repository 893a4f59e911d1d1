import { modelOf } from '../../platform/mongo/collections.ts'
import { field, type Stored, schemaOf } from '../../platform/mongo/fields.ts'

const fields = {
  id: field.number,
  name: field.text,
  email: field.text,
  created_at: field.moment,
  last_login_at: field.momentOrNull,
  /**
   * Time at which the host was suspended; null if it is not suspended. All of a suspended host's keys are treated as
   * inactive.
   */
  suspended_at: field.momentOrNull,
}

export type Host = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ id: 1 }, { unique: true, name: 'host_id' })
schema.index({ email: 1 }, { unique: true, name: 'host_email' })

export const hostModel = modelOf<Host>('hosts', schema)
