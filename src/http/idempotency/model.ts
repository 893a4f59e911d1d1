import { modelOf } from '../../platform/mongo/collections.ts'
import { moment, number, type Stored, schemaOf, text } from '../../platform/mongo/fields.ts'

const claimFields = { host_id: number, key_id: number, endpoint: text, idempotency_key: text }
const fields = {
  ...claimFields,
  /** Keyed hash of the canonical request body. */
  fingerprint: text,
  status: number,
  body: text,
  expires_at: moment,
}

/** Identifies the request that a stored response answers: scoped to key and endpoint (decisions §11). */
export type Claim = Stored<typeof claimFields>

/** The response to a request with an `Idempotency-Key`, byte for byte. */
export type StoredResponse = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index(
  { host_id: 1, key_id: 1, endpoint: 1, idempotency_key: 1 },
  { unique: true, name: 'response_claim' },
)
schema.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'answer_expiry' })

export const storedResponseModel = modelOf<StoredResponse>('stored_responses', schema)
