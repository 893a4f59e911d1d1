import { modelOf } from '../../platform/mongo/collections.ts'
import { field, type Stored, schemaOf } from '../../platform/mongo/fields.ts'

const fields = {
  id: field.number,
  name: field.text,
  email: field.text,
  /** Hash that is the same for all spellings of the address. */
  email_key: field.text,
  created_at: field.moment,
  last_login_at: field.momentOrNull,
  /**
   * Time at which the host was suspended; null if it is not suspended. All of a suspended host's keys are treated as
   * inactive.
   */
  suspended_at: field.momentOrNull,
}

export type Host = Stored<typeof fields>

/** Name of the index that enforces unique e-mail addresses among hosts. */
export const hostEmailIndex = 'host_email_key'

const schema = schemaOf(fields)
schema.index({ id: 1 }, { unique: true, name: 'host_id' })
schema.index({ email_key: 1 }, { unique: true, name: hostEmailIndex })

export const hostModel = modelOf<Host>('hosts', schema)
