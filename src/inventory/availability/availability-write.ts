import { DomainError } from '../../core/errors.ts'
import { hostQueue, nextPosition } from '../../host-clock/store.ts'
import type { AppContext } from '../../http/context.ts'
import { maxProblems } from '../../http/input/schema/problems.ts'
import { single } from '../../http/write.ts'
import type { Session } from '../../platform/mongo/connection.ts'
import { foreignListings, unknownRoomType } from '../listings/problems.ts'
import {
  findInvalidRoomTypes,
  findOwnedListings,
  type InvalidRoomType,
  type OwnedListings,
} from '../listings/room-types-store.ts'
import { asOf, latestAsOf, requireNotAhead, requireNotOlder } from './as-of.ts'
import { countAfterWrite, requireRoom, roomTypesTooLarge } from './capacity.ts'
import { compactRoomTypes, needsCompaction, requestCompaction } from './compaction.ts'
import type { RoomTypeCompacted, StoredRow } from './model.ts'
import type { AvailabilityItem } from './schema.ts'
import { type AddedRows, addToWritten, extentOf, findCompacted, findTotals, insertRows } from './store.ts'

/**
 * Writes that overlay items, in order, on a host's availability. Either all items are written or none, even if the
 * process crashes. The transaction only adds the items and their number, so its cost does not depend on the amount of
 * stored data, unless an item's `as_of` is older than an earlier one of its room type.
 */
export const sentAvailability = single({
  queue: hostQueue,
  prepare: prepareAvailability,
  ensure: ({ db }: Pick<AppContext, 'db'>, ownerId, { tooLarge }) => compactRoomTypes(db, ownerId, tooLarge),
  write: writeAvailability,
})

/** The result of a write. */
export interface AvailabilityWritten {
  /** True if the write enqueued a compaction in the outbox. */
  isCompactionDue: boolean
  /** Version of the host's newest booking when the write was applied; null without bookings. */
  newestVersion: Date | null
}

/** Items that are ready to be written. Each row takes two consecutive ids, starting at `firstId`. */
interface SentAvailability {
  items: AvailabilityItem[]
  firstId: number
  added: AddedRows[]
  /** The state of the room types at their last compaction, as it was before the write's turn. */
  compacted: Map<number, RoomTypeCompacted>
  /** Ids of the room types that must be compacted before the write. */
  tooLarge: number[]
}

/** @throws DomainError `forbidden` (another host's listings) or `invalid_ids` (room types) */
async function prepareAvailability(
  { db, ids }: Pick<AppContext, 'db' | 'ids'>,
  ownerId: number,
  items: AvailabilityItem[],
): Promise<SentAvailability> {
  const added = addedRows(items)
  const roomTypeIds = added.map(({ roomTypeId }) => roomTypeId)
  const [listings, firstId, written, compacted] = await Promise.all([
    findOwnedListings(db, ownerId, items),
    // Each item creates one row and may split another.
    ids('availability_row', items.length * 2),
    findTotals(db, null, ownerId, roomTypeIds),
    findCompacted(db, null, ownerId, roomTypeIds),
  ])
  requireOwned(items, listings)
  const tooLarge = roomTypesTooLarge(ownerId, added, { written, compacted })
  return { items, firstId, added, compacted, tooLarge }
}

function addedRows(items: AvailabilityItem[]): AddedRows[] {
  const latest = latestAsOf(items)
  const byRoomType = Map.groupBy(items, ({ room_type_id }) => room_type_id)
  return [...byRoomType].map(([roomTypeId, ofRoomType]) => ({
    roomTypeId,
    rows: ofRoomType.length,
    lastDay: extentOf(ofRoomType).to,
    asOf: latest.get(roomTypeId) ?? null,
  }))
}

/**
 * @throws DomainError `validation` (`as_of` is ahead of the bookings, or a room type might get too many ranges),
 * `conflict` at `as_of` (a later count is stored), or `conflict` with a retry time (another write filled the space that
 * the compaction had freed)
 */
async function writeAvailability(
  app: Pick<AppContext, 'db' | 'clock'>,
  session: Session,
  ownerId: number,
  { items, firstId, added, compacted }: SentAvailability,
): Promise<AvailabilityWritten> {
  const { db } = app
  // The sequence is advanced first, so that if two writes run concurrently, the later one starts over before it does any
  // other work.
  const position = await nextPosition(db, session, ownerId)
  requireNotAhead(items, position)
  const { sequence } = position
  const written = await addToWritten(db, session, ownerId, { added, sequence })
  const grown = await countAfterWrite(db, session, ownerId, { added, written, compacted })
  await requireNotOlder(db, session, ownerId, { items, grown })
  requireRoom(grown, added)
  const now = app.clock(ownerId)
  await insertRows(db, session, ownerId, toRows(items, { firstId, sequence, updated_at: now }))
  const due = grown.filter(needsCompaction).map((count) => count.written)
  await requestCompaction(db, session, ownerId, { due, now: app.clock() })
  return { isCompactionDue: due.length > 0, newestVersion: position.newestVersion }
}

function toRows(
  items: AvailabilityItem[],
  { firstId, sequence, updated_at }: { firstId: number } & Pick<StoredRow, 'sequence' | 'updated_at'>,
): StoredRow[] {
  return items.map((item, order) => {
    const id = firstId + order * 2
    return {
      id,
      split_id: id + 1,
      listing_id: item.listing_id,
      room_type_id: item.room_type_id,
      available: item.available,
      start_date: item.start_date,
      end_date: item.end_date,
      updated_at,
      as_of: asOf(item),
      sequence,
      order,
    }
  })
}

function requireOwned(items: AvailabilityItem[], { owned, foreign }: OwnedListings): void {
  if (foreign.length > 0) {
    throw foreignListings(
      foreign.map((id, index) => ({ path: `unauthorized_listing_ids.${index}`, message: String(id) })),
    )
  }
  const invalid = findInvalidRoomTypes(owned, items)
  if (invalid.length > 0) throw invalidRoomTypes(invalid)
}

/** Returns the 400 error for items whose room type does not belong to their listing (contract, Availability). */
export function invalidRoomTypes(invalid: InvalidRoomType[]): DomainError {
  const reason = 'Room type not found or does not belong to listing'
  const list = invalid.map(({ listing_id, room_type_id }) => ({ listing_id, room_type_id, reason }))
  return new DomainError('invalid_ids', 'Invalid room types', [
    { path: 'invalid_room_types', code: 'invalid', message: JSON.stringify(list) },
    ...invalid.slice(0, maxProblems - 1).map(({ index }) => unknownRoomType(index)),
  ])
}
