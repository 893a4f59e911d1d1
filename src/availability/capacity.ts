import { type DomainError, invalidField } from '../errors.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { busy } from '../platform/mongo/errors.ts'
import { inSnapshot } from '../platform/mongo/transactions.ts'
import { compactRoomType } from './compaction.ts'
import { overlayRows, type WrittenRow } from './overlay.ts'
import type { AvailabilityItem } from './schema.ts'
import { extentOf, findCounts, findWrittenAround, type RoomTypeCount } from './store.ts'

/** Rows that one room type may have in force: daily ranges for 27 years. */
const maximumRowsInForce = 10_000

/** Rows of one room type that may wait for compaction; a write that would exceed it compacts first. */
const maximumLooseRows = 2000

/** How often to measure when other writes to a full room type keep coming in between. */
const maximumMeasurements = 20

/** How many more rows a room type will have in force, measured at a place among the host's changes. */
export interface Measured {
  growth: number
  sequence: number
}

/**
 * The count of a room type after adding rows. Each adds at most two: itself, and the second half of the row that it
 * splits. A measurement is used instead as long as nothing has been written since.
 */
export function grow(count: RoomTypeCount, added: number, measured: Measured | undefined): RoomTypeCount {
  const { written, maximumRows, looseRows } = count
  const growth = measured?.sequence === written.sequence ? measured.growth : added * 2
  return {
    written: { ...written, rows: written.rows + added, growth: written.growth + growth },
    maximumRows: maximumRows + growth,
    looseRows: looseRows + added,
  }
}

/** The count of a room type that has no rows yet. */
export function emptyCount(host_id: number, room_type_id: number): RoomTypeCount {
  const written = { host_id, room_type_id, rows: 0, growth: 0, asked_at: 0, sequence: 0 }
  return { written, maximumRows: 0, looseRows: 0 }
}

/** True when a room type may have too many rows; only a measurement tells whether it has. */
export function mayBeFull({ maximumRows, looseRows }: RoomTypeCount): boolean {
  return maximumRows > maximumRowsInForce || looseRows > maximumLooseRows
}

/**
 * Measures how much some items make a possibly full room type grow; compacts it where that makes room.
 *
 * @throws DomainError `validation` at `data`, `max`, when it would have too many rows; `conflict` when other writes
 * to it come in between again and again
 */
export async function measureGrowth(
  db: Db,
  hostId: number,
  roomTypeId: number,
  items: AvailabilityItem[],
): Promise<Measured> {
  for (let measurements = 0; measurements < maximumMeasurements; measurements += 1) {
    const { count, growth } = await measure(db, hostId, roomTypeId, items)
    const measured = { growth, sequence: count.written.sequence }
    if (!mayBeFull(grow(count, items.length, measured))) return measured
    if (count.looseRows === 0) throw tooManyRows()
    await compactRoomType(db, hostId, roomTypeId)
  }
  throw busy()
}

/** Reads only what the items touch: the rest of the room type does not change. */
function measure(db: Db, hostId: number, roomTypeId: number, items: AvailabilityItem[]) {
  return inSnapshot(db, async (session) => {
    const counts = await findCounts(db, session, hostId, [roomTypeId])
    const around = await findWrittenAround(db, session, hostId, [roomTypeId], extentOf(items))
    const written: WrittenRow[] = around.get(roomTypeId) ?? []
    const added = items.map(
      (item, order): WrittenRow => ({
        ...{ ...item, order, id: 0, split_id: 0, updated_at: new Date(0) },
        sequence: Number.MAX_SAFE_INTEGER,
      }),
    )
    const growth = overlayRows([...written, ...added]).length - overlayRows(written).length
    return { count: counts.get(roomTypeId) ?? emptyCount(hostId, roomTypeId), growth }
  })
}

function tooManyRows(): DomainError {
  return invalidField('data', `A room type must have at most ${maximumRowsInForce} ranges`, 'max')
}
