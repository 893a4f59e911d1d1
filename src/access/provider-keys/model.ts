import { modelOf } from '../../platform/mongo/collections.ts'
import { moment, number, type Stored, schemaOf, text } from '../../platform/mongo/fields.ts'

const fields = {
  host_id: number,
  provider: text,
  secret_id: text,
  sealed: text,
  /** Keyed hash of the provider key. It is unique, because two accounts may not store the same key. */
  fingerprint: text,
  updated_at: moment,
}

/** A host's own key at an integration provider, encrypted. */
export type ProviderKey = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ host_id: 1, provider: 1 }, { unique: true, name: 'provider_key_host' })
schema.index({ provider: 1, fingerprint: 1 }, { unique: true, name: 'provider_key_fingerprint' })

export const providerKeyModel = modelOf<ProviderKey>('provider_keys', schema)
