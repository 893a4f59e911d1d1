import { Schema } from 'mongoose'
import { modelOf } from '../infra/mongo.ts'

export interface User {
  id: number
  host_id: number
  email: string
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
  created_at: Date
  updated_at: Date
}

const text = { type: String, default: null }
const requiredText = { type: String, required: true }

const schema = new Schema<User>({
  id: { type: Number, required: true },
  host_id: { type: Number, required: true },
  email: requiredText,
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
  created_at: { type: Date, required: true },
  updated_at: { type: Date, required: true },
})
schema.index({ host_id: 1, id: 1 }, { unique: true, name: 'user_id' })
schema.index({ host_id: 1, email: 1 }, { unique: true, name: 'user_email' })

export const userModel = modelOf<User>('users', schema)
