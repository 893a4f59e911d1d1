import type { Db, Session } from '../../platform/mongo/connection.ts'
import { retryDuplicate } from '../../platform/mongo/errors.ts'
import { inTransaction } from '../../platform/mongo/turns/transactions.ts'
import { enqueueJob, type Topics } from '../../platform/outbox/outbox.ts'
import type { RoomTypeWritten } from './model.ts'
import { overlayRows } from './overlay.ts'
import {
  findAllWritten,
  findCounts,
  type RoomTypeCount,
  replaceRows,
  saveAsked,
  saveCompacted,
} from './store.ts'

/** Topic of the job that compacts some of a host's room types. */
export const compactAvailabilityTopic = 'CompactAvailability'

/**
 * A compaction reads all of a room type's rows, so it is not requested until at least this many rows and this fraction
 * of all rows are loose.
 */
const minLooseRows = 100
const looseFraction = 0.25

/** Maximum number of room types per job, low enough that every job finishes within its lease. */
const roomTypesPerJob = 50

/** Returns true if a room type has grown enough since its last compaction was requested to need another. */
export function needsCompaction({ written, compactedRows, looseRows }: RoomTypeCount): boolean {
  const unasked = Math.min(looseRows, written.rows - written.asked_at)
  return unasked >= Math.max(minLooseRows, (compactedRows + looseRows) * looseFraction)
}

/** Requests the compaction of the room types with these totals, in the transaction of the write that added rows to them. */
export async function requestCompaction(
  db: Db,
  session: Session,
  ownerId: number,
  { due, now }: { due: RoomTypeWritten[]; now: Date },
): Promise<void> {
  if (due.length === 0) return
  await saveAsked(db, session, due)
  await enqueueCompaction(db, session, {
    now,
    ownerId,
    roomTypeIds: due.map(({ room_type_id }) => room_type_id),
  })
}

/** Enqueues the compaction of room types. */
export async function enqueueCompaction(
  db: Db,
  session: Session,
  { now, ownerId, roomTypeIds }: { now: Date; ownerId: number; roomTypeIds: number[] },
): Promise<void> {
  for (let start = 0; start < roomTypeIds.length; start += roomTypesPerJob) {
    const room_type_ids = roomTypeIds.slice(start, start + roomTypesPerJob)
    const payload = { owner_id: ownerId, room_type_ids }
    await enqueueJob(db, session, now, { topic: compactAvailabilityTopic, owner_id: ownerId, payload })
  }
}

/** Maximum number of rows that one transaction compacts, unless a single room type has more. */
const maxRowsPerTransaction = 4000

/**
 * Replaces the stored rows of room types with the rows in force. Readers see no difference. Rows written during a
 * compaction come later in write order and overlay the compacted rows just as they would overlay the original ones, so
 * a compaction does not block writes. If two compactions run concurrently, the second starts over.
 */
export async function compactRoomTypes(db: Db, ownerId: number, roomTypeIds: number[]): Promise<void> {
  if (roomTypeIds.length === 0) return
  // A duplicate key means that another process has just completed the first compaction of one of these room types.
  for (const ids of portionsOf(await findCounts(db, null, ownerId, roomTypeIds)))
    await retryDuplicate(() =>
      inTransaction(db, `availability/${ownerId}`, (session) => compact(db, session, ownerId, ids)),
    )
}

/** Divides the room types that have loose rows into portions, each small enough for one transaction. */
function portionsOf(counts: Map<number, RoomTypeCount>): number[][] {
  const portions: number[][] = []
  let rowsLeft = 0
  for (const [id, { compactedRows, looseRows }] of counts) {
    if (looseRows === 0) continue
    const rows = compactedRows + looseRows
    const portion = rows <= rowsLeft ? portions.at(-1) : undefined
    if (portion) portion.push(id)
    else portions.push([id])
    rowsLeft = (portion ? rowsLeft : maxRowsPerTransaction) - rows
  }
  return portions
}

async function compact(db: Db, session: Session, ownerId: number, roomTypeIds: number[]): Promise<void> {
  const counts = await findCounts(db, session, ownerId, roomTypeIds)
  const loose = [...counts.values()].filter(({ looseRows }) => looseRows > 0).map(({ written }) => written)
  if (loose.length === 0) return
  const found = await findAllWritten(
    db,
    session,
    ownerId,
    loose.map(({ room_type_id }) => room_type_id),
  )
  const inForce = new Map([...found.rows].map(([id, rows]) => [id, overlayRows(rows)]))
  await replaceRows(db, session, ownerId, { replaced: found.ids, by: [...inForce.values()].flat() })
  const compacted = loose.map(({ owner_id, room_type_id, rows }) => {
    return { owner_id, room_type_id, rows, in_force: inForce.get(room_type_id)?.length ?? 0 }
  })
  await saveCompacted(db, session, compacted)
}

/** Returns the outbox topics for availability. */
export function availabilityJobs({ db }: { db: Db }): Topics {
  return {
    [compactAvailabilityTopic]: ({ owner_id, room_type_ids }) =>
      compactRoomTypes(db, owner_id as number, room_type_ids as number[]),
  }
}
