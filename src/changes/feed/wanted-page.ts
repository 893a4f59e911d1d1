import { LRUCache } from 'lru-cache'
import type { AppContext } from '../../http/context.ts'
import { skipOf } from '../../http/input/pagination.ts'
import type { Admitted } from '../../http/request.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { Feed, OwnerFilter } from '../feeds.ts'
import { type Page, readPage } from './feed-page.ts'
import type { Position } from './position.ts'
import { findPageEnds, isKept, type KnownEnd, savePageEnd } from './store.ts'
import { totalOf } from './total.ts'

/** Who reads a page. */
interface PageReader {
  ownerId: number
  keyId: number
  /** Absent if the request already is admitted. */
  admitted?: Admitted
}

/**
 * Reads the page of a walk that a request asks for: the first, one after a cursor, or one by its number. Keeps the end of
 * a first page too, because its reader may go on to `page=2`.
 */
export async function readWantedPage<Row, Filter extends OwnerFilter>(
  app: Pick<AppContext, 'db' | 'clock'>,
  feed: Feed<Row, Filter>,
  caller: PageReader,
  position: Position<Filter>,
): Promise<Page<Row>> {
  const { page: wanted, start } = position
  if (wanted.kind === 'cursor') return readPage(app.db, feed, position, wanted)
  if (wanted.kind === 'numbered') return new NumberedPages(app, feed, caller, position).read(wanted.number)
  const first = await readPage(app.db, feed, position, { number: 1, after: start })
  if (first.end) await new NumberedPages(app, feed, caller, position).keepEnd(1, first.end)
  return first
}

/**
 * The pages after the first that are asked for by their number, as the contract demands. The guide steers readers to
 * cursors instead.
 *
 * Page p + 1 starts where page p ended when it was served to the same key for the same query. Without these ends, a
 * walk by number would break the feed's promise (decisions §9): it would skip one row for every earlier row that has
 * changed in the meantime and so moved to the end. Each page's end is therefore kept for 24 hours. A page whose
 * predecessor was never served is found by counting.
 *
 * Nothing else in the feed knows of page ends.
 */
class NumberedPages<Row, Filter extends OwnerFilter> {
  private readonly db: Db
  private readonly ownerId: number
  private readonly now: Date
  /** The name under which the ends of this query's pages are stored; computed when it is first needed. */
  private name: string | undefined
  /** The stored ends that this request has looked up. */
  private known: KnownEnd[] | undefined

  /** @param position whose walk the pages belong to */
  constructor(
    { db, clock }: Pick<AppContext, 'db' | 'clock'>,
    private readonly feed: Feed<Row, Filter>,
    private readonly caller: PageReader,
    private readonly position: Position<Filter>,
  ) {
    this.db = db
    this.ownerId = caller.ownerId
    this.now = clock(caller.ownerId)
  }

  /** Reads a page after the first, and keeps its end. */
  async read(number: number): Promise<Page<Row>> {
    const after = await this.findStart(number)
    const page = await readPage(this.db, this.feed, this.position, { number, after })
    if (page.end) await this.keepEnd(number, page.end)
    return page
  }

  /**
   * Returns the version after which a page starts: the earliest kept version at which the page before it ended. Because
   * this is the earliest end, readers that share a page may get rows twice but never miss any.
   */
  private async findStart(number: number): Promise<Date | null> {
    const previous = this.pageName(number - 1)
    this.known = await this.findEnds([previous, this.pageName(number)])
    const end = this.known.find((known) => known.page === previous)
    return end?.version ?? this.countToStart(number)
  }

  /**
   * Returns the version of the last row before a page, counted from whichever end of the feed is nearer. If rows move to
   * the feed's end in the meantime, the page may repeat rows but never skips any.
   */
  private async countToStart(number: number): Promise<Date | null> {
    const { db, feed } = this
    const { filter, start, perPage } = this.position
    const before = skipOf({ page: number, perPage })
    const { total, clockMilliseconds } = await totalOf(db, feed, this.position)
    if (before > total / 2) {
      const range = { after: start, until: new Date(clockMilliseconds) }
      return (await feed.versionFromEnd(db, filter, range, Math.max(0, total - before))) ?? start
    }
    const [last] = await feed.find(db, filter, start, { skip: before - 1, limit: 1 })
    return last === undefined ? start : feed.versionOf(last)
  }

  /**
   * Keeps the version at which a page ended, so that the next page starts there. Stores nothing if the same end is
   * already stored with at least the minimum lifetime left.
   */
  async keepEnd(number: number, version: Date): Promise<void> {
    const name = this.pageName(number)
    const isThis = (end: KnownEnd) =>
      end.page === name && end.version.getTime() === version.getTime() && isKept(end, this.now)
    const ends = lastStoredOf(this.db)
    const remembered = ends.get(name)
    if (remembered && isThis(remembered)) return
    this.known ??= await this.findEnds([name])
    const known = this.known.find(isThis)
    if (known) {
      ends.set(name, known)
      return
    }
    await this.caller.admitted?.()
    ends.set(name, await savePageEnd(this.db, this.ownerId, { page: name, version }, this.now))
  }

  private findEnds(pages: string[]): Promise<KnownEnd[]> {
    return findPageEnds(this.db, this.ownerId, pages, this.now)
  }

  private pageName(number: number): string {
    this.name ??= nameOf(this.feed, this.position, this.caller.keyId)
    return `${this.name}:${number}`
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
const lastStored = new WeakMap<Db, LRUCache<string, KnownEnd>>()
const maxRemembered = 10_000

function lastStoredOf(db: Db): LRUCache<string, KnownEnd> {
  const ends = lastStored.get(db) ?? new LRUCache<string, KnownEnd>({ max: maxRemembered })
  lastStored.set(db, ends)
  return ends
}
