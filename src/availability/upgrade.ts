import type { Db, Session } from '../platform/mongo/connection.ts'
import type { MigrationPart } from '../platform/mongo/migration.ts'
import { inTransaction } from '../platform/mongo/transactions.ts'
import { emptyCount, grow } from './capacity.ts'
import type { StoredRow } from './model.ts'
import type { AvailabilityRow } from './overlay.ts'
import { findCounts, insertRows, saveCompacted, saveWritten } from './store.ts'

/** An earlier version kept all rows of a room type in one document. */
interface EarlierAvailability {
  host_id: number
  listing_id: number
  room_type_id: number
  rows: AvailabilityRow[]
}

const earlierCollection = 'availability'

/**
 * Converts what an earlier version stored to one document per row, one room type per transaction: interrupted, it
 * continues at the next start. Several processes may do it at once.
 */
export async function upgradeAvailability(db: Db): Promise<void> {
  const earlier = db.collection<EarlierAvailability>(earlierCollection)
  for await (const { _id, host_id, room_type_id } of earlier.find({}, { projection: { rows: 0 } })) {
    await inTransaction(db, `availability/${host_id}/${room_type_id}`, async (session) => {
      const found = await earlier.findOneAndDelete({ host_id, _id }, { session })
      if (!found) return
      const { listing_id, rows } = found
      const documents = rows.map((row, order): StoredRow => {
        return { host_id, listing_id, room_type_id, ...row, order, split_id: 0 }
      })
      if (documents.length === 0) return
      await insertRows(db, session, documents)
      await countRows(db, session, documents)
    })
  }
}

/** {@link upgradeAvailability} as part of a migration. */
export const earlierAvailability: MigrationPart = {
  remaining: (db) => db.collection(earlierCollection).countDocuments(),
  run: upgradeAvailability,
}

/** A process of the earlier version may write once more after a room type was converted: such rows are loose. */
async function countRows(db: Db, session: Session, rows: StoredRow[]): Promise<void> {
  const [{ host_id, room_type_id }] = rows as [StoredRow]
  const counts = await findCounts(db, session, host_id, [room_type_id])
  const { written } = grow(counts.get(room_type_id) ?? emptyCount(host_id, room_type_id), rows.length)
  const sequence = Math.max(written.sequence, ...rows.map((row) => row.sequence))
  await saveWritten(db, session, [{ ...written, sequence }])
  if (counts.size > 0) return
  const { rows: all, growth } = written
  await saveCompacted(db, session, { host_id, room_type_id, rows: all, growth, in_force: rows.length })
}
