import { modelOf } from '../../platform/mongo/collections.ts'
import { field, type Stored, schemaOf } from '../../platform/mongo/fields.ts'

const fields = {
  id: field.number,
  owner_id: field.number,
  email: field.text,
  /** Hash that is the same for all spellings of the address. */
  email_key: field.text,
  /** argon2id hash, or null for an account without a password. */
  password_hash: field.textOrNull,
  name: field.text,
  first_name: field.text,
  /** Empty for a guest with one name. */
  last_name: field.text,
  phone: field.textOrNull,
  date_of_birth: field.textOrNull,
  gender: field.textOrNull,
  country: field.textOrNull,
  city: field.textOrNull,
  timezone: field.text,
  /** Null if none was sent: it is shown as `en`, but decides nothing. */
  language: field.textOrNull,
  login_ip: field.text,
  /** Attributes that web registration stores with a user (contract, `POST /v1/users`). */
  meta: field.mixed<{ source: string; api_created: boolean; created_by_key: number }>(),
  created_at: field.moment,
  updated_at: field.moment,
  /** Time of the guest's erasure; null if it has not started. From then on, the guest cannot book. */
  erasing_at: field.momentOrNull,
  /** Time of the guest's erasure, once the personal data is overwritten; null until then. */
  erased_at: field.momentOrNull,
}

export type StoredUser = Stored<typeof fields>

/** Name of the index that enforces unique e-mail addresses within a host. */
export const emailIndex = 'user_email_key'

const schema = schemaOf(fields)
schema.index({ owner_id: 1, id: 1 }, { unique: true, name: 'user_id' })
schema.index({ owner_id: 1, email_key: 1 }, { unique: true, name: emailIndex })
schema.index({ owner_id: 1, erasing_at: 1, id: 1 }, { name: 'user_erasing' })
schema.index({ email_key: 1 }, { name: 'user_address' })
schema.index({ id: 1 }, { name: 'user_number' })

export const userModel = modelOf<StoredUser>('users', schema, { owner: 'owner_id' })
