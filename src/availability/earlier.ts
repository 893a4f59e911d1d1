import { type Db, inTransaction } from '../infra/mongo.ts'
import { availabilityCountModel, availabilityRowModel } from './model.ts'
import type { AvailabilityRow } from './overlay.ts'
import { findCounts } from './store.ts'

/** An earlier version kept all rows of a room type in one document. */
interface EarlierAvailability {
  host_id: number
  listing_id: number
  room_type_id: number
  rows: AvailabilityRow[]
}

const earlierCollection = 'availability'

/**
 * Carries what an earlier version stored over to one document per row, one room type in each transaction: cut short,
 * it goes on where it was at the next start. Several processes may do it at once.
 */
export async function carryOverAvailability(db: Db): Promise<void> {
  const earlier = db.collection<EarlierAvailability>(earlierCollection)
  for await (const { _id, host_id, room_type_id } of earlier.find({}, { projection: { rows: 0 } })) {
    await inTransaction(db, `availability/${host_id}/${room_type_id}`, async (session) => {
      const found = await earlier.findOneAndDelete({ host_id, _id }, { session })
      if (!found) return
      const { listing_id, rows } = found
      const documents = rows.map((row, order) => {
        return { host_id, listing_id, room_type_id, ...row, order, split_id: 0 }
      })
      if (documents.length === 0) return
      await availabilityRowModel(db).collection.insertMany(documents, { session, ordered: false })
      // A process of the earlier version may have written once more after a room type was carried over.
      const isThere = (await findCounts(db, session, host_id, [room_type_id])).size > 0
      const growth = { most_rows: rows.length, loose_rows: isThere ? rows.length : 0, asked_at: 0 }
      const sequence = Math.max(...rows.map((row) => row.sequence))
      await availabilityCountModel(db).updateOne(
        { host_id, room_type_id },
        { $inc: growth, $max: { sequence } },
        { session, upsert: true },
      )
    })
  }
}
