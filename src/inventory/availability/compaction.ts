import type { Db, Session } from '../../platform/mongo/connection.ts'
import { isDuplicate } from '../../platform/mongo/errors.ts'
import { inTransaction } from '../../platform/mongo/transactions.ts'
import { enqueueJob, type Topics } from '../../platform/outbox/outbox.ts'
import { overlayRows } from './overlay.ts'
import { findAllWritten, findCounts, type RoomTypeCount, replaceRows, saveCompacted } from './store.ts'

/** Topic of the job that compacts a set of a host's room types. */
export const compactAvailabilityTopic = 'CompactAvailability'

/** A compaction reads the whole room type, so it waits for this many loose rows and for this fraction of all rows. */
const minLooseRows = 100
const looseFraction = 0.25

/** Maximum number of room types per job, low enough for every job to finish within its lease. */
const roomTypesPerJob = 50

/** Returns whether a room type has grown enough since a compaction was last requested. */
export function needsCompaction({ written, compactedRows, looseRows }: RoomTypeCount): boolean {
  const unasked = Math.min(looseRows, written.rows - written.asked_at)
  return unasked >= Math.max(minLooseRows, (compactedRows + looseRows) * looseFraction)
}

/** Requests compaction of room types, in the transaction of the write that made them grow. */
export async function enqueueCompaction(
  db: Db,
  session: Session,
  now: Date,
  hostId: number,
  roomTypeIds: number[],
): Promise<void> {
  for (let start = 0; start < roomTypeIds.length; start += roomTypesPerJob) {
    const room_type_ids = roomTypeIds.slice(start, start + roomTypesPerJob)
    const payload = { host_id: hostId, room_type_ids }
    await enqueueJob(db, session, now, { topic: compactAvailabilityTopic, host_id: hostId, payload })
  }
}

/**
 * Reduces a room type to the rows in force, in one transaction, so that readers see no difference. Rows written
 * meanwhile come later in the order of writing and overlay the compacted rows as they would the original ones, so no
 * write waits for a compaction. If two compactions run concurrently, the second starts over.
 */
export async function compactRoomType(db: Db, hostId: number, roomTypeId: number): Promise<void> {
  try {
    await inTransaction(db, `availability/${hostId}/${roomTypeId}`, (session) =>
      compact(db, session, hostId, roomTypeId),
    )
  } catch (error) {
    // Another process has just completed this room type's first compaction.
    if (!isDuplicate(error)) throw error
  }
}

async function compact(db: Db, session: Session, host_id: number, room_type_id: number): Promise<void> {
  const count = (await findCounts(db, session, host_id, [room_type_id])).get(room_type_id)
  if (!count?.looseRows) return
  const { ids, rows: written } = await findAllWritten(db, session, host_id, room_type_id)
  const laid = overlayRows(written)
  await replaceRows(db, session, host_id, room_type_id, { replaced: ids, by: laid })
  const { rows } = count.written
  await saveCompacted(db, session, { host_id, room_type_id, rows, in_force: laid.length })
}

/** Returns the outbox topics for availability. */
export function availabilityJobs({ db }: { db: Db }): Topics {
  return {
    [compactAvailabilityTopic]: {
      async run({ host_id, room_type_ids }) {
        for (const roomTypeId of room_type_ids as number[])
          await compactRoomType(db, host_id as number, roomTypeId)
      },
    },
  }
}
