import { Schema } from 'mongoose'
import { modelOf } from '../../platform/mongo/collections.ts'

/** Identifies the request that a stored response answers: scoped to key and endpoint (decisions §11). */
export interface Claim {
  host_id: number
  key_id: number
  endpoint: string
  idempotency_key: string
}

/** The response to a request with an `Idempotency-Key`, byte for byte. */
export interface StoredResponse extends Claim {
  /** Keyed hash of the canonical request body. */
  fingerprint: string
  status: number
  body: string
  expires_at: Date
}

const schema = new Schema<StoredResponse>({
  host_id: { type: Number, required: true },
  key_id: { type: Number, required: true },
  endpoint: { type: String, required: true },
  idempotency_key: { type: String, required: true },
  fingerprint: { type: String, required: true },
  status: { type: Number, required: true },
  body: { type: String, required: true },
  expires_at: { type: Date, required: true },
})
schema.index(
  { host_id: 1, key_id: 1, endpoint: 1, idempotency_key: 1 },
  { unique: true, name: 'response_claim' },
)
schema.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'answer_expiry' })

export const storedResponseModel = modelOf<StoredResponse>('stored_responses', schema)
