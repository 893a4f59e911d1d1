import { modelOf } from '../../platform/mongo/collections.ts'
import { field, type Stored, schemaOf } from '../../platform/mongo/fields.ts'

const claimFields = {
  /**
   * The host's id and a keyed hash of the key's id, the endpoint and the `Idempotency-Key`. The `Idempotency-Key`
   * itself is not stored, because it may name a person. The hash is part of `_id`, so it needs no separate index.
   */
  _id: field.text,
  owner_id: field.number,
  key_id: field.number,
  endpoint: field.text,
}
const fields = {
  ...claimFields,
  /** Keyed hash of the canonical request body. */
  fingerprint: field.text,
  status: field.number,
  body: field.text,
  /** The guest this response concerns, if any. Erasing the guest overwrites the response. */
  user_id: field.numberOrNull,
  expires_at: field.moment,
}

/** Identifies the request that a stored response belongs to, scoped to key and endpoint (decisions §11). */
export type Claim = Stored<typeof claimFields>

/** The response to a request with an `Idempotency-Key`, byte for byte. */
export type StoredResponse = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ owner_id: 1, user_id: 1 }, { name: 'response_user' })
schema.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'answer_expiry' })

export const storedResponseModel = modelOf<StoredResponse>('stored_responses', schema, { owner: 'owner_id' })
