import type { Db } from '../../platform/mongo/connection.ts'
import { isDuplicate } from '../../platform/mongo/errors.ts'
import { type PageEnd, pageEndModel } from './model.ts'

/** Minimum lifetime of a page end; a reader may pause this long between two pages (decisions §9). */
const keptMilliseconds = 24 * 3_600_000
/** Lifetime that a page end is given when it is stored. The extra hour avoids a write each time a page is reread. */
const storedMilliseconds = keptMilliseconds + 3_600_000

/** The fields of a page end that a reader needs. */
export type KnownEnd = Pick<PageEnd, 'page' | 'version' | 'expires_at'>

/** Returns the unexpired ends of the given pages, each page's earliest end first. */
export function findPageEnds(db: Db, owner_id: number, pages: string[], now: Date): Promise<KnownEnd[]> {
  return pageEndModel(db)
    .collection.find({ owner_id, page: { $in: pages }, expires_at: { $gt: now } })
    .project<KnownEnd>({ _id: 0, page: 1, version: 1, expires_at: 1 })
    .sort({ page: 1, version: 1 })
    .toArray()
}

/** Returns true if a stored page end still has at least the minimum lifetime left. */
export function isKept({ expires_at }: KnownEnd, now: Date): boolean {
  return expires_at.getTime() - now.getTime() >= keptMilliseconds
}

/**
 * Stores the end of a page. Page ends are stored in the database, not in Redis, because a reader whose page end is lost
 * would have to continue by counting rows and could miss some.
 */
export async function savePageEnd(
  db: Db,
  owner_id: number,
  { page, version }: Pick<PageEnd, 'page' | 'version'>,
  now: Date,
): Promise<KnownEnd> {
  const expires_at = new Date(now.getTime() + storedMilliseconds)
  const _id = `${page}:${version.getTime()}`
  try {
    await pageEndModel(db).collection.updateOne(
      { _id, owner_id },
      { $set: { page, version, expires_at } },
      { upsert: true },
    )
  } catch (error) {
    // A duplicate means that another reader stored the same end at the same time.
    if (!isDuplicate(error)) throw error
  }
  return { page, version, expires_at }
}
