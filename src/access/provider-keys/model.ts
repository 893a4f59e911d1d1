import { Schema } from 'mongoose'
import { modelOf } from '../../platform/mongo/collections.ts'
import type { Sealed } from '../../platform/secrets/secret-box.ts'

/** The key of a host at an integration provider, encrypted. */
export interface ProviderKey extends Sealed {
  host_id: number
  provider: string
  /** Keyed hash of the key: two accounts may not store the same one. */
  fingerprint: string
  updated_at: Date
}

const schema = new Schema<ProviderKey>({
  host_id: { type: Number, required: true },
  provider: { type: String, required: true },
  secret_id: { type: String, required: true },
  sealed: { type: String, required: true },
  fingerprint: { type: String, required: true },
  updated_at: { type: Date, required: true },
})
schema.index({ host_id: 1, provider: 1 }, { unique: true, name: 'provider_key_host' })
schema.index({ provider: 1, fingerprint: 1 }, { unique: true, name: 'provider_key_fingerprint' })

export const providerKeyModel = modelOf<ProviderKey>('provider_keys', schema)
