import { modelOf } from '../../platform/mongo/collections.ts'
import { moment, number, numberOrNull, type Stored, schemaOf, text } from '../../platform/mongo/fields.ts'

const claimFields = {
  host_id: number,
  key_id: number,
  endpoint: text,
  /** Keyed hash of the `Idempotency-Key`. The key itself is not stored, because it may name a person. */
  idempotency_key: text,
}
const fields = {
  ...claimFields,
  /** Keyed hash of the canonical request body. */
  fingerprint: text,
  status: number,
  body: text,
  /** The guest this response concerns, if any. The guest's erasure overwrites the response. */
  user_id: numberOrNull,
  expires_at: moment,
}

/** Identifies the request that a stored response answers, scoped to key and endpoint (decisions §11). */
export type Claim = Stored<typeof claimFields>

/** The response to a request with an `Idempotency-Key`, byte for byte. */
export type StoredResponse = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index(
  { host_id: 1, key_id: 1, endpoint: 1, idempotency_key: 1 },
  { unique: true, name: 'response_claim' },
)
schema.index({ host_id: 1, user_id: 1 }, { name: 'response_user' })
schema.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'answer_expiry' })

export const storedResponseModel = modelOf<StoredResponse>('stored_responses', schema)
