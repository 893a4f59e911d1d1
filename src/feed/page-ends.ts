import type { Db } from '../platform/mongo/connection.ts'
import { findPageEnds, isKept, type KnownEnd, savePageEnd } from './store.ts'

/** Where the pages of one query of one key ended, as far as one request needs to know it. */
export class PageEnds {
  private known: KnownEnd[] | undefined

  /** @param name of the query and its key */
  constructor(
    private readonly db: Db,
    private readonly hostId: number,
    private readonly name: string,
    private readonly now: Date,
  ) {}

  /** The earliest end of the page before: where readers share it, a row may come twice but none is skipped. */
  async before(page: number): Promise<Date | undefined> {
    const [previous, own] = [this.nameOf(page - 1), this.nameOf(page)]
    this.known = await findPageEnds(this.db, [previous, own], this.now)
    return this.known.find((end) => end.page === previous)?.version
  }

  /** Stores where a page ended, unless it is already stored for long enough. */
  async keep(page: number, version: Date): Promise<void> {
    const own = this.nameOf(page)
    this.known ??= await findPageEnds(this.db, [own], this.now)
    const isStored = this.known.some(
      (end) => end.page === own && end.version.getTime() === version.getTime() && isKept(end, this.now),
    )
    if (!isStored) await savePageEnd(this.db, this.hostId, own, version, this.now)
  }

  private nameOf(page: number): string {
    return `${this.name}:${page}`
  }
}
