import type { AppContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { hostQueue, nextSequence } from '../host-clock/store.ts'
import { foreignListings } from '../listings/ownership.ts'
import { findOwnedListings, hasRoomType, type OwnedListings } from '../listings/room-types-store.ts'
import type { Session } from '../platform/mongo/connection.ts'
import { busy } from '../platform/mongo/errors.ts'
import { inTransaction } from '../platform/mongo/transactions.ts'
import { emptyCount, grow, type Measured, mayBeFull, measureGrowth } from './capacity.ts'
import { enqueueCompaction, needsCompaction } from './compaction.ts'
import type { RoomTypeWritten, StoredRow } from './model.ts'
import type { AvailabilityItem } from './schema.ts'
import { findCounts, insertRows, type RoomTypeCount, saveWritten } from './store.ts'

type Store = Pick<AppContext, 'db' | 'clock' | 'ids'>

/** How often to try when room types that had room when measured turn out full again. */
const maximumAttempts = 20

/**
 * Writes the items, in their order, over the availability of a host: all of them or, even after a crash, none.
 * However much is stored, the transaction only adds the items and updates the counts of their room types.
 *
 * @throws DomainError `forbidden` (listings of others), `invalid_ids`, `validation` (a room type with too many rows)
 */
export async function writeAvailability(store: Store, hostId: number, items: AvailabilityItem[]) {
  const { db, ids } = store
  const [listings, firstId] = await Promise.all([
    findOwnedListings(db, hostId, items),
    // Each item makes one row, and may split another.
    ids('availability_row', items.length * 2),
  ])
  requireOwned(items, listings)
  const byRoomType = Map.groupBy(items, ({ room_type_id }) => room_type_id)
  const measured = new Map<number, Measured>()
  for (let attempt = 0; attempt < maximumAttempts; attempt += 1) {
    const full = await inTransaction(db, hostQueue(hostId), async (session) => {
      // First, so that the later of two processes starts over before it has read or written anything.
      const sequence = await nextSequence(db, session, hostId)
      const counts = await findCounts(db, session, hostId, [...byRoomType.keys()])
      const grown = [...byRoomType].map(([id, { length }]) =>
        grow(counts.get(id) ?? emptyCount(hostId, id), length, measured.get(id)),
      )
      const full = grown.filter(mayBeFull)
      if (full.length === 0) await addRows(store, session, hostId, { items, firstId, sequence, grown })
      return full
    })
    if (full.length === 0) return
    for (const { room_type_id: id } of full.map(({ written }) => written))
      measured.set(id, await measureGrowth(db, hostId, id, byRoomType.get(id) ?? []))
  }
  throw busy()
}

/** A write that is ready: its rows take their ids from `firstId` on, two each. */
interface PreparedWrite {
  items: AvailabilityItem[]
  firstId: number
  sequence: number
  /** The counts of its room types as they will be. */
  grown: RoomTypeCount[]
}

async function addRows(
  { db, clock }: Store,
  session: Session,
  hostId: number,
  { items, firstId, sequence, grown }: PreparedWrite,
): Promise<void> {
  const updated_at = clock()
  const rows = items.map(
    ({ listing_id, room_type_id, available, start_date, end_date }, order): StoredRow => {
      const id = firstId + order * 2
      const place = { id, split_id: id + 1, updated_at, sequence, order }
      return { host_id: hostId, listing_id, room_type_id, available, start_date, end_date, ...place }
    },
  )
  await insertRows(db, session, rows)
  await saveWritten(
    db,
    session,
    grown.map((count) => atSequence(count, sequence)),
  )
  const due = grown.filter(needsCompaction).map(({ written }) => written.room_type_id)
  await enqueueCompaction(db, session, updated_at, hostId, due)
}

function atSequence(count: RoomTypeCount, sequence: number): RoomTypeWritten {
  const { written } = count
  return { ...written, sequence, asked_at: needsCompaction(count) ? written.rows : written.asked_at }
}

function requireOwned(items: AvailabilityItem[], { owned, foreign }: OwnedListings): void {
  if (foreign.length > 0) {
    throw foreignListings(
      foreign.map((id, index) => ({ path: `unauthorized_listing_ids.${index}`, message: String(id) })),
    )
  }
  const unknown = items.filter((item) => !hasRoomType(owned, item))
  if (unknown.length === 0) return
  const reason = 'Room type not found or does not belong to listing'
  const entries = unknown.map(({ listing_id, room_type_id }) =>
    JSON.stringify({ listing_id, room_type_id, reason }),
  )
  const message = `[${[...new Set(entries)].join(',')}]`
  throw new DomainError('invalid_ids', 'Invalid room types', [
    { path: 'invalid_room_types', code: 'invalid', message },
  ])
}
