import { modelOf } from '../../platform/mongo/collections.ts'
import {
  mixed,
  moment,
  momentOrNull,
  number,
  type Stored,
  schemaOf,
  text,
  textOrNull,
} from '../../platform/mongo/fields.ts'

const fields = {
  id: number,
  host_id: number,
  email: text,
  /** Hash of the address, used in indexes. */
  email_key: text,
  /** argon2id hash, or null for an account without a password. */
  password_hash: textOrNull,
  name: text,
  first_name: text,
  last_name: text,
  phone: textOrNull,
  date_of_birth: textOrNull,
  gender: textOrNull,
  country: textOrNull,
  city: textOrNull,
  timezone: text,
  language: text,
  login_ip: text,
  /** Attributes that web registration stores with a user (contract, `POST /v1/users`). */
  meta: mixed<{ source: string; api_created: boolean; created_by_key: number }>(),
  created_at: moment,
  updated_at: moment,
  /** Time at which the guest's erasure began, after which the guest cannot book; null if none has begun. */
  erasing_at: momentOrNull,
  /** Time at which the guest's personal data was overwritten; null if it has not been. */
  erased_at: momentOrNull,
}

export type StoredUser = Stored<typeof fields>

/** Name of the index that keeps addresses unique within a host. */
export const emailIndex = 'user_email_key'

const schema = schemaOf(fields)
schema.index({ host_id: 1, id: 1 }, { unique: true, name: 'user_id' })
schema.index({ host_id: 1, email_key: 1 }, { unique: true, name: emailIndex })
schema.index({ email_key: 1 }, { name: 'user_address' })
schema.index({ id: 1 }, { name: 'user_number' })

export const userModel = modelOf<StoredUser>('users', schema)
