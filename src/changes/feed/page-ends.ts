import type { Db } from '../../platform/mongo/connection.ts'
import { findPageEnds, isKept, type KnownEnd, savePageEnd } from './store.ts'

/**
 * The end of each page as this process last found or made it stored, so that a page that is read again and again is not
 * looked up each time. Only for that: where a page begins is always read, because another process may know better.
 */
const lastStored = new WeakMap<Db, Map<string, KnownEnd>>()
const maxRemembered = 10_000

function lastStoredOf(db: Db): Map<string, KnownEnd> {
  const ends = lastStored.get(db) ?? new Map<string, KnownEnd>()
  lastStored.set(db, ends)
  if (ends.size >= maxRemembered) ends.clear()
  return ends
}

/** Where the pages of one query of one key ended, as far as one request needs to know it. */
export class PageEnds {
  private known: KnownEnd[] | undefined

  /** @param name of the query and its key; called when there is more than one page */
  constructor(
    private readonly db: Db,
    private readonly hostId: number,
    private readonly name: () => string,
    private readonly now: Date,
  ) {}

  /** The earliest end of the page before: where readers share it, a row may come twice but none is skipped. */
  async before(page: number): Promise<Date | undefined> {
    const [previous, own] = [this.nameOf(page - 1), this.nameOf(page)]
    this.known = await findPageEnds(this.db, this.hostId, [previous, own], this.now)
    return this.known.find((end) => end.page === previous)?.version
  }

  /** Stores where a page ended, unless it is already stored for long enough. */
  async keep(page: number, version: Date): Promise<void> {
    const own = this.nameOf(page)
    const isThis = (end: KnownEnd) =>
      end.page === own && end.version.getTime() === version.getTime() && isKept(end, this.now)
    const ends = lastStoredOf(this.db)
    const remembered = ends.get(own)
    if (remembered && isThis(remembered)) return
    this.known ??= await findPageEnds(this.db, this.hostId, [own], this.now)
    const stored =
      this.known.find(isThis) ?? (await savePageEnd(this.db, this.hostId, own, version, this.now))
    ends.set(own, stored)
  }

  private nameOf(page: number): string {
    return `${this.name()}:${page}`
  }
}
