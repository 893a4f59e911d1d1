import { modelOf } from '../../platform/mongo/collections.ts'
import { moment, number, numberOrNull, type Stored, schemaOf, text } from '../../platform/mongo/fields.ts'

const claimFields = {
  /**
   * The host's id and a keyed hash of the key's id, the endpoint and the `Idempotency-Key`. The `Idempotency-Key`
   * itself is not stored, because it may name a person. The hash is part of `_id`, so it needs no separate index.
   */
  _id: text,
  host_id: number,
  key_id: number,
  endpoint: text,
}
const fields = {
  ...claimFields,
  /** Keyed hash of the canonical request body. */
  fingerprint: text,
  status: number,
  body: text,
  /** The guest this response concerns, if any. Erasing the guest overwrites the response. */
  user_id: numberOrNull,
  expires_at: moment,
}

/** Identifies the request that a stored response belongs to, scoped to key and endpoint (decisions §11). */
export type Claim = Stored<typeof claimFields>

/** The response to a request with an `Idempotency-Key`, byte for byte. */
export type StoredResponse = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ host_id: 1, user_id: 1 }, { name: 'response_user' })
schema.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'answer_expiry' })

export const storedResponseModel = modelOf<StoredResponse>('stored_responses', schema)
