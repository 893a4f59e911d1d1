import { Schema } from 'mongoose'
import { modelOf } from '../../platform/mongo/collections.ts'

export interface StoredUser {
  id: number
  host_id: number
  email: string
  /** Represents the address in the index. */
  email_key: string
  /** argon2id, or null for an account without a password. */
  password_hash: string | null
  name: string
  first_name: string
  last_name: string
  phone: string | null
  date_of_birth: string | null
  gender: string | null
  country: string | null
  city: string | null
  timezone: string
  language: string
  login_ip: string
  /** Attributes that web registration stores beside a user (contract, `POST /v1/users`). */
  meta: { source: string; api_created: boolean; created_by_key: number }
  created_at: Date
  updated_at: Date
}

/** The index that keeps addresses unique within a host. */
export const emailIndex = 'user_email_key'

const text = { type: String, default: null }
const requiredText = { type: String, required: true }

const schema = new Schema<StoredUser>({
  id: { type: Number, required: true },
  host_id: { type: Number, required: true },
  email: requiredText,
  email_key: requiredText,
  password_hash: text,
  name: requiredText,
  first_name: requiredText,
  last_name: requiredText,
  phone: text,
  date_of_birth: text,
  gender: text,
  country: text,
  city: text,
  timezone: requiredText,
  language: requiredText,
  login_ip: requiredText,
  meta: { type: Schema.Types.Mixed, required: true } as never,
  created_at: { type: Date, required: true },
  updated_at: { type: Date, required: true },
})
schema.index({ host_id: 1, id: 1 }, { unique: true, name: 'user_id' })
schema.index({ host_id: 1, email_key: 1 }, { unique: true, name: emailIndex })

export const userModel = modelOf<StoredUser>('users', schema)
