import type { Types } from 'mongoose'
import { setFields, updateEach } from '../../platform/mongo/collections.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import {
  type AvailabilityBlock,
  availabilityBlockModel,
  availabilityCompactedModel,
  availabilityWrittenModel,
  type RoomTypeCompacted,
  type RoomTypeWritten,
  type StoredRow,
} from './model.ts'
import { type AvailabilityRow, byStart, overlayRows } from './overlay.ts'

/** The days from `from` to `to`, inclusive. If either day is absent, the window is open-ended on that side. */
export interface DateWindow {
  from?: string | undefined
  to?: string | undefined
}

/** Number of documents fetched in one round trip and decoded together. */
const batchSize = 1000

/**
 * Maximum number of rows per document. It is a compromise: reading one night should not fetch a whole year's rows, and
 * reading a year should not fetch one document per night.
 */
const rowsPerBlock = 50

/** Room types and the days for which their rows are requested. */
export interface RoomTypeDays {
  roomTypeIds: number[]
  days: Required<DateWindow>
}

/** Room types and a window that may be open-ended. */
interface RoomTypeWindow {
  roomTypeIds: number[]
  window: DateWindow
}

/**
 * Returns the rows in force on the requested days, by room type id, as read within a transaction. A room type without
 * such rows is absent. The result may be wrong for other days, because only rows that overlap the requested days are
 * read.
 */
export async function findRowsCovering(
  db: Db,
  session: Session,
  ownerId: number,
  wanted: RoomTypeDays[],
): Promise<Map<number, AvailabilityRow[]>> {
  return inForce(await findWritten(db, session, coveringAny(ownerId, wanted)), wanted)
}

function coveringAny(ownerId: number, wanted: RoomTypeDays[]): object {
  const ranges = wanted.map(({ roomTypeIds, days }) => overlapping(ownerId, { $in: roomTypeIds }, days))
  // The server plans a single range faster than a choice of one.
  return ranges.length === 1 ? (ranges[0] as object) : { owner_id: ownerId, $or: ranges }
}

/** Returns the rows in force on the wanted days, by room type id. */
function inForce(written: StoredRow[], wanted: RoomTypeDays[]): Map<number, AvailabilityRow[]> {
  const covering = written.filter((row) => wanted.some(({ days }) => isOverlapping(days)(row)))
  const byRoomType = Map.groupBy(covering, ({ room_type_id }) => room_type_id)
  return new Map([...byRoomType].map(([id, rows]) => [id, overlayRows(rows)]))
}

/** Documents of another collection that one statement reads along with rows. */
export interface ReadAlong<Other> {
  collection: string
  /**
   * Selects the documents, and names the owner. An `$expr` may refer to `$$sequence` and `$$as_of`: every row that is read
   * takes into account what was booked up to both of them.
   */
  filter: { owner_id: number; $expr?: object }
  /** The fields to return. */
  fields: Record<keyof Other, 1>
}

/**
 * Like {@link findRowsCovering}, but the same statement also reads documents of another collection. Without any rows, it
 * reads none of them.
 */
export async function findRowsCoveringWith<Other>(
  db: Db,
  session: Session,
  { ownerId, wanted }: { ownerId: number; wanted: RoomTypeDays[] },
  { collection, filter, fields }: ReadAlong<Other>,
): Promise<{ rows: Map<number, AvailabilityRow[]>; others: Other[] }> {
  const found = await availabilityBlockModel(db)
    .collection.aggregate<{ blocks?: AvailabilityBlock[]; other?: Other }>(
      [
        { $match: coveringAny(ownerId, wanted) },
        {
          $group: {
            _id: null,
            blocks: { $push: '$$ROOT' },
            sequence: { $min: { $min: '$rows.sequence' } },
            as_of: { $min: { $min: '$rows.as_of' } },
          },
        },
        {
          $lookup: {
            from: collection,
            let: { sequence: '$sequence', as_of: { $ifNull: ['$as_of', latestDate] } },
            // The fields are picked below: the server plans a query with a projection twice.
            pipeline: [{ $match: filter }],
            as: 'other',
          },
        },
        // One result for each document, because a single one could exceed the 16 MB of a document.
        { $unwind: { path: '$other', includeArrayIndex: 'index', preserveNullAndEmptyArrays: true } },
        // Only the first result has the rows.
        { $project: { other: fields, blocks: { $cond: [{ $gt: ['$index', 0] }, '$$REMOVE', '$blocks'] } } },
      ],
      { session, batchSize },
    )
    .toArray()
  const [first] = found
  const others: Other[] = []
  for (const { other } of found) if (other !== undefined) others.push(other)
  return { rows: inForce((first?.blocks ?? []).flatMap(rowsOf), wanted), others }
}

/** Later than any version. The server can print no date after the year 9999, which it does with those of a pipeline. */
const latestDate = new Date('9999-12-31T23:59:59Z')

/**
 * Returns the rows in force that overlap a window, by room type id, in ascending order. Rows are not clipped to the
 * window. A room type without such rows is absent.
 */
export async function findRows(
  db: Db,
  session: Session,
  ownerId: number,
  wanted: RoomTypeWindow,
): Promise<Map<number, StoredRow[]>> {
  const written = await findWrittenAround(db, session, ownerId, wanted)
  const isInside = isOverlapping(wanted.window)
  return new Map([...written].map(([id, rows]) => [id, overlayRows(rows).filter(isInside)]))
}

/**
 * Returns, by room type id, the written rows that overlap a window, and all rows that overlap any of those rows, even
 * outside the window. Overlaying the result therefore yields the window's rows in full.
 */
async function findWrittenAround(
  db: Db,
  session: Session,
  ownerId: number,
  { roomTypeIds, window }: RoomTypeWindow,
): Promise<Map<number, StoredRow[]>> {
  const blocks = await findWritten(db, session, overlapping(ownerId, { $in: roomTypeIds }, window))
  const byRoomType = Map.groupBy(blocks.filter(isOverlapping(window)), ({ room_type_id }) => room_type_id)
  const wider: object[] = []
  for (const [id, rows] of byRoomType) {
    const extent = extentOf(rows)
    const startsEarlier = window.from ? extent.from < window.from : false
    const endsLater = window.to ? extent.to > window.to : false
    if (startsEarlier || endsLater) wider.push(overlapping(ownerId, id, extent))
  }
  if (wider.length === 0) return byRoomType
  const around = await findWritten(db, session, { owner_id: ownerId, $or: wider })
  return new Map([...byRoomType, ...Map.groupBy(around, ({ room_type_id }) => room_type_id)])
}

/** Stores new rows for a host. */
export async function insertRows(
  db: Db,
  session: Session,
  owner_id: number,
  rows: StoredRow[],
): Promise<void> {
  const blocks = blocksOf(owner_id, rows)
  if (blocks.length > 0)
    await availabilityBlockModel(db).collection.insertMany(blocks, { session, ordered: false })
}

/** Groups rows by room type into documents, so that neighbouring rows share a document. */
export function blocksOf(owner_id: number, rows: StoredRow[]): AvailabilityBlock[] {
  const blocks: AvailabilityBlock[] = []
  for (const [room_type_id, ofRoomType] of Map.groupBy(rows, (row) => row.room_type_id)) {
    const sorted = ofRoomType.toSorted(byStart)
    for (let start = 0; start < sorted.length; start += rowsPerBlock) {
      const block = sorted.slice(start, start + rowsPerBlock)
      const { listing_id } = block[0] as StoredRow
      const plain = block.map(({ listing_id: _, room_type_id: __, ...row }) => row)
      blocks.push({ owner_id, listing_id, room_type_id, ...extentOf(block), rows: plain })
    }
  }
  return blocks
}

/** Deletes the documents whose ids are in `replaced` and stores the rows in `by` instead. */
export async function replaceRows(
  db: Db,
  session: Session,
  owner_id: number,
  { replaced, by }: { replaced: Types.ObjectId[]; by: StoredRow[] },
): Promise<void> {
  await availabilityBlockModel(db).collection.deleteMany({ owner_id, _id: { $in: replaced } }, { session })
  await insertRows(db, session, owner_id, by)
}

/** Returns all stored rows of room types, by room type id, and the ids of the documents that contain the rows. */
export async function findAllWritten(
  db: Db,
  session: Session,
  owner_id: number,
  roomTypeIds: number[],
): Promise<{ ids: Types.ObjectId[]; rows: Map<number, StoredRow[]> }> {
  const blocks = await findBlocks(db, session, { owner_id, room_type_id: { $in: roomTypeIds } })
  const rows = Map.groupBy(blocks.flatMap(rowsOf), ({ room_type_id }) => room_type_id)
  return { ids: blocks.map(({ _id }) => _id), rows }
}

/** The row counts of a room type. */
export interface RoomTypeCount {
  written: RoomTypeWritten
  /** Number of rows in force after the last compaction. */
  compactedRows: number
  /** Number of rows written since the last compaction. */
  looseRows: number
}

/** Returns the row counts of room types, by room type id. A room type that was never written is absent. */
export async function findCounts(
  db: Db,
  session: Session | null,
  ownerId: number,
  roomTypeIds: number[],
): Promise<Map<number, RoomTypeCount>> {
  const finding = findTotals(db, session, ownerId, roomTypeIds)
  // The statements of a transaction run one after another.
  if (session) await finding
  const [totals, compacted] = await Promise.all([finding, findCompacted(db, session, ownerId, roomTypeIds)])
  return new Map([...totals].map(([id, written]) => [id, countOf(written, compacted.get(id))]))
}

/** Returns the row counts of a room type; `compacted` is undefined if the room type was never compacted. */
export function countOf(written: RoomTypeWritten, compacted: RoomTypeCompacted | undefined): RoomTypeCount {
  return {
    written,
    compactedRows: compacted?.in_force ?? 0,
    looseRows: written.rows - (compacted?.rows ?? 0),
  }
}

/** Returns the totals of all writes to room types, by room type id. A room type that was never written is absent. */
export async function findTotals(
  db: Db,
  session: Session | null,
  ownerId: number,
  roomTypeIds: number[],
): Promise<Map<number, RoomTypeWritten>> {
  const totals = await availabilityWrittenModel(db)
    .collection.find<RoomTypeWritten>(anyOf(ownerId, roomTypeIds), plainly(session))
    .toArray()
  return new Map(totals.map((one) => [one.room_type_id, one]))
}

/** Returns the state of room types at their last compaction, by room type id. One that was never compacted is absent. */
export async function findCompacted(
  db: Db,
  session: Session | null,
  ownerId: number,
  roomTypeIds: number[],
): Promise<Map<number, RoomTypeCompacted>> {
  const compacted = await availabilityCompactedModel(db)
    .collection.find<RoomTypeCompacted>(anyOf(ownerId, roomTypeIds), plainly(session))
    .toArray()
  return new Map(compacted.map((one) => [one.room_type_id, one]))
}

function anyOf(owner_id: number, roomTypeIds: number[]) {
  return { owner_id, room_type_id: { $in: roomTypeIds } }
}

function plainly(session: Session | null) {
  return { ...(session ? { session } : {}), batchSize, projection: { _id: 0 } }
}

/** The rows that a write adds to a room type. */
export interface AddedRows {
  roomTypeId: number
  /** Number of rows. */
  rows: number
  /** Last day that one of them covers. */
  lastDay: string
  /** The latest `as_of` of any of them; null without one. */
  asOf: Date | null
}

/**
 * Adds a write's rows to the totals of its room types and returns the totals as they were before, by room type id. A
 * room type that was never written is absent. Most writes are about one room type, which takes one statement; several
 * take two.
 */
export async function addToWritten(
  db: Db,
  session: Session,
  ownerId: number,
  { added, sequence }: { added: AddedRows[]; sequence: number },
): Promise<Map<number, RoomTypeWritten>> {
  const model = availabilityWrittenModel(db)
  const changes = added.map((one) => ({
    filter: { owner_id: ownerId, room_type_id: one.roomTypeId },
    update: growthBy(one, sequence),
  }))
  const [only] = changes
  if (only && changes.length === 1) {
    const options = { session, upsert: true, returnDocument: 'before' } as const
    const found = await model.collection.findOneAndUpdate(only.filter, only.update, options)
    const totals = found as (RoomTypeWritten & { _id: Types.ObjectId }) | null
    return new Map(totals ? [[totals.room_type_id, totals]] : [])
  }
  const ids = added.map(({ roomTypeId }) => roomTypeId)
  const before = await findTotals(db, session, ownerId, ids)
  await updateEach(model, session, changes, { upsert: true })
  return before
}

function growthBy({ rows, lastDay, asOf }: AddedRows, sequence: number) {
  return {
    $inc: { rows },
    $set: { sequence },
    $max: { last_day: lastDay, ...(asOf ? { newest_as_of: asOf } : {}) },
    $setOnInsert: { asked_at: 0, ...(asOf ? {} : { newest_as_of: null }) },
  }
}

/** Notes that a compaction of room types is requested, when they have as many rows as `totals` say. */
export async function saveAsked(db: Db, session: Session, totals: RoomTypeWritten[]): Promise<void> {
  const changes = totals.map(({ owner_id, room_type_id, rows }) => ({
    filter: { owner_id, room_type_id },
    set: { asked_at: rows },
  }))
  await setFields(availabilityWrittenModel(db), session, changes)
}

/** Stores the state of room types at their last compaction. */
export async function saveCompacted(db: Db, session: Session, compacted: RoomTypeCompacted[]): Promise<void> {
  await setFields(availabilityCompactedModel(db), session, compacted.map(ofRoomType), { upsert: true })
}

/**
 * Clears `as_of` of all hosts' rows after a restore (decisions §8): the versions that were lost are assigned to other
 * bookings or to none.
 */
export async function clearAsOf(db: Db): Promise<void> {
  const rows = { $set: { 'rows.$[].as_of': null } }
  await availabilityBlockModel(db).collection.updateMany({ 'rows.as_of': { $ne: null } }, rows)
  const totals = { $set: { newest_as_of: null } }
  await availabilityWrittenModel(db).collection.updateMany({ newest_as_of: { $ne: null } }, totals)
}

function ofRoomType({ owner_id, room_type_id, ...set }: RoomTypeCompacted) {
  return { filter: { owner_id, room_type_id }, set }
}

/** Returns the first and last day that the rows cover. */
export function extentOf(rows: Pick<AvailabilityRow, 'start_date' | 'end_date'>[]): {
  from: string
  to: string
} {
  let from = '9999-12-31'
  let to = ''
  for (const { start_date, end_date } of rows) {
    if (start_date < from) from = start_date
    if (end_date > to) to = end_date
  }
  return { from, to }
}

async function findWritten(db: Db, session: Session, filter: object): Promise<StoredRow[]> {
  return (await findBlocks(db, session, filter)).flatMap(rowsOf)
}

function findBlocks(db: Db, session: Session, filter: object) {
  return availabilityBlockModel(db)
    .collection.find<AvailabilityBlock & { _id: Types.ObjectId }>(filter, { session, batchSize })
    .toArray()
}

function rowsOf({ listing_id, room_type_id, rows }: AvailabilityBlock): StoredRow[] {
  return rows.map((row) => ({ ...row, listing_id, room_type_id }))
}

function overlapping(owner_id: number, room_type_id: number | { $in: number[] }, { from, to }: DateWindow) {
  return {
    // If this breaks: a statement of a transaction names no host
    owner_id,
    room_type_id,
    ...(from ? { to: { $gte: from } } : {}),
    ...(to ? { from: { $lte: to } } : {}),
  }
}

function isOverlapping({ from, to }: DateWindow) {
  return ({ start_date, end_date }: AvailabilityRow) =>
    (!from || end_date >= from) && (!to || start_date <= to)
}
