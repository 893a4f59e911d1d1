import { activityFields } from '../../activity/stored-fields.ts'
import type { Permission } from '../../http/permissions.ts'
import { modelOf } from '../../platform/mongo/collections.ts'
import { type Field, field, type Stored, schemaOf } from '../../platform/mongo/fields.ts'

const secretFields = {
  hash: field.text,
  /** The secret's first 12 characters. */
  prefix: field.text,
  /** Time at which the rotation's overlap ends; null for the current secret. */
  expires_at: field.momentOrNull,
}

/** One secret of a key. A rotated key keeps its previous secrets, each with the time at which its overlap ends. */
export type KeySecret = Stored<typeof secretFields>

const fields = {
  id: field.number,
  host_id: field.number,
  name: field.text,
  permissions: field.list<Permission>(String),
  secrets: field.listOf(secretFields),
  active: field.flag,
  revoked_at: field.momentOrNull,
  expires_at: field.momentOrNull,
  /** Maximum number of requests per minute; null for the service's default. */
  rate_limit: field.numberOrNull,
  /**
   * Networks from which the key is accepted, in CIDR notation; empty if the key is accepted from anywhere. Keys minted
   * by the first release lack this field.
   */
  allowed_from: field.list<string>(String) as Field<string[] | undefined>,
  usage_count: { ...field.number, default: 0 },
  last_used_at: field.momentOrNull,
  ...activityFields,
  /** The 20 most recent client addresses, newest first. */
  addresses: field.listOf({ address: field.text, last_used_at: field.moment }),
  created_at: field.moment,
}

export type ApiKey = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ id: 1 }, { unique: true, name: 'key_id' })
schema.index({ 'secrets.hash': 1 }, { unique: true, name: 'key_hash' })
schema.index({ 'secrets.prefix': 1 }, { name: 'key_prefix' })
schema.index({ host_id: 1 }, { name: 'key_host' })
schema.index({ expires_at: 1 }, { name: 'key_expiry' })

export const keyModel = modelOf<ApiKey>('keys', schema)
