import { Schema } from 'mongoose'
import { type Db, modelOf, type Session } from './mongo.ts'

/** Which request an answer belongs to: scope is key and endpoint (decisions §11). */
export interface Claim {
  key_id: number
  endpoint: string
  idempotency_key: string
}

/** A stored answer, byte for byte. */
export interface StoredAnswer extends Claim {
  /** Keyed hash of the canonical request body. */
  fingerprint: string
  status: number
  body: string
  expires_at: Date
}

const schema = new Schema<StoredAnswer>({
  key_id: { type: Number, required: true },
  endpoint: { type: String, required: true },
  idempotency_key: { type: String, required: true },
  fingerprint: { type: String, required: true },
  status: { type: Number, required: true },
  body: { type: String, required: true },
  expires_at: { type: Date, required: true },
})
schema.index({ key_id: 1, endpoint: 1, idempotency_key: 1 }, { unique: true, name: 'answer_claim' })
schema.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'answer_expiry' })

export const answerModel = modelOf<StoredAnswer>('idempotency_answers', schema)

/**
 * The answer kept for a claim. The sweep of expired answers lags, so the expiry is checked here.
 *
 * @param readConcern `local` finds what no majority has yet: never to be shown
 */
export async function findAnswer(
  db: Db,
  claim: Claim,
  now: Date,
  readConcern: 'majority' | 'local' = 'majority',
): Promise<StoredAnswer | null> {
  const found = await answerModel(db).findOne(claim).readConcern(readConcern).lean()
  return found && found.expires_at > now ? found : null
}

/**
 * Keeps an answer, in place of an expired one; part of the transaction of the effect it tells of. Fails as a
 * duplicate where the claim has been answered: the effect is then undone with it.
 */
export async function saveAnswer(db: Db, session: Session, answer: StoredAnswer, now: Date): Promise<void> {
  const { key_id, endpoint, idempotency_key } = answer
  const expired = { key_id, endpoint, idempotency_key, expires_at: { $lte: now } }
  await answerModel(db).replaceOne(expired, answer, { upsert: true, session })
}
