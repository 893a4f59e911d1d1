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

/** Returns the response stored for a claim, even if it has expired; null if there is none. */
export function findStoredResponse(db: Db, claim: Claim): Promise<StoredResponse | null> {
  return lookUpResponse(db, claim)
}

/** Like {@link findStoredResponse}, but also finds a response that a majority has not yet acknowledged: never send it. */
export async function findUnconfirmedResponse(db: Db, claim: Claim): Promise<StoredResponse | null> {
  const [found = null] = await findResponses(db, [claim], 'local')
  return found
}

/** Deletes an expired response to free its claim, because the database itself would delete it only later. */
export async function deleteExpiredResponse(db: Db, { _id, owner_id }: ClaimId, now: Date): Promise<void> {
  await storedResponseModel(db).deleteOne({ _id, owner_id, expires_at: { $lte: now } })
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
