import type { Db } from '../../platform/mongo/connection.ts'
import { isDuplicate } from '../../platform/mongo/errors.ts'
import { type PageEnd, pageEndModel } from './model.ts'

/** How long the end of a page is kept at least: a reader may pause that long between two pages (decisions §9). */
const keptMilliseconds = 24 * 3_600_000
/** It is stored for longer, so that a page that is read again and again is not written each time. */
const storedMilliseconds = keptMilliseconds + 3_600_000

/** The part of a page end that a reader needs. */
export type KnownEnd = Pick<PageEnd, 'page' | 'version' | 'expires_at'>

/** The ends of some pages of a host that are still stored, the earliest of a page first. */
export function findPageEnds(db: Db, host_id: number, pages: string[], now: Date): Promise<KnownEnd[]> {
  return pageEndModel(db)
    .collection.find({ host_id, page: { $in: pages }, expires_at: { $gt: now } })
    .project<KnownEnd>({ _id: 0, page: 1, version: 1, expires_at: 1 })
    .sort({ page: 1, version: 1 })
    .toArray()
}

/** True when an end need not be stored again to be kept for its time from now on. */
export function isKept({ expires_at }: KnownEnd, now: Date): boolean {
  return expires_at.getTime() - now.getTime() >= keptMilliseconds
}

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
): Promise<KnownEnd> {
  const expires_at = new Date(now.getTime() + storedMilliseconds)
  const _id = `${page}:${version.getTime()}`
  try {
    await pageEndModel(db).collection.updateOne(
      { _id, host_id } as never,
      { $set: { page, version, expires_at } },
      { upsert: true },
    )
  } catch (error) {
    // Two readers ended a page at the same row at the same time: it is stored.
    if (!isDuplicate(error)) throw error
  }
  return { page, version, expires_at }
}
