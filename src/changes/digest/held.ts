import { LRUCache } from 'lru-cache'
import { KeyedMutex } from '../../platform/keyed-mutex.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { busy } from '../../platform/mongo/errors.ts'
import { toStatusWord } from '../../stays/bookings/status.ts'
import { findChanges } from '../../stays/bookings/store.ts'
import { byId, type DigestedBooking } from './digest.ts'

/** A booking in the cache. */
export interface HeldBooking extends DigestedBooking {
  listing_id: number
  /** Milliseconds since 1970. A `Date` would use as much memory as all other fields together. */
  version: number
}

/** A host's bookings at one moment, sorted by id. */
export interface HostBookings {
  /** Newest version among the bookings; null if there are none. */
  version: Date | null
  bookings: readonly HeldBooking[]
}

const readAtOnce = 2500
/** Maximum number of cached bookings across all hosts; a host with more is read from scratch each time. */
const maxHeld = 2_000_000
const heldMilliseconds = 10 * 60_000

/**
 * Caches hosts' bookings as this process last read them, so that an answer needs only newer changes. Without the cache,
 * a digest of 100,000 changing bookings would take longer than 1 s (decisions §23).
 */
export class BookingCache {
  private readonly hosts = new LRUCache<number, HostBookings>({
    maxSize: maxHeld,
    sizeCalculation: ({ bookings }) => bookings.length + 1,
    ttl: heldMilliseconds,
    ttlAutopurge: true,
    updateAgeOnGet: true,
  })
  private readonly turns: KeyedMutex

  /**
   * @param patienceMilliseconds how long a reader waits for another reader of the same host; two concurrent readers
   *   would read all bookings twice and hold them in memory twice
   */
  constructor(
    private readonly db: Db,
    patienceMilliseconds: number,
  ) {
    this.turns = new KeyedMutex(patienceMilliseconds, busy)
  }

  /** Returns a host's current bookings. The result is the same object until a booking changes. */
  read(hostId: number): Promise<HostBookings> {
    return this.turns.run(String(hostId), async () => {
      const held = this.hosts.get(hostId) ?? { version: null, bookings: [] }
      const now = await this.refresh(hostId, held)
      if (now !== held) this.hosts.set(hostId, now)
      return now
    })
  }

  /**
   * Reads all changes since `held`. The result is one consistent state, because changes become visible in the order of
   * their versions, and a booking that changes while being read appears again later (see `changes/feed/page.ts`).
   */
  private async refresh(hostId: number, held: HostBookings): Promise<HostBookings> {
    const newer = new Map<number, HeldBooking>()
    const days = new Map<string, string>()
    let { version } = held
    for (let isLast = false; !isLast; ) {
      const rows = await findChanges(this.db, { host_id: hostId }, version, { skip: 0, limit: readAtOnce })
      for (const { id, listing_id, status, checkin_at, checkout_at, updated_at } of rows)
        newer.set(id, {
          ...{ booking_id: id, listing_id, status: toStatusWord(status) },
          checkin_at: shared(days, checkin_at),
          checkout_at: shared(days, checkout_at),
          version: updated_at.getTime(),
        })
      version = rows.at(-1)?.updated_at ?? version
      isLast = rows.length < readAtOnce
    }
    if (newer.size === 0) return held
    const unchanged = held.bookings.filter(({ booking_id }) => !newer.has(booking_id))
    return { version, bookings: [...unchanged, ...newer.values()].sort(byId) }
  }
}

/** Returns one shared string for all bookings with the same day, to save memory. */
function shared(days: Map<string, string>, day: string): string {
  const known = days.get(day)
  if (known === undefined) days.set(day, day)
  return known ?? day
}
