import type { ClockStart } from '../host-clock/store.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { retryDuplicate } from '../platform/mongo/errors.ts'
import { type SandboxKey, sandboxKeyModel } from './model.ts'

/** Returns the part of a key's state that outlives its sandboxes; null if the key has had no sandbox lately. */
export function findSandboxKey(db: Db, keyId: number): Promise<SandboxKey | null> {
  return sandboxKeyModel(db).findById(keyId).lean()
}

/** Records that a key's sandbox was filled. Keeps the last `kept` times. */
export async function recordFill(db: Db, keyId: number, filledAt: Date, kept: number): Promise<void> {
  const noted = { $push: { fills: { $each: [filledAt], $slice: -kept } } }
  await retryDuplicate(() => sandboxKeyModel(db).updateOne({ _id: keyId }, noted, { upsert: true }))
}

/** Stores the last versions of an ended sandbox. */
export async function keepVersions(
  db: Db,
  keyId: number,
  { last, messages_last }: ClockStart,
): Promise<void> {
  const versions = { last_version: last, last_message_version: messages_last }
  await sandboxKeyModel(db).updateOne(
    { _id: keyId },
    { $max: versions, $setOnInsert: { fills: [] } },
    { upsert: true },
  )
}

/** Deletes the state of keys whose last versions are in the past, and which had no fill after `filledBefore`. */
export async function deleteUnneededKeys(db: Db, now: Date, filledBefore: Date): Promise<void> {
  const passed = { $lte: now.getTime() / 1000 }
  const recent = { $elemMatch: { $gt: filledBefore } }
  await sandboxKeyModel(db).deleteMany({
    last_version: passed,
    last_message_version: passed,
    fills: { $not: recent },
  })
}
