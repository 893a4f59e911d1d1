import type { Db } from '../../platform/mongo/connection.ts'
import { findPageEnds, isKept, type KnownEnd, savePageEnd } from './store.ts'

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

/** Finds and stores the page ends for one request's query. */
export class PageEnds {
  private known: KnownEnd[] | undefined
  private name: string | undefined

  /** @param question the values that distinguish the query from the key's other queries */
  constructor(
    private readonly db: Db,
    private readonly ownerId: number,
    private readonly question: unknown[],
    private readonly now: Date,
  ) {}

  /**
   * Returns the earliest stored version at which the page before `page` ended; undefined if none is stored. Because
   * this is the earliest end, readers that share a page may get rows twice but never miss any.
   */
  async before(page: number): Promise<Date | undefined> {
    const previous = this.nameOf(page - 1)
    const own = this.nameOf(page)
    this.known = await findPageEnds(this.db, this.ownerId, [previous, own], this.now)
    return this.known.find((end) => end.page === previous)?.version
  }

  /**
   * Stores the version at which a page ended, unless the same end is already stored with at least the minimum lifetime
   * left.
   */
  async keep(page: number, version: Date): Promise<void> {
    const own = this.nameOf(page)
    const isThis = (end: KnownEnd) =>
      end.page === own && end.version.getTime() === version.getTime() && isKept(end, this.now)
    const ends = lastStoredOf(this.db)
    const remembered = ends.get(own)
    if (remembered && isThis(remembered)) return
    this.known ??= await findPageEnds(this.db, this.ownerId, [own], this.now)
    const stored =
      this.known.find(isThis) ?? (await savePageEnd(this.db, this.ownerId, { page: own, version }, this.now))
    ends.set(own, stored)
  }

  private nameOf(page: number): string {
    this.name ??= pagesName(this.question)
    return `${this.name}:${page}`
  }
}

/** Returns the name under which the page ends of a key's query are stored. */
function pagesName(question: unknown[]): string {
  return `walk:${new Bun.CryptoHasher('sha256').update(JSON.stringify(question)).digest('base64url').slice(0, 22)}`
}
