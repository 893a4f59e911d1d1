import type { Db } from '../../platform/mongo/connection.ts'
import { findPageEnds, isKept, type KnownEnd, savePageEnd } from './store.ts'

/**
 * The page ends that this process last found or stored, cached so that the end of a repeatedly read page is not looked
 * up each time. A page's start is always read from the database, because another process may have stored an earlier
 * end.
 */
const lastStored = new WeakMap<Db, Map<string, KnownEnd>>()
const maxRemembered = 10_000

function lastStoredOf(db: Db): Map<string, KnownEnd> {
  const ends = lastStored.get(db) ?? new Map<string, KnownEnd>()
  lastStored.set(db, ends)
  if (ends.size >= maxRemembered) ends.clear()
  return ends
}

/** The page ends that one request needs for its key's query. */
export class PageEnds {
  private known: KnownEnd[] | undefined

  /** @param name returns the name of the query and its key; called only if there is more than one page */
  constructor(
    private readonly db: Db,
    private readonly hostId: number,
    private readonly name: () => string,
    private readonly now: Date,
  ) {}

  /**
   * Returns the earliest version at which the previous page is known to have ended. If several readers share a page,
   * rows may be repeated but are never skipped.
   */
  async before(page: number): Promise<Date | undefined> {
    const [previous, own] = [this.nameOf(page - 1), this.nameOf(page)]
    this.known = await findPageEnds(this.db, this.hostId, [previous, own], this.now)
    return this.known.find((end) => end.page === previous)?.version
  }

  /**
   * Stores the version at which a page ended, unless the same end is already stored and has its minimum lifetime left.
   */
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
