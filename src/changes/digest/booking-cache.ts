import { LRUCache } from 'lru-cache'
import { KeyedQueue } from '../../platform/keyed-queue.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { busy } from '../../platform/mongo/errors.ts'
import { findChanges } from '../../stays/bookings/store.ts'
import { ChangedBookings, PackedBookings } from './packed.ts'

/** A snapshot of a host's bookings, sorted by id. */
export interface HostBookings {
  /** Newest version among the bookings; null if there are none. */
  version: Date | null
  bookings: PackedBookings
}

const readBatchSize = 2500
/**
 * Maximum number of cached bookings across all hosts. If a single host has more, its bookings are not cached and are
 * read in full for each digest.
 */
const maxCachedBookings = 2_000_000
const cacheMilliseconds = 10 * 60_000

/**
 * Caches hosts' bookings as this process last read them, so that a digest needs to read only newer changes. Without the
 * cache, a digest of 100,000 changing bookings would take longer than 1 s (decisions §23).
 */
export class BookingCache {
  private readonly hosts = new LRUCache<number, HostBookings>({
    maxSize: maxCachedBookings,
    sizeCalculation: ({ bookings }) => bookings.length + 1,
    ttl: cacheMilliseconds,
    ttlAutopurge: true,
    updateAgeOnGet: true,
  })
  private readonly queue: KeyedQueue

  /**
   * @param patienceMilliseconds maximum time that a reader waits for another reader of the same host; without waiting,
   *   both would read all bookings and hold them in memory
   */
  constructor(
    private readonly db: Db,
    patienceMilliseconds: number,
  ) {
    this.queue = new KeyedQueue(patienceMilliseconds, busy)
  }

  /**
   * Returns a host's current bookings. While the bookings are cached and unchanged, every call returns the same object.
   */
  read(ownerId: number): Promise<HostBookings> {
    return this.queue.run(String(ownerId), async () => {
      const held = this.hosts.get(ownerId) ?? { version: null, bookings: PackedBookings.empty() }
      const now = await this.refresh(ownerId, held)
      if (now !== held) this.hosts.set(ownerId, now)
      return now
    })
  }

  /**
   * Reads all changes since `held`. The result is a consistent snapshot, because changes become visible in version
   * order, and a booking that changes during the refresh appears again later in the feed (see `changes/feed/feed-page.ts`).
   */
  private async refresh(ownerId: number, held: HostBookings): Promise<HostBookings> {
    const changed = new ChangedBookings(held.bookings.days)
    const readAfter = (version: Date | null) =>
      findChanges(this.db, { owner_id: ownerId }, version, { skip: 0, limit: readBatchSize })
    let { version } = held
    let reading = readAfter(version)
    for (;;) {
      const rows = await reading
      version = rows.at(-1)?.updated_at ?? version
      const isLast = rows.length < readBatchSize
      // The database finds the next rows while the current rows are processed.
      if (!isLast) reading = readAfter(version)
      for (const row of rows) changed.add(row)
      if (isLast) break
    }
    return changed.length === 0 ? held : { version, bookings: held.bookings.with(changed) }
  }
}
