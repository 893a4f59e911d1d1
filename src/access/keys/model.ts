import type { Permission } from '../../http/permissions.ts'
import { modelOf } from '../../platform/mongo/collections.ts'
import {
  type Field,
  flag,
  list,
  listOf,
  moment,
  momentOrNull,
  number,
  numberOrNull,
  type Stored,
  schemaOf,
  text,
} from '../../platform/mongo/fields.ts'

const secretFields = {
  hash: text,
  /** The secret's first 12 characters. */
  prefix: text,
  /** End of the rotation's overlap; null for the current secret. */
  expires_at: momentOrNull,
}

/** One secret of a key. A rotated key keeps its previous secrets, each with the end of its overlap. */
export type KeySecret = Stored<typeof secretFields>

const fields = {
  id: number,
  host_id: number,
  name: text,
  permissions: list<Permission>(String),
  secrets: listOf(secretFields),
  active: flag,
  revoked_at: momentOrNull,
  expires_at: momentOrNull,
  /** Requests per minute; null for the service's default. */
  rate_limit: numberOrNull,
  /**
   * Networks from which the key is accepted, in CIDR form; empty if the key is accepted from anywhere. Keys minted by
   * the first release lack this field.
   */
  allowed_from: list<string>(String) as Field<string[] | undefined>,
  usage_count: { ...number, default: 0 },
  last_used_at: momentOrNull,
  /** Latest version up to which the key has read the booking feed; null until the key reads the feed. */
  bookings_read: momentOrNull,
  /** The last 20 client addresses, latest first. */
  addresses: listOf({ address: text, last_used_at: moment }),
  created_at: moment,
}

export type ApiKey = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ id: 1 }, { unique: true, name: 'key_id' })
schema.index({ 'secrets.hash': 1 }, { unique: true, name: 'key_hash' })
schema.index({ 'secrets.prefix': 1 }, { name: 'key_prefix' })
schema.index({ host_id: 1 }, { name: 'key_host' })
schema.index({ expires_at: 1 }, { name: 'key_expiry' })

export const keyModel = modelOf<ApiKey>('keys', schema)
