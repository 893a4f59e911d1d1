import { Schema } from 'mongoose'
import { modelOf } from './collections.ts'
import type { Db, Session } from './connection.ts'

interface Lock {
  _id: string
  taken: number
}

export const lockModel = modelOf<Lock>(
  'locks',
  new Schema<Lock>({ _id: { type: String, required: true }, taken: { type: Number, required: true } }),
)

/**
 * Serializes a transaction with all others that take the same lock, in any process: two of them cannot both commit on
 * one snapshot, so the second starts over and sees what the first wrote. Take it first, before anything is read.
 *
 * @returns the place of the transaction among all that took this lock
 */
export async function takeLock(db: Db, session: Session, name: string): Promise<number> {
  const options = { upsert: true, returnDocument: 'after', session } as const
  const lock = { _id: name } as never
  const taken = await lockModel(db).collection.findOneAndUpdate(lock, { $inc: { taken: 1 } }, options)
  return taken?.taken
}
