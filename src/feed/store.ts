import type { Db } from '../platform/mongo/connection.ts'
import { isDuplicate } from '../platform/mongo/errors.ts'
import { pageEndModel } from './model.ts'

/** How long the end of a page is kept: a reader may pause that long between two pages (decisions §9). */
const keptMilliseconds = 24 * 3_600_000

/**
 * Stores the end of a page. In the database and not in Redis, because a reader whose page end is lost half-way would
 * have to continue by counting rows, and could lose some.
 */
export async function savePageEnd(
  db: Db,
  host_id: number,
  page: string,
  version: Date,
  now: Date,
): Promise<void> {
  const expires_at = new Date(now.getTime() + keptMilliseconds)
  const _id = `${page}:${version.getTime()}`
  try {
    await pageEndModel(db).updateOne(
      { _id },
      { $set: { host_id, page, version, expires_at } },
      { upsert: true },
    )
  } catch (error) {
    // Two readers ended a page at the same row at the same time: it is stored.
    if (!isDuplicate(error)) throw error
  }
}

/** The earliest end still stored for a page: where readers share it, a row may come twice but none is skipped. */
export async function findPageEnd(db: Db, page: string, now: Date): Promise<Date | null> {
  const end = await pageEndModel(db)
    .findOne({ page, expires_at: { $gt: now } })
    .sort({ version: 1 })
    .lean()
  return end?.version ?? null
}
