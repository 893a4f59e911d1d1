import type { Db, Session } from '../../platform/mongo/connection.ts'
import { batchedLookUp } from '../../platform/mongo/look-up.ts'
import { type Claim, type StoredResponse, storedResponseModel } from './model.ts'

type ClaimId = Pick<Claim, '_id' | 'owner_id'>

function findResponses(
  db: Db,
  claims: ClaimId[],
  level: 'majority' | 'local' = 'majority',
): Promise<StoredResponse[]> {
  const filter = {
    _id: { $in: claims.map(({ _id }) => _id) },
    owner_id: { $in: claims.map(({ owner_id }) => owner_id) },
  } as object
  return storedResponseModel(db).collection.find<StoredResponse>(filter, { readConcern: { level } }).toArray()
}

const lookUpResponse = batchedLookUp<ClaimId, StoredResponse>(findResponses, ({ _id }) => _id)

/**
 * Returns the response stored for a claim, or null. Deletes an expired response to free its claim, because the database
 * itself would delete it only later.
 *
 * @param readConcern `local` also finds responses that a majority has not yet acknowledged, which must not be sent
 */
export async function findStoredResponse(
  db: Db,
  claim: Claim,
  now: Date,
  readConcern: 'majority' | 'local' = 'majority',
): Promise<StoredResponse | null> {
  const found =
    readConcern === 'local'
      ? ((await findResponses(db, [claim], 'local'))[0] ?? null)
      : await lookUpResponse(db, claim)
  if (!found || found.expires_at > now) return found
  const { _id, owner_id } = claim
  await storedResponseModel(db).deleteOne({ _id, owner_id, expires_at: { $lte: now } })
  return null
}

/**
 * Stores responses in the same transaction as their work. If a claim already has a response, the write fails with a
 * duplicate-key error and the work is rolled back too.
 */
export async function saveResponses(db: Db, session: Session, responses: StoredResponse[]): Promise<void> {
  await storedResponseModel(db).collection.insertMany(responses as object[], { session })
}

/** Returns the stored responses that concern a guest. */
export function findResponsesOf(db: Db, ownerId: number, userId: number): Promise<StoredResponse[]> {
  return storedResponseModel(db).find({ owner_id: ownerId, user_id: userId }).lean()
}

/** Overwrites a stored response's body, unless a different response has been stored since `seen` was read. */
export async function overwriteResponse(db: Db, seen: StoredResponse, body: string): Promise<void> {
  const { _id, owner_id, fingerprint } = seen
  await storedResponseModel(db).updateOne({ _id, owner_id, fingerprint }, { $set: { body } })
}
