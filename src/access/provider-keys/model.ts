import { modelOf } from '../../platform/mongo/collections.ts'
import { field, type Stored, schemaOf } from '../../platform/mongo/fields.ts'

const fields = {
  owner_id: field.number,
  provider: field.text,
  secret_id: field.text,
  sealed: field.text,
  /** Keyed hash of the provider key. It is unique per provider, because two accounts must not store the same key. */
  fingerprint: field.text,
  updated_at: field.moment,
}

/** A host's own key for an integration provider, stored encrypted. */
export type ProviderKey = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ owner_id: 1, provider: 1 }, { unique: true, name: 'provider_key_host' })
schema.index({ provider: 1, fingerprint: 1 }, { unique: true, name: 'provider_key_fingerprint' })

export const providerKeyModel = modelOf<ProviderKey>('provider_keys', schema, { owner: 'owner_id' })
