import { invalidField } from '../../core/errors.ts'
import { maxBulkItems } from '../../http/input/schema/fields.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { busy } from '../../platform/mongo/errors.ts'
import { needsCompaction } from './compaction.ts'
import type { RoomTypeCompacted, RoomTypeWritten } from './model.ts'
import { type AddedRows, countOf, findCompacted, type RoomTypeCount } from './store.ts'

/** Maximum number of ranges per room type, enough for one range per day for 27 years. */
const maxRangesPerRoomType = 10_000

/**
 * Limit that each write is checked against. It exceeds `maxRangesPerRoomType`, so that a room type with at most that
 * many ranges accepts even the largest write.
 */
const maxRowsInForce = maxRangesPerRoomType + 2 * maxBulkItems

/**
 * Maximum number of rows per room type that may await compaction. If a write would exceed it, the room type is
 * compacted first.
 */
const maxLooseRows = 2000

/** The totals of a room type that was never written. */
function unwritten(owner_id: number, room_type_id: number): RoomTypeWritten {
  return {
    owner_id,
    room_type_id,
    rows: 0,
    asked_at: 0,
    sequence: 0,
    newest_as_of: null,
    last_day: '',
  }
}

/** What is known of a write's room types, by room type id. A room type that has none of it is absent. */
interface KnownTotals {
  /** The totals before the write. */
  written: Map<number, RoomTypeWritten>
  /** The state at the last compaction, or at an earlier one: then the counts are too high, never too low. */
  compacted: Map<number, RoomTypeCompacted>
}

/**
 * Returns the room types' counts as they are after a write, in the order of `added`. The other fields of their totals
 * stay as they were before.
 */
function countsAfter(
  ownerId: number,
  added: AddedRows[],
  { written, compacted }: KnownTotals,
): RoomTypeCount[] {
  return added.map(({ roomTypeId, rows }) => {
    const before = written.get(roomTypeId) ?? unwritten(ownerId, roomTypeId)
    return countOf({ ...before, rows: before.rows + rows }, compacted.get(roomTypeId))
  })
}

/**
 * Returns the ids of the room types that a write may make too large. They are compacted first, so that reads, bookings and
 * compactions never process more rows per room type than the limits above allow, no matter how fast a partner writes
 * (decisions §8).
 */
export function roomTypesTooLarge(ownerId: number, added: AddedRows[], known: KnownTotals): number[] {
  const grown = countsAfter(ownerId, added, known)
  const large = grown.filter((count) => isFull(count) || count.looseRows > maxLooseRows)
  return large.map(({ written }) => written.room_type_id)
}

/**
 * Returns the room types' counts as they are after a write, in the order of `added`, within the write's transaction. What
 * was known of their compactions before is enough for most of them; it is read again only for those that would be too
 * large or need a compaction by it.
 */
export async function countAfterWrite(
  db: Db,
  session: Session,
  ownerId: number,
  { added, written, compacted }: KnownTotals & { added: AddedRows[] },
): Promise<RoomTypeCount[]> {
  const grown = countsAfter(ownerId, added, { written, compacted })
  const inDoubt = grown.filter((count) => isFull(count) || needsCompaction(count))
  if (inDoubt.length === 0) return grown
  const ids = inDoubt.map(({ written }) => written.room_type_id)
  const current = await findCompacted(db, session, ownerId, ids)
  return countsAfter(ownerId, added, { written, compacted: new Map([...compacted, ...current]) })
}

/**
 * Rejects a write that might leave a room type with too many ranges.
 *
 * @throws DomainError `validation` at `data` with `max`; `conflict` with a retry time if a compaction might make room
 */
export function requireRoom(grown: RoomTypeCount[], added: AddedRows[]): void {
  for (const [index, count] of grown.entries()) {
    if (!isFull(count)) continue
    const looseBefore = count.looseRows - (added[index]?.rows ?? 0)
    if (looseBefore > 0) throw busy()
    throw invalidField(
      'data',
      `A room type can have at most ${maxRangesPerRoomType} ranges, and this write might exceed that number`,
      'max',
    )
  }
}

/**
 * Returns true if a room type may exceed the limit. Each loose row counts as two ranges, because it may split another
 * row. The actual number is known only after the next compaction.
 */
function isFull({ compactedRows, looseRows }: RoomTypeCount): boolean {
  // If this breaks: a room type has more ranges than it may
  return compactedRows + 2 * looseRows > maxRowsInForce
}
