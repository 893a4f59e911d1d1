import { type Db, inTransaction, type Session } from '../infra/mongo.ts'
import { type JobHandler, leaveJob } from '../infra/outbox.ts'
import { availabilityCountModel, availabilityRowModel, type RoomTypeCount } from './model.ts'
import { layRows } from './overlay.ts'
import { findAllWritten, findCounts } from './store.ts'

/** Topic of the job that compacts some room types of a host. */
export const compactAvailabilityTopic = 'CompactAvailability'

/** A compaction reads the whole room type: it waits for this many loose rows, or this part of all. */
const fewestLooseRows = 100
const loosePart = 0.25

/** Room types of one job, so that none takes longer than its lease. */
const roomTypesPerJob = 50

/** True when a room type has grown enough since a compaction was last asked for. */
export function needsCompaction({ loose_rows, asked_at, most_rows }: RoomTypeCount): boolean {
  return loose_rows - asked_at >= Math.max(fewestLooseRows, most_rows * loosePart)
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
 * over the others. Two compactions at once change the same count, and the second starts over.
 */
export async function compactRoomType(db: Db, hostId: number, roomTypeId: number): Promise<void> {
  await inTransaction(db, `availability/${hostId}/${roomTypeId}`, async (session) => {
    const count = (await findCounts(db, session, hostId, [roomTypeId])).get(roomTypeId)
    if (!count?.loose_rows) return
    const written = await findAllWritten(db, session, hostId, roomTypeId)
    const laid = layRows(written)
    const [before, after] = [new Set(written), new Set(laid)]
    const gone = written.filter((row) => !after.has(row)).map(({ _id }) => _id)
    // Both halves of a split row come with the `_id` of the whole one.
    const made = laid.filter((row) => !before.has(row)).map(({ _id, ...row }) => row)
    const ofRoomType = { host_id: hostId, room_type_id: roomTypeId }
    if (gone.length > 0) {
      const { collection } = availabilityRowModel(db)
      await collection.deleteMany({ ...ofRoomType, _id: { $in: gone } }, { session })
      if (made.length > 0) await collection.insertMany(made, { session, ordered: false })
    }
    const counted = { most_rows: laid.length, loose_rows: 0, asked_at: 0 }
    await availabilityCountModel(db).updateOne(ofRoomType, { $set: counted }, { session })
  })
}
