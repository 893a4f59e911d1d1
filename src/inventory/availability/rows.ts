import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { daysBetween, isCalendarDate, toTimestamp } from '../../core/clock.ts'
import { toVersion } from '../../host-clock/format.ts'
import { maxBulkItems } from '../../http/input/schema/fields.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { inSnapshot } from '../../platform/mongo/turns/transactions.ts'
import type { StoredRow } from './model.ts'
import type { AvailabilityRowResponse } from './schema.ts'
import { type DateWindow, findCounts, findRows, type RoomTypeCount } from './store.ts'

/** Maximum numbers of rows (estimated) and room types per batch. A room type is never split across batches. */
const rowsPerBatch = 2000
const roomTypesPerBatch = 50
/** Maximum number of counts read per query. */
const countsPerQuery = 1000

/**
 * Yields the rows in force that overlap a window, one list per room type in the given order. Rows are read in batches
 * of limited size, each from one database snapshot, so that neither memory use nor the delay to other requests grows
 * with the amount of stored data.
 */
export async function* readRows(
  db: Db,
  ownerId: number,
  roomTypeIds: number[],
  window: DateWindow,
): AsyncGenerator<AvailabilityRowResponse[]> {
  for (let start = 0; start < roomTypeIds.length; start += countsPerQuery) {
    const queried = roomTypeIds.slice(start, start + countsPerQuery)
    const counts = await inSnapshot(db, (session) => findCounts(db, session, ownerId, queried))
    for (const batch of batchesOf(queried, counts, window)) {
      const rows = await inSnapshot(db, (session) =>
        findRows(db, session, ownerId, { roomTypeIds: batch, window }),
      )
      for (const id of batch) yield (rows.get(id) ?? []).map(serializeRow)
    }
  }
}

/**
 * Returns the rows in force whose ids appear in a write, so that they can be compared with the rows that the caller
 * read earlier (decisions §27). Items that do not look like a row from a read response are ignored.
 *
 * @param items the items as sent, which may be invalid
 */
export async function findSentRows(
  db: Db,
  ownerId: number,
  items: unknown,
): Promise<AvailabilityRowResponse[]> {
  const sent = Array.isArray(items) ? items.slice(0, maxBulkItems).filter(isSentRow) : []
  if (sent.length === 0) return []
  const ids = new Set(sent.map(({ id }) => id))
  const roomTypeIds = [...new Set(sent.map(({ room_type_id }) => Number(room_type_id)))].filter(
    Number.isSafeInteger,
  )
  const days = sent.flatMap(({ start_date, end_date }) => [start_date, end_date]).sort()
  const found: AvailabilityRowResponse[] = []
  for await (const rows of readRows(db, ownerId, roomTypeIds, { from: days[0], to: days.at(-1) }))
    found.push(...rows.filter(({ id }) => ids.has(id)))
  return found
}

const SentRow = Type.Object({
  id: Type.Integer(),
  room_type_id: Type.Union([Type.Integer(), Type.String()]),
  start_date: Type.String(),
  end_date: Type.String(),
})

function isSentRow(item: unknown): item is Static<typeof SentRow> {
  return Value.Check(SentRow, item) && isCalendarDate(item.start_date) && isCalendarDate(item.end_date)
}

function* batchesOf(ids: number[], counts: Map<number, RoomTypeCount>, window: DateWindow) {
  let batch: number[] = []
  let rows = 0
  for (const id of ids) {
    const more = maxRows(counts.get(id), window)
    if (batch.length > 0 && (rows + more > rowsPerBatch || batch.length === roomTypesPerBatch)) {
      yield batch
      batch = []
      rows = 0
    }
    batch.push(id)
    rows += more
  }
  if (batch.length > 0) yield batch
}

/**
 * Returns an upper bound on a room type's number of rows in a window. Compacted rows do not overlap, so there is at
 * most one per day.
 */
function maxRows(count: RoomTypeCount | undefined, { from, to }: DateWindow): number {
  if (!count) return 0
  const days = from && to ? daysBetween(from, to) + 1 : Number.POSITIVE_INFINITY
  return Math.min(count.compactedRows, days) + 2 * count.looseRows
}

/** Serializes a row in force as specified in the contract. */
export function serializeRow(row: StoredRow): AvailabilityRowResponse {
  return {
    id: row.id,
    listing_id: row.listing_id,
    room_type_id: row.room_type_id,
    available: row.available,
    start_date: row.start_date,
    end_date: row.end_date,
    as_of: row.as_of && toVersion(row.as_of),
    updated_at: toTimestamp(row.updated_at),
  }
}
