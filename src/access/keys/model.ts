import { Schema } from 'mongoose'
import type { Permission } from '../../http/permissions.ts'
import { modelOf } from '../../platform/mongo/collections.ts'

/** One secret of a key; during the overlap of a rotation a key has two. */
export interface KeySecret {
  hash: string
  /** The first 12 characters. */
  prefix: string
  /** End of the rotation's overlap; null for the current secret. */
  expires_at: Date | null
}

export interface ApiKey {
  id: number
  host_id: number
  name: string
  permissions: Permission[]
  secrets: KeySecret[]
  active: boolean
  revoked_at: Date | null
  expires_at: Date | null
  /** Requests per minute; null for the service's default. */
  rate_limit: number | null
  usage_count: number
  last_used_at: Date | null
  /** The last 20 client addresses, latest first. */
  addresses: { address: string; last_used_at: Date }[]
  created_at: Date
}

const secretSchema = new Schema<KeySecret>(
  {
    hash: { type: String, required: true },
    prefix: { type: String, required: true },
    expires_at: { type: Date, default: null },
  },
  { _id: false },
)

const schema = new Schema<ApiKey>({
  id: { type: Number, required: true },
  host_id: { type: Number, required: true },
  name: { type: String, required: true },
  permissions: { type: [String], required: true },
  secrets: { type: [secretSchema], required: true },
  active: { type: Boolean, required: true },
  revoked_at: { type: Date, default: null },
  expires_at: { type: Date, default: null },
  rate_limit: { type: Number, default: null },
  usage_count: { type: Number, default: 0 },
  last_used_at: { type: Date, default: null },
  addresses: { type: [new Schema({ address: String, last_used_at: Date }, { _id: false })], default: [] },
  created_at: { type: Date, required: true },
})
schema.index({ id: 1 }, { unique: true, name: 'key_id' })
schema.index({ 'secrets.hash': 1 }, { unique: true, name: 'key_hash' })
schema.index({ 'secrets.prefix': 1 }, { name: 'key_prefix' })
schema.index({ host_id: 1 }, { name: 'key_host' })
schema.index({ expires_at: 1 }, { name: 'key_expiry' })

export const keyModel = modelOf<ApiKey>('keys', schema)
