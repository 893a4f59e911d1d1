import { skipOf } from '../../http/pagination.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { Feed, OwnerFilter } from '../feeds.ts'
import { type Page, readPage } from './page.ts'
import type { Position } from './position.ts'
import { findPageEnds, isKept, type KnownEnd, savePageEnd } from './store.ts'
import { totalOf } from './total.ts'

/**
 * Pages that are named by their number, as the contract demands. The guide steers readers to cursors instead.
 *
 * Page p + 1 starts where page p ended when it was served to the same key for the same query. Otherwise a reader would
 * skip one row for every earlier row that has changed in the meantime and so moved to the end. Each page's end is
 * therefore stored for 24 hours (decisions §9). A page whose predecessor was never served is found by counting.
 */
export class NumberedPages<Row, Filter extends OwnerFilter> {
  private readonly ownerId: number
  /** The name under which the ends of this query's pages are stored. Most requests do not need it. */
  private name: string | undefined
  /** The stored ends that this request has looked up. */
  private known: KnownEnd[] | undefined

  constructor(
    private readonly db: Db,
    private readonly feed: Feed<Row, Filter>,
    private readonly position: Position<Filter>,
    private readonly request: { keyId: number; now: Date },
  ) {
    this.ownerId = position.filter.owner_id
  }

  /** Reads the page with the position's number, and stores where it ended. */
  async read(): Promise<Page<Row>> {
    const page = await readPage(this.db, this.feed, { ...this.position, after: await this.findStart() })
    if (page.end) await this.keepEnd(page.end)
    return page
  }

  /**
   * Returns the version after which the page starts: the earliest stored version at which the page before it ended.
   * Because this is the earliest end, readers that share a page may get rows twice but never miss any.
   */
  private async findStart(): Promise<Date | null> {
    const { start, page } = this.position
    if (page === 1) return start
    const previous = this.pageName(page - 1)
    this.known = await this.findEnds([previous, this.pageName(page)])
    const end = this.known.find((known) => known.page === previous)
    return end?.version ?? this.countToStart()
  }

  /**
   * Returns the version of the last row before the page, counted from whichever end of the feed is nearer. If rows move
   * to the feed's end in the meantime, the page may repeat rows but never skips any.
   */
  private async countToStart(): Promise<Date | null> {
    const { db, feed } = this
    const { filter, start, page, perPage } = this.position
    const before = skipOf({ page, perPage })
    const { total, clockMilliseconds } = await totalOf(db, feed, this.position)
    if (before > total / 2) {
      const range = { after: start, until: new Date(clockMilliseconds) }
      return (await feed.versionFromEnd(db, filter, range, Math.max(0, total - before))) ?? start
    }
    const [last] = await feed.find(db, filter, start, { skip: before - 1, limit: 1 })
    return last === undefined ? start : feed.versionOf(last)
  }

  /**
   * Stores the version at which the page ended, unless the same end is already stored with at least the minimum
   * lifetime left.
   */
  private async keepEnd(version: Date): Promise<void> {
    const name = this.pageName(this.position.page)
    const isThis = (end: KnownEnd) =>
      end.page === name && end.version.getTime() === version.getTime() && isKept(end, this.request.now)
    const ends = lastStoredOf(this.db)
    const remembered = ends.get(name)
    if (remembered && isThis(remembered)) return
    this.known ??= await this.findEnds([name])
    const end = { page: name, version }
    const stored =
      this.known.find(isThis) ?? (await savePageEnd(this.db, this.ownerId, end, this.request.now))
    ends.set(name, stored)
  }

  private findEnds(pages: string[]): Promise<KnownEnd[]> {
    return findPageEnds(this.db, this.ownerId, pages, this.request.now)
  }

  private pageName(page: number): string {
    this.name ??= nameOf(this.feed, this.position, this.request.keyId)
    return `${this.name}:${page}`
  }
}

/** Returns the name under which the page ends of a key's query are stored. */
function nameOf(feed: Feed, { filter, start, perPage }: Position, keyId: number): string {
  const question = JSON.stringify([feed.name, filter, start, perPage, keyId])
  return `walk:${new Bun.CryptoHasher('sha256').update(question).digest('base64url').slice(0, 22)}`
}

/**
 * The page ends that this process last found or stored. The cache saves a lookup each time a page is reread. A page's
 * start is always read from the database, because another process may have stored an earlier end for the previous page.
 */
const lastStored = new WeakMap<Db, Map<string, KnownEnd>>()
const maxRemembered = 10_000

function lastStoredOf(db: Db): Map<string, KnownEnd> {
  const ends = lastStored.get(db) ?? new Map<string, KnownEnd>()
  lastStored.set(db, ends)
  if (ends.size >= maxRemembered) ends.clear()
  return ends
}
