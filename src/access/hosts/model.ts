import { modelOf } from '../../platform/mongo/collections.ts'
import { moment, momentOrNull, number, type Stored, schemaOf, text } from '../../platform/mongo/fields.ts'

const fields = {
  id: number,
  name: text,
  email: text,
  created_at: moment,
  last_login_at: momentOrNull,
  /**
   * Time at which the host was suspended; null if it is not suspended. All keys of a suspended host count as inactive.
   */
  suspended_at: momentOrNull,
}

export type Host = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ id: 1 }, { unique: true, name: 'host_id' })
schema.index({ email: 1 }, { unique: true, name: 'host_email' })

export const hostModel = modelOf<Host>('hosts', schema)
