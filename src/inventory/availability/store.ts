import type { Types } from 'mongoose'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import {
  availabilityCompactedModel,
  availabilityRowModel,
  availabilityWrittenModel,
  type RoomTypeCompacted,
  type RoomTypeWritten,
  type StoredRow,
} from './model.ts'
import { type AvailabilityRow, overlayRows } from './overlay.ts'

/** Days from `from` to `to`, both included; open-ended where one is absent. */
export interface DateWindow {
  from?: string | undefined
  to?: string | undefined
}

/** Documents per round trip, which are decoded in one go. */
const batchSize = 1000

const columns = { _id: 0, host_id: 0 } as const

/**
 * The rows in force on the days of a window by room type, in a transaction; a room type without any is absent. Their
 * parts outside of the window may no longer be in force: only what overlaps the window is read.
 */
export async function findRowsCovering(
  db: Db,
  session: Session,
  hostId: number,
  roomTypeIds: number[],
  window: Required<DateWindow>,
): Promise<Map<number, AvailabilityRow[]>> {
  const written = await findWritten(db, session, overlapping(hostId, { $in: roomTypeIds }, window))
  const byRoomType = Map.groupBy(written, ({ room_type_id }) => room_type_id)
  return new Map([...byRoomType].map(([id, rows]) => [id, overlayRows(rows)]))
}

/**
 * The rows in force that overlap a window, whole and ascending, by room type; a room type without any is absent.
 */
export async function findRows(
  db: Db,
  session: Session,
  hostId: number,
  roomTypeIds: number[],
  window: DateWindow,
): Promise<Map<number, StoredRow[]>> {
  const written = await findWrittenAround(db, session, hostId, roomTypeIds, window)
  const isInside = isOverlapping(window)
  return new Map([...written].map(([id, rows]) => [id, overlayRows(rows).filter(isInside)]))
}

/**
 * By room type, the written rows that overlap a window, and all rows that overlap those anywhere, so that overlaying
 * gives the former in full.
 */
export async function findWrittenAround(
  db: Db,
  session: Session,
  hostId: number,
  roomTypeIds: number[],
  window: DateWindow,
): Promise<Map<number, StoredRow[]>> {
  const inWindow = await findWritten(db, session, overlapping(hostId, { $in: roomTypeIds }, window))
  const byRoomType = Map.groupBy(inWindow, ({ room_type_id }) => room_type_id)
  const wider = [...byRoomType].flatMap(([id, rows]) => {
    const extent = extentOf(rows)
    const isWider = (window.from && extent.from < window.from) || (window.to && extent.to > window.to)
    return isWider ? [overlapping(hostId, id, extent)] : []
  })
  if (wider.length === 0) return byRoomType
  const around = await findWritten(db, session, { host_id: hostId, $or: wider })
  return new Map([...byRoomType, ...Map.groupBy(around, ({ room_type_id }) => room_type_id)])
}

/** Stores the rows of a write. */
export async function insertRows(db: Db, session: Session, rows: StoredRow[]): Promise<void> {
  if (rows.length > 0) await availabilityRowModel(db).collection.insertMany(rows, { session, ordered: false })
}

/** Deletes rows of a room type. */
export async function deleteRows(
  db: Db,
  session: Session,
  host_id: number,
  room_type_id: number,
  ids: Types.ObjectId[],
): Promise<void> {
  if (ids.length === 0) return
  await availabilityRowModel(db).collection.deleteMany(
    { host_id, room_type_id, _id: { $in: ids } },
    { session },
  )
}

/** All rows stored for a room type. */
export function findAllWritten(db: Db, session: Session, hostId: number, roomTypeId: number) {
  const filter = { host_id: hostId, room_type_id: roomTypeId }
  return availabilityRowModel(db)
    .collection.find<StoredRow & { _id: Types.ObjectId }>(filter, { session, batchSize })
    .toArray()
}

/** How much is stored for a room type. */
export interface RoomTypeCount {
  written: RoomTypeWritten
  /** Rows in force after the last compaction. */
  compactedRows: number
  /** Rows written since the last compaction. */
  looseRows: number
}

/** The counts of these room types, by id; a room type without rows is absent. */
export async function findCounts(
  db: Db,
  session: Session | null,
  hostId: number,
  roomTypeIds: number[],
): Promise<Map<number, RoomTypeCount>> {
  const filter = { host_id: hostId, room_type_id: { $in: roomTypeIds } }
  const options = { ...(session ? { session } : {}), batchSize, projection: { _id: 0 } }
  const totals = await availabilityWrittenModel(db)
    .collection.find<RoomTypeWritten>(filter, options)
    .toArray()
  const compacted = await availabilityCompactedModel(db)
    .collection.find<RoomTypeCompacted>(filter, options)
    .toArray()
  const before = new Map(compacted.map((one) => [one.room_type_id, one]))
  return new Map(
    totals.map((written) => {
      const { rows = 0, in_force: compactedRows = 0 } = before.get(written.room_type_id) ?? {}
      return [written.room_type_id, { written, compactedRows, looseRows: written.rows - rows }]
    }),
  )
}

/** Stores the totals of the writes to room types. */
export async function saveWritten(db: Db, session: Session, totals: RoomTypeWritten[]): Promise<void> {
  const writes = totals.map(({ host_id, room_type_id, ...sums }) => {
    return { updateOne: { filter: { host_id, room_type_id }, update: { $set: sums }, upsert: true } }
  })
  await availabilityWrittenModel(db).collection.bulkWrite(writes, { session, ordered: false })
}

/** Stores the state at a compaction. */
export async function saveCompacted(db: Db, session: Session, compacted: RoomTypeCompacted): Promise<void> {
  const { host_id, room_type_id, ...values } = compacted
  await availabilityCompactedModel(db).updateOne(
    { host_id, room_type_id },
    { $set: values },
    { session, upsert: true },
  )
}

/** The first and the last day that some rows cover. */
export function extentOf(rows: Pick<AvailabilityRow, 'start_date' | 'end_date'>[]): {
  from: string
  to: string
} {
  let [from, to] = ['9999-12-31', '']
  for (const { start_date, end_date } of rows) {
    if (start_date < from) from = start_date
    if (end_date > to) to = end_date
  }
  return { from, to }
}

function findWritten(db: Db, session: Session, filter: object): Promise<StoredRow[]> {
  const options = { session, batchSize, projection: columns }
  return availabilityRowModel(db).collection.find<StoredRow>(filter, options).toArray()
}

function overlapping(host_id: number, room_type_id: number | { $in: number[] }, { from, to }: DateWindow) {
  return {
    host_id,
    room_type_id,
    ...(from ? { end_date: { $gte: from } } : {}),
    ...(to ? { start_date: { $lte: to } } : {}),
  }
}

function isOverlapping({ from, to }: DateWindow) {
  return ({ start_date, end_date }: AvailabilityRow) =>
    (!from || end_date >= from) && (!to || start_date <= to)
}
