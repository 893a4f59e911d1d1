import { Schema } from 'mongoose'
import { type Db, isDuplicate, modelOf } from './mongo.ts'

/** Where a page of a walk ended. */
interface WalkPage {
  /** Walk, page and version, so that the same end is kept once. */
  _id: string
  host_id: number
  /** Walk and page. */
  page: string
  version: Date
  expires_at: Date
}

const schema = new Schema<WalkPage>({
  _id: { type: String, required: true },
  host_id: { type: Number, required: true },
  page: { type: String, required: true },
  version: { type: Date, required: true },
  expires_at: { type: Date, required: true },
})
schema.index({ page: 1, version: 1 }, { name: 'walk_page' })
schema.index({ host_id: 1 }, { name: 'walk_host' })
schema.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'walk_expiry' })

export const walkPageModel = modelOf<WalkPage>('walk_pages', schema)

/** How long the end of a page is kept: a walk may pause that long between two pages (decisions §9). */
const rememberedMilliseconds = 24 * 3_600_000

/**
 * Keeps the end of a page for a while. In the database and not in Redis, because a walk whose memory is lost
 * in the middle would have to count rows, and could lose some.
 */
export async function rememberPageEnd(
  db: Db,
  host_id: number,
  page: string,
  version: Date,
  now: Date,
): Promise<void> {
  const expires_at = new Date(now.getTime() + rememberedMilliseconds)
  const _id = `${page}:${version.getTime()}`
  try {
    await walkPageModel(db).updateOne(
      { _id },
      { $set: { host_id, page, version, expires_at } },
      { upsert: true },
    )
  } catch (error) {
    // Two walks ended a page at the same row at once: it is kept.
    if (!isDuplicate(error)) throw error
  }
}

/** The smallest end still kept for a page: when walks meet, a row may come twice but none is skipped. */
export async function recallPageEnd(db: Db, page: string, now: Date): Promise<Date | null> {
  const end = await walkPageModel(db)
    .findOne({ page, expires_at: { $gt: now } })
    .sort({ version: 1 })
    .lean()
  return end?.version ?? null
}
