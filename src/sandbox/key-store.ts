import type { ClockStart } from '../host-clock/store.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { retryDuplicate } from '../platform/mongo/errors.ts'
import { sandboxKeyModel } from './model.ts'

/** Maximum number of times that a key's sandbox may be filled within `fillsMilliseconds` (decisions §13). */
const maxFills = 60
const fillsMilliseconds = 600_000

/** Records that a key's sandbox was filled. */
export async function recordFill(db: Db, keyId: number, filledAt: Date): Promise<void> {
  const noted = { $push: { fills: { $each: [filledAt], $slice: -maxFills } } }
  await retryDuplicate(() => sandboxKeyModel(db).updateOne({ _id: keyId }, noted, { upsert: true }))
}

/** Returns the number of seconds until a key's sandbox may be filled again; 0 if it may be filled immediately. */
export async function secondsUntilFill(db: Db, keyId: number, now: Date): Promise<number> {
  const { fills = [] } = (await sandboxKeyModel(db).findById(keyId).lean()) ?? {}
  const free = (fills.at(-maxFills)?.getTime() ?? 0) + fillsMilliseconds
  return Math.max(0, Math.ceil((free - now.getTime()) / 1000))
}

/**
 * Returns the last versions of a key's earlier sandboxes, or zeros if there were none. A fresh sandbox continues after
 * these versions, so that a poller's stored position remains valid.
 */
export async function lastVersionsOf(db: Db, keyId: number): Promise<ClockStart> {
  const { last_version = 0, last_message_version = 0 } =
    (await sandboxKeyModel(db).findById(keyId).lean()) ?? {}
  return { last: last_version, messages_last: last_message_version }
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

/**
 * Deletes key state that no later sandbox needs, because its versions are in the past and its fills no longer count.
 */
export async function sweepKeys(db: Db, now: Date): Promise<void> {
  const passed = { $lte: now.getTime() / 1000 }
  const recent = { $elemMatch: { $gt: new Date(now.getTime() - fillsMilliseconds) } }
  await sandboxKeyModel(db).deleteMany({
    last_version: passed,
    last_message_version: passed,
    fills: { $not: recent },
  })
}
