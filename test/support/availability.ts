import { addDays } from '../../src/core/clock.ts'
import { hostClockModel } from '../../src/host-clock/model.ts'
import {
  availabilityBlockModel,
  availabilityCompactedModel,
  availabilityWrittenModel,
  type StoredRow,
} from '../../src/inventory/availability/model.ts'
import { blocksOf } from '../../src/inventory/availability/store.ts'
import { sequenceIds } from '../../src/platform/ids/id-source.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'
import type { Actor } from './app.ts'
import { fillPortfolio } from './portfolio.ts'

const batch = 20_000
const firstDay = '2027-01-01'

/**
 * Writes one-day rows for the listings of `fillPortfolio` directly to the database, as a compaction would leave them.
 *
 * @param roomTypes pairs of listing and room type
 */
export async function fillRows(
  db: Db,
  hostId: number,
  roomTypes: { listing_id: number; room_type_id: number }[],
  days: number,
): Promise<void> {
  const { sequence } = await hostClockModel(db)
    .findOneAndUpdate({ _id: hostId }, { $inc: { sequence: 1 } }, { new: true })
    .lean()
    .orFail()
  let id = await sequenceIds(db)('availability_row', roomTypes.length * days)
  const updated_at = new Date('2026-11-20T12:00:00Z')
  let rows: StoredRow[] = []
  const flush = async () => {
    await availabilityBlockModel(db).collection.insertMany(blocksOf(hostId, rows), {
      ordered: false,
      writeConcern: { w: 1 },
    })
    rows = []
  }
  for (const pair of roomTypes) {
    for (let day = 0; day < days; day += 1) {
      const date = addDays(firstDay, day)
      const range = { available: day % 5, start_date: date, end_date: date }
      const place = { id, split_id: 0, updated_at, as_of: null, sequence, order: 0 }
      rows.push({ ...pair, ...range, ...place })
      id += 1
    }
    if (rows.length >= batch) await flush()
  }
  if (rows.length > 0) await flush()
  const written = roomTypes.map(({ room_type_id }) => {
    const last_day = addDays(firstDay, days - 1)
    return { owner_id: hostId, room_type_id, rows: days, asked_at: 0, sequence, newest_as_of: null, last_day }
  })
  const compacted = roomTypes.map(({ room_type_id }) => {
    return { owner_id: hostId, room_type_id, rows: days, in_force: days }
  })
  await availabilityWrittenModel(db).collection.insertMany(written)
  await availabilityCompactedModel(db).collection.insertMany(compacted)
}

/** Returns the stored rows, including those that are no longer in force. */
export async function storedRows(db: Db, filter: { owner_id: number; room_type_id?: number }) {
  const blocks = await availabilityBlockModel(db).find(filter).sort({ _id: 1 }).lean()
  return blocks.flatMap(({ room_type_id, rows }) => rows.map((row) => ({ ...row, room_type_id })))
}

/** Creates a host with 200 room types, each with a row for every day of two years. */
export async function largeHost(db: Db, owner: Actor, first: number) {
  await fillPortfolio(db, owner.hostId, 200, first)
  const pairs = Array.from({ length: 200 }, (_, at) => {
    return { listing_id: first + at, room_type_id: (first + at) * 10 }
  })
  await fillRows(db, owner.hostId, pairs, largeHostDays)
  return pairs
}

/** The number of rows per room type of a {@link largeHost}. */
export const largeHostDays = 730

interface Row {
  start_date: string
  end_date: string
  available: number
}
/** The value of `data.availabilities`: rows by listing, then room type. */
export type AvailabilityTree = Record<string, Record<string, Row[]>>

export const rowsOf = (tree: AvailabilityTree) =>
  Object.values(tree).flatMap((types) => Object.values(types).flat())

/**
 * Limits all nights of a partner's listings, so that `nights_open` (decisions §29) holds for none. A new sandbox has
 * listings without availability.
 */
export async function limitAllNights(actor: Actor, root: '/v1' | '/sandbox'): Promise<void> {
  const { body: listings } = await actor.send('GET', `${root}/listings?per_page=100`)
  const data: object[] = []
  for (const { id } of listings.data) {
    const { body } = await actor.send('GET', `${root}/listings/${id}`)
    for (const { id: room_type_id } of body.data.room_types)
      data.push({
        listing_id: id,
        room_type_id,
        available: 9,
        start_date: '2026-01-01',
        end_date: '2049-12-31',
      })
  }
  if (data.length === 0) return
  const { status } = await actor.send('POST', `${root}/integrations/provider_one/availability`, {
    body: { data },
  })
  if (status !== 200) throw new Error(`Availability was refused with ${status}`)
}
