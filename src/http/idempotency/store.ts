import type { Db, Session } from '../../platform/mongo/connection.ts'
import { type Claim, type StoredResponse, storedResponseModel } from './model.ts'

/**
 * The response stored for a claim. The database removes expired responses late, so expiry is checked here.
 *
 * @param readConcern `local` also finds what no majority has acknowledged yet, which must not be sent
 */
export async function findStoredResponse(
  db: Db,
  claim: Claim,
  now: Date,
  readConcern: 'majority' | 'local' = 'majority',
): Promise<StoredResponse | null> {
  const options = { readConcern: { level: readConcern } }
  const found = await storedResponseModel(db).collection.findOne<StoredResponse>({ ...claim }, options)
  return found && found.expires_at > now ? found : null
}

/**
 * Stores a response, replacing an expired one, in the transaction of its work. Fails with a duplicate-key error when
 * the claim already has a response: the work is then rolled back with it.
 */
export async function saveResponse(
  db: Db,
  session: Session,
  response: StoredResponse,
  now: Date,
): Promise<void> {
  const { host_id, key_id, endpoint, idempotency_key } = response
  const expired = { host_id, key_id, endpoint, idempotency_key, expires_at: { $lte: now } }
  await storedResponseModel(db).collection.replaceOne(expired, { ...response }, { upsert: true, session })
}

/** The responses that tell of a guest. */
export function findResponsesOf(db: Db, hostId: number, userId: number): Promise<StoredResponse[]> {
  return storedResponseModel(db).find({ host_id: hostId, user_id: userId }).lean()
}

/** Puts another body in the place of a response's, as long as it is the one that was read. */
export async function overwriteResponse(db: Db, seen: StoredResponse, body: string): Promise<void> {
  const { host_id, key_id, endpoint, idempotency_key } = seen
  const claim = { host_id, key_id, endpoint, idempotency_key, fingerprint: seen.fingerprint }
  await storedResponseModel(db).collection.updateOne(claim, { $set: { body } })
}
