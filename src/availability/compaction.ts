import { type Db, inTransaction, isDuplicate, type Session } from '../infra/mongo.ts'
import { type JobHandler, leaveJob } from '../infra/outbox.ts'
import { availabilityRowModel } from './model.ts'
import { layRows } from './overlay.ts'
import { findAllWritten, findCounts, type RoomTypeCount, saveCompacted } from './store.ts'

/** Topic of the job that compacts some room types of a host. */
export const compactAvailabilityTopic = 'CompactAvailability'

/** A compaction reads the whole room type: it waits for this many loose rows, or this part of all. */
const fewestLooseRows = 100
const loosePart = 0.25

/** Room types of one job, so that none takes longer than its lease. */
const roomTypesPerJob = 50

/** True when a room type has grown enough since a compaction was last asked for. */
export function needsCompaction({ written, mostRows, looseRows }: RoomTypeCount): boolean {
  const unasked = Math.min(looseRows, written.rows - written.asked_at)
  return unasked >= Math.max(fewestLooseRows, mostRows * loosePart)
}

/** Asks for the compaction of room types, in the transaction of the write that made them grow. */
export async function leaveCompaction(
  db: Db,
  session: Session,
  now: Date,
  hostId: number,
  roomTypeIds: number[],
): Promise<void> {
  for (let start = 0; start < roomTypeIds.length; start += roomTypesPerJob) {
    const room_type_ids = roomTypeIds.slice(start, start + roomTypesPerJob)
    const payload = { host_id: hostId, room_type_ids }
    await leaveJob(db, session, now, { topic: compactAvailabilityTopic, host_id: hostId, payload })
  }
}

/** Does the jobs that {@link leaveCompaction} leaves. */
export function compactionWorker({ db }: { db: Db }): JobHandler {
  return async ({ host_id, room_type_ids }) => {
    for (const roomTypeId of room_type_ids as number[])
      await compactRoomType(db, host_id as number, roomTypeId)
  }
}

/**
 * Stores of a room type just the rows that are in force, in one transaction: whoever reads sees no difference.
 * What is written meanwhile comes later in the order of writing, so that it lies over the compacted rows as it would
 * over the others: no write waits for a compaction. Of two compactions at once the second starts over.
 */
export async function compactRoomType(db: Db, hostId: number, roomTypeId: number): Promise<void> {
  try {
    await inTransaction(db, `availability/${hostId}/${roomTypeId}`, (session) =>
      compact(db, session, hostId, roomTypeId),
    )
  } catch (error) {
    // Of two first ones at once the other was faster.
    if (!isDuplicate(error)) throw error
  }
}

async function compact(db: Db, session: Session, host_id: number, room_type_id: number): Promise<void> {
  const count = (await findCounts(db, session, host_id, [room_type_id])).get(room_type_id)
  if (!count?.looseRows) return
  const written = await findAllWritten(db, session, host_id, room_type_id)
  const laid = layRows(written)
  const [before, after] = [new Set(written), new Set(laid)]
  const gone = written.filter((row) => !after.has(row)).map(({ _id }) => _id)
  // Both halves of a split row come with the `_id` of the whole one.
  const made = laid.filter((row) => !before.has(row)).map(({ _id, ...row }) => row)
  const { collection } = availabilityRowModel(db)
  if (gone.length > 0) await collection.deleteMany({ host_id, room_type_id, _id: { $in: gone } }, { session })
  if (made.length > 0) await collection.insertMany(made, { session, ordered: false })
  const { rows, growth } = count.written
  await saveCompacted(db, session, { host_id, room_type_id, rows, growth, in_force: laid.length })
}
