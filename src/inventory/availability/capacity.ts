import { invalidField } from '../../core/errors.ts'
import { maxBulkItems } from '../../http/input/schema/fields.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { busy } from '../../platform/mongo/errors.ts'
import { compactRoomTypes } from './compaction.ts'
import { findCounts, type RoomTypeCount } from './store.ts'

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

/** The number of rows that a write adds to a room type. */
export interface AddedRows {
  roomTypeId: number
  rows: number
}

/** Returns the room types' counts as they will be after a write, in the order of `added`. */
export async function findCountsAfterWrite(
  db: Db,
  session: Session | null,
  ownerId: number,
  added: AddedRows[],
): Promise<RoomTypeCount[]> {
  const ids = added.map(({ roomTypeId }) => roomTypeId)
  const counts = await findCounts(db, session, ownerId, ids)
  return added.map(({ roomTypeId, rows }) => {
    const count = counts.get(roomTypeId) ?? emptyCount(ownerId, roomTypeId)
    return grow(count, rows)
  })
}

function grow({ written, compactedRows, looseRows }: RoomTypeCount, rows: number): RoomTypeCount {
  return {
    written: { ...written, rows: written.rows + rows },
    compactedRows,
    looseRows: looseRows + rows,
  }
}

function emptyCount(owner_id: number, room_type_id: number): RoomTypeCount {
  const written = {
    owner_id,
    room_type_id,
    rows: 0,
    asked_at: 0,
    sequence: 0,
    newest_as_of: null,
    last_day: '',
  }
  return { written, compactedRows: 0, looseRows: 0 }
}

/**
 * Compacts the room types that a write may make too large, so that reads, bookings and compactions never process more
 * rows per room type than the limits above allow, no matter how fast a partner writes (decisions §8).
 */
export async function makeRoom(db: Db, ownerId: number, added: AddedRows[]): Promise<void> {
  const grown = await findCountsAfterWrite(db, null, ownerId, added)
  const large = grown.filter((count) => isFull(count) || count.looseRows > maxLooseRows)
  const ids = large.map(({ written }) => written.room_type_id)
  if (ids.length > 0) await compactRoomTypes(db, ownerId, ids)
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
