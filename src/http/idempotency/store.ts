import type { Db, Session } from '../../platform/mongo/connection.ts'
import { together } from '../../platform/mongo/statements.ts'
import { type Claim, type StoredResponse, storedResponseModel } from './model.ts'

/**
 * Returns the response stored for a claim, or null. The database removes expired responses with a delay, so this
 * function checks the expiry.
 *
 * @param readConcern `local` also finds responses that no majority has acknowledged yet, which must not be sent
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
 * Stores a response in its work's transaction, replacing an expired response. If the claim already has a response, the
 * write fails with a duplicate-key error and the work is rolled back too.
 */
export function saveResponse(db: Db, session: Session, response: StoredResponse, now: Date): Promise<void> {
  return together(db, session, saveResponses, { response, now })
}

async function saveResponses(
  db: Db,
  session: Session,
  saved: { response: StoredResponse; now: Date }[],
): Promise<undefined[]> {
  const writes = saved.map(({ response, now }) => {
    const { host_id, key_id, endpoint, idempotency_key } = response
    const expired = { host_id, key_id, endpoint, idempotency_key, expires_at: { $lte: now } }
    return { replaceOne: { filter: expired, replacement: { ...response }, upsert: true } }
  })
  await storedResponseModel(db).collection.bulkWrite(writes, { session })
  return []
}

/** Finds the responses that concern a guest. */
export function findResponsesOf(db: Db, hostId: number, userId: number): Promise<StoredResponse[]> {
  return storedResponseModel(db).find({ host_id: hostId, user_id: userId }).lean()
}

/** Replaces a response's body if the stored response is still the one that was read. */
export async function overwriteResponse(db: Db, seen: StoredResponse, body: string): Promise<void> {
  const { host_id, key_id, endpoint, idempotency_key } = seen
  const claim = { host_id, key_id, endpoint, idempotency_key, fingerprint: seen.fingerprint }
  await storedResponseModel(db).collection.updateOne(claim, { $set: { body } })
}
