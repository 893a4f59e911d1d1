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
import { findCountsAfterWrite, makeRoom, requireRoom } from './capacity.ts'
import { enqueueCompaction, needsCompaction } from './compaction.ts'
import type { RoomTypeWritten, StoredRow } from './model.ts'
import type { AvailabilityItem } from './schema.ts'
import { extentOf, insertRows, type RoomTypeCount, saveWritten } from './store.ts'

/**
 * Writes that overlay items, in order, on a host's availability. Either all items are written or none, even if the
 * process crashes. The transaction only adds the items and updates their room types' counts, so its cost does not depend
 * on the amount of stored data, unless an item's `as_of` is older than an earlier one of its room type.
 */
export const sentAvailability = single({
  queue: hostQueue,
  prepare: prepareAvailability,
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
}

/** Rows that a write adds to a room type. */
interface AddedRows {
  roomTypeId: number
  rows: number
}

/** @throws DomainError `forbidden` (another host's listings) or `invalid_ids` (room types) */
async function prepareAvailability(
  { db, ids }: Pick<AppContext, 'db' | 'ids'>,
  ownerId: number,
  items: AvailabilityItem[],
): Promise<SentAvailability> {
  const [listings, firstId] = await Promise.all([
    findOwnedListings(db, ownerId, items),
    // Each item creates one row and may split another.
    ids('availability_row', items.length * 2),
  ])
  requireOwned(items, listings)
  const byRoomType = Map.groupBy(items, ({ room_type_id }) => room_type_id)
  const added = [...byRoomType].map(([roomTypeId, { length }]) => ({ roomTypeId, rows: length }))
  await makeRoom(db, ownerId, added)
  return { items, firstId, added }
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
  { items, firstId, added }: SentAvailability,
): Promise<AvailabilityWritten> {
  // The sequence is advanced first, so that if two writes run concurrently, the later one starts over before it does any
  // other work.
  const position = await nextPosition(app.db, session, ownerId)
  requireNotAhead(items, position)
  const grown = await findCountsAfterWrite(app.db, session, ownerId, added)
  await requireNotOlder(app.db, session, ownerId, { items, grown })
  requireRoom(grown, added)
  const isCompactionDue = await addRows(app, session, ownerId, {
    items,
    firstId,
    sequence: position.sequence,
    grown,
  })
  return { isCompactionDue, newestVersion: position.newestVersion }
}

/** A write whose place in the order of the host's writes is known. */
interface OrderedWrite {
  items: AvailabilityItem[]
  firstId: number
  sequence: number
  /** The room types' counts as they will be after the write. */
  grown: RoomTypeCount[]
}

async function addRows(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  session: Session,
  ownerId: number,
  { items, firstId, sequence, grown }: OrderedWrite,
): Promise<boolean> {
  const updated_at = clock(ownerId)
  const rows = items.map((item, order): StoredRow => {
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
  await insertRows(db, session, ownerId, rows)
  const latest = latestAsOf(items)
  const rowsOf = Map.groupBy(rows, ({ room_type_id }) => room_type_id)
  const written = grown.map((count) => {
    const { room_type_id } = count.written
    const { to } = extentOf(rowsOf.get(room_type_id) ?? [])
    return toWritten(count, { sequence, asOf: latest.get(room_type_id) ?? null, lastDay: to })
  })
  await saveWritten(db, session, written)
  const due = grown.filter(needsCompaction).map(({ written }) => written.room_type_id)
  await enqueueCompaction(db, session, { now: updated_at, ownerId, roomTypeIds: due })
  return due.length > 0
}

/** Returns a room type's totals after a write. `asOf` and `lastDay` are the latest of the room type's items. */
function toWritten(
  count: RoomTypeCount,
  { sequence, asOf, lastDay }: { sequence: number; asOf: Date | null; lastDay: string },
): RoomTypeWritten {
  const { written } = count
  const { newest_as_of, last_day } = written
  return {
    ...written,
    sequence,
    asked_at: needsCompaction(count) ? written.rows : written.asked_at,
    newest_as_of: newest_as_of === null || (asOf !== null && asOf > newest_as_of) ? asOf : newest_as_of,
    last_day: lastDay > last_day ? lastDay : last_day,
  }
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
